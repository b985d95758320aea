#include <cinttypes>
#include <cstdio>
#include <string>

#include "am/route/router.h"
#include "am/types/forked.h"
#include "splitc/world/heap.h"
#include "splitc/world/place.h"
#include "splitc/world/remote.h"
#include "splitc/world/world.h"

// What is wrong with an address, in a sentence.

namespace splitc::detail {
namespace {

std::uint64_t runtime_bytes() noexcept {
  return World::runtime_bytes(place.segment_bytes, world().near(), procs());
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

// The block of `proc` that begins at or before `offset`, as far as this process knows.
auto block_before(std::uint32_t proc, std::uint64_t offset) {
  const Heap& heap = world().heap();
  return proc == my_proc() ? heap.block_of(offset) : heap.spread_block_of(offset);
}

// Where the local side of the heap of `proc` begins.
std::uint64_t edge_of(std::uint32_t proc) {
  World& w = world();
  if (!is_far(proc)) return w.edge(proc).load(std::memory_order_relaxed);
  std::uint64_t edge = 0;
  far_read(&edge, bits_of(proc, w.edge_offset()), sizeof edge, "check");
  return edge;
}

// What is wrong with a range inside the heap of `proc`; "" if nothing is.
std::string fault_in_heap(std::uint32_t proc, std::uint64_t offset, std::uint64_t bytes) {
  const auto block = block_before(proc, offset);
  if (block) {
    if (offset + bytes <= block->at + block->bytes) return "";
    return "run over the end of the block of " + std::to_string(block->bytes) +
           " bytes that begins at offset " + std::to_string(block->at) + "; stay inside it";
  }
  // Only its owner knows the blocks of local memory, but all can see where that begins; a handler,
  // which may not ask another node, believes it.
  if (proc != my_proc()) {
    if (is_far(proc) && world().bundle().handling()) return "";
    if (offset >= edge_of(proc)) return "";
  }
  return std::string("are freed, or were never allocated") + kUse;
}

}  // namespace

void refuse(Call call, const std::string& what) {
  std::string text = "rank " + std::to_string(my_proc()) + ": " + call.name + ": " + what;
  if (call.where.line() != 0) {
    text += std::string(" (at ") + call.where.file_name() + ":" +
            std::to_string(call.where.line()) + ")";
  }
  throw Error(text);
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
  refuse("global_ptr", std::to_string(n) + " elements of " + std::to_string(bytes) +
                           " bytes from " + describe(proc_of(bits), bits & kOffsetMask) +
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
  if (!fault.empty()) refuse(call, describe(proc, offset, bytes) + " " + fault);
}

void check_pointer(std::uint32_t proc, std::uint64_t offset, std::uint64_t bytes, Call call) {
  if (place.bases != nullptr && proc < procs()) {
    const auto block = block_before(proc, offset);
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
  refuse(call, describe(proc, offset, bytes) +
                   " are misaligned: an object of its type begins at a "
                   "multiple of " +
                   std::to_string(alignment) + "; allocate it with its own type");
}

std::uint64_t offset_of(const void* local, std::uint32_t proc, Call call) {
  if (proc >= procs()) refuse(call, no_process(proc));
  const am::Router& router = world().router();
  const std::uint64_t offset = router.segment_offset(local);
  if (offset < router.segment_bytes()) return offset;
  char address[24];
  std::snprintf(address, sizeof address, "0x%" PRIxPTR, reinterpret_cast<std::uintptr_t>(local));
  refuse(call, std::string(address) +
                   " is not in this process's segment, and only that has global "
                   "addresses; allocate with local_malloc, all_spread_malloc or "
                   "a spread array");
}

void refuse_proc(std::uint32_t proc, Call call) { refuse(call, no_process(proc)); }

void refuse_far(std::uint32_t proc, Call call) {
  check_process(proc, call);
  refuse(call, "process " + std::to_string(proc) +
                   " is on another node, so its memory has no address here; read and write it "
                   "through the global pointer");
}

}  // namespace splitc::detail
