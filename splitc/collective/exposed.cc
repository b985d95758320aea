#include "splitc/collective/exposed.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

#include "am/route/router.h"
#include "am/types/types.h"
#include "splitc/world/remote.h"
#include "splitc/world/world.h"

namespace splitc::detail {
namespace {

std::uint64_t address_of(const void* memory) noexcept {
  return reinterpret_cast<std::uintptr_t>(memory);
}

}  // namespace

Exposed::Exposed(Call call, std::uint64_t bytes, std::uint64_t kind,
                 std::span<const std::byte> first, std::span<const std::byte> second,
                 std::span<const std::byte> beside)
    : call_(call),
      bytes_(bytes),
      kind_(kind),
      all_(procs()),
      beside_(procs() * beside.size()),
      started_(call) {
  Round round(call, bytes, kind, step_++);
  Ranges mine{.both = {}, .process = am::Neighbour::self(), .readable = 0};
  const bool exposed = expose(first, mine.both[kFirst]) && expose(second, mine.both[kSecond]);
  mine.readable = exposed ? 1 : 0;
  std::byte* const board = round.mine(sizeof mine + beside.size());
  std::memcpy(board, &mine, sizeof mine);
  std::ranges::copy(beside, board + sizeof mine);
  round.gather(sizeof mine + beside.size());
  for (std::uint32_t proc = 0; proc < procs(); ++proc) {
    const std::byte* const theirs = round.of(proc);
    std::memcpy(&all_[proc], theirs, sizeof mine);
    std::copy_n(theirs + sizeof mine, beside.size(),
                beside_.begin() + static_cast<std::ptrdiff_t>(proc * beside.size()));
    works_ = works_ && all_[proc].readable != 0;
  }
  std::optional<bool>& known = world().crosses();
  if (!known) known = crosses();
  const bool all_in_segments = std::ranges::all_of(all_, [](const Ranges& one) {
    return one.both[kFirst].in_segment != 0 && one.both[kSecond].in_segment != 0;
  });
  works_ = works_ && (*known || all_in_segments);
}

// Whether processes of other nodes can read it.
bool Exposed::expose(std::span<const std::byte> memory, Range& range) {
  World& w = world();
  range.offset = w.router().segment_offset(memory.data());
  range.address = address_of(memory.data());
  range.in_segment = memory.empty() || is_in_segment(range.offset, memory.size());
  if (range.in_segment != 0 || !has_far_peers()) return true;
  if (!w.remote().can_expose()) return false;
  try {
    registrations_.push_back(w.remote().expose(memory));
  } catch (const am::Error&) {
    return false;  // more than may be pinned
  }
  range.key = registrations_.back()->key();
  return true;
}

// Collective: tries whether the kernel lets every process read the memory of its neighbours.
bool Exposed::crosses() {
  bool mine = world().router().options().cross_memory;
  for (std::uint32_t proc = 0; mine && proc < procs(); ++proc) {
    mine = is_far(proc) || all_[proc].process.is_readable();
  }
  Round round(call_, bytes_, kind_, step_++);
  *round.mine(1) = std::byte{mine};
  round.gather(1);
  for (std::uint32_t proc = 0; proc < procs(); ++proc) {
    if (*round.of(proc) == std::byte{0}) return false;
  }
  return true;
}

void Exposed::read(std::uint32_t proc, Which which, std::uint64_t at, std::span<std::byte> to) {
  if (to.empty()) return;
  const Range& range = all_[proc].both[which];
  if (is_far(proc)) {
    started_.add(range.in_segment != 0
                     ? far_get(to.data(), bits_of(proc, range.offset + at), to.size(), call_)
                     : far_get(to.data(), proc, range.key + at, to.size(), call_));
  } else if (range.in_segment != 0) {
    std::memcpy(to.data(), mapped(proc, range.offset + at), to.size());
  } else if (proc == my_proc()) {
    std::memcpy(to.data(), reinterpret_cast<const std::byte*>(range.address) + at, to.size());
  } else {
    read_neighbour(proc, range.address + at, to);
  }
}

void Exposed::read_neighbour(std::uint32_t proc, std::uint64_t address, std::span<std::byte> to) {
  try {
    all_[proc].process.read(to.data(), address, to.size());
  } catch (const am::Error& error) {
    world().router().need_all(call_.name);  // it may have died
    refuse(call_, "the memory of rank " + std::to_string(proc) + " cannot be read (" +
                      error.what() +
                      "); pass memory that the kernel copies, such as that of the heap");
  }
}

void Exposed::meet() {
  wait();
  Round(call_, bytes_, kind_, step_++).meet();
}

}  // namespace splitc::detail
