#include <atomic>
#include <string>

#include "am/route/router.h"
#include "am/types/forked.h"
#include "am/types/local_memory.h"
#include "splitc/world/heap.h"
#include "splitc/world/place.h"
#include "splitc/world/remote.h"
#include "splitc/world/world.h"

// What is wrong with an address, in a sentence.

namespace splitc::detail {
namespace {

std::uint64_t runtime_bytes() noexcept {
  return World::runtime_bytes(place.segment_bytes, world().storers());
}

constexpr const char* kUse =
    "; use addresses that all_spread_malloc, local_malloc or a spread array gave";

std::string describe(std::uint32_t proc, std::uint64_t offset) {
  return "offset " + std::to_string(offset) + " of process " + std::to_string(proc);
}

std::string describe(std::uint32_t proc, std::uint64_t offset, std::uint64_t bytes) {
  return std::to_string(bytes) + (bytes == 1 ? " byte at " : " bytes at ") + describe(proc, offset);
}

std::string no_process(std::uint32_t proc) {
  const std::string number =
      proc == kNoProc ? "with a negative number or one of 2^32 and above" : std::to_string(proc);
  return "there is no process " + number + ": the job has " + std::to_string(procs()) + ", 0 to " +
         std::to_string(procs() - 1);
}

// Where the local side of the heap of `proc` begins.
std::uint64_t edge_of(std::uint32_t proc) {
  World& w = world();
  if (!is_far(proc)) return w.edge(proc).load(std::memory_order_relaxed);
  return far_word_of_library(proc, w.edge_offset(), "check");
}

std::uint64_t ledger_entry(std::uint32_t proc, std::uint64_t index) {
  const std::uint64_t offset = place.segment_bytes + index * sizeof(std::uint64_t);
  if (is_far(proc)) return far_word_of_library(proc, offset, "check");
  auto& entry = *reinterpret_cast<std::uint64_t*>(mapped(proc, 0) + offset);
  return std::atomic_ref(entry).load(std::memory_order_relaxed);
}

// The block of `proc` that lies around `offset`, as far as this process knows without asking.
auto known_block(std::uint32_t proc, std::uint64_t offset) {
  const Heap& heap = world().heap();
  return proc == my_proc() ? heap.block_of(offset) : heap.spread_block_of(offset);
}

// What is wrong with a range inside the heap of `proc`; "" if nothing is.
std::string fault_in_heap(std::uint32_t proc, std::uint64_t offset, std::uint64_t bytes) {
  auto block = known_block(proc, offset);
  if (!block && proc != my_proc()) {
    // A handler, which may not ask another node, believes it.
    if (is_far(proc) && am::Bundle::handling()) return "";
    if (Ledger::bytes(place.segment_bytes) == 0) {
      if (offset >= edge_of(proc)) return "";
    } else {
      block = Ledger::find(offset, [proc](std::uint64_t i) { return ledger_entry(proc, i); });
    }
  }
  if (!block) return std::string("are freed, or were never allocated") + kUse;
  return overrun(*block, offset, bytes);
}

}  // namespace

void refuse(Call call, const std::string& what) {
  // Outside run() the rank is not known.
  if (place.bases == nullptr) throw Error(am::refusal_text(call, what));
  throw Error(am::refusal_text(my_proc(), call, what));
}

std::string overrun(HeapSide::Block block, std::uint64_t offset, std::uint64_t bytes) {
  if (offset + bytes <= block.at + block.bytes) return "";
  return "run over the end of the block of " + std::to_string(block.bytes) +
         " bytes that begins at offset " + std::to_string(block.at) + "; stay inside it";
}

void refuse_range(std::uint32_t proc, std::uint64_t offset, std::uint64_t bytes,
                  const std::string& fault, Call call) {
  refuse(call, describe(proc, offset, bytes) + " " + fault);
}

void refuse_product(std::uint64_t a, const char* units, std::uint64_t b, const char* parts,
                    Call call) {
  refuse(call, std::to_string(a) + " " + units + " of " + std::to_string(b) + " " + parts +
                   " are more than any memory holds; check how the numbers were computed");
}

void refuse_address(std::uint64_t proc, std::uint64_t offset) {
  refuse("global_ptr", "offset " + std::to_string(offset) + " of process " + std::to_string(proc) +
                           " is outside the global address space, which has 2^24 processes and "
                           "2^40 bytes of each; check the arithmetic that led there");
}

void refuse_step(std::uint64_t bits, std::int64_t n, std::uint64_t bytes) {
  refuse("global_ptr",
         std::to_string(n) + " elements of " + std::to_string(bytes) + " bytes from " +
             (proc_of(bits) == kNoProc ? std::string("the null pointer")
                                       : describe(proc_of(bits), bits & kOffsetMask)) +
             " is outside the 2^40 bytes that a process has; check the index");
}

void refuse_process(std::uint32_t proc, Call call) {
  refuse(call, (proc == kNoProc ? "the pointer is null (or process -1 is meant, which there is not)"
                                : no_process(proc)) +
                   kUse);
}

void check_range(std::uint32_t proc, std::uint64_t offset, std::uint64_t bytes, Call call) {
  if (bytes == 0) return;
  if (place.bases == nullptr) world();  // throws: nothing is running
  if (am::is_forked()) refuse(call, am::fork_sentence());
  check_process(proc, call);
  const std::uint64_t size = place.segment_bytes;
  if (offset >= size || bytes > size - offset) {
    refuse(call, describe(proc, offset, bytes) + " are outside its segment, which has " +
                     std::to_string(size) + " bytes" + kUse);
  }
  if (offset < runtime_bytes()) {
    refuse(call, describe(proc, offset, bytes) + " are the library's own memory, the first " +
                     std::to_string(runtime_bytes()) + " of the segment" + kUse);
  }
  const std::string fault = fault_in_heap(proc, offset, bytes);
  if (!fault.empty()) refuse_range(proc, offset, bytes, fault, call);
}

void check_pointer(std::uint32_t proc, std::uint64_t offset, std::uint64_t bytes, Call call) {
  if (place.bases != nullptr && proc < procs()) {
    const auto block = known_block(proc, offset);
    if (block && block->at == offset && block->bytes == 0) return;
  }
  check_range(proc, offset, bytes, call);
}

void check_object(std::uint32_t proc, std::uint64_t offset, std::uint64_t bytes,
                  std::uint64_t alignment, Call call) {
  if (offset % alignment != 0) refuse_misaligned(proc, offset, bytes, alignment, call);
  check_range(proc, offset, bytes, call);
}

void refuse_misaligned(std::uint32_t proc, std::uint64_t offset, std::uint64_t bytes,
                       std::uint64_t alignment, Call call) {
  check_process(proc, call);
  refuse(call, describe(proc, offset, bytes) +
                   " are misaligned: an object of its type begins at a multiple of " +
                   std::to_string(alignment) + "; allocate it with its own type");
}

std::uint64_t offset_of(const void* local, std::uint32_t proc, Call call) {
  if (proc >= procs()) refuse(call, no_process(proc));
  const am::Router& router = world().router();
  const std::uint64_t offset = router.segment_offset(local);
  if (offset < place.segment_bytes) return offset;
  refuse(call, am::address_text(local) +
                   " is not in this process's segment, and only that has global "
                   "addresses; allocate with local_malloc, all_spread_malloc or "
                   "a spread array, or write SPLITC_GLOBAL before a variable outside functions");
}

void refuse_proc(std::uint32_t proc, Call call) { refuse(call, no_process(proc)); }

void refuse_far(std::uint32_t proc, Call call) {
  check_process(proc, call);
  refuse(call, "process " + std::to_string(proc) +
                   " is on another node, so its memory has no address here; read and write it "
                   "through the global pointer");
}

}  // namespace splitc::detail
