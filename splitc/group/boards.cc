#include "splitc/group/boards.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "splitc/world/segment.h"
#include "splitc/world/world.h"

namespace splitc::detail {

namespace {

std::uint32_t count() noexcept { return node_boards(place.segment_bytes); }

NodeBoard& board_of(std::uint32_t proc, std::uint32_t index) noexcept {
  return world().node_board(proc, index);
}

}  // namespace

BoardName Boards::standing(std::uint32_t index) noexcept {
  return index < count() ? BoardName(index, 0) : BoardName();
}

BoardName Boards::reserve() {
  const auto lock = lock_among_threads(mutex_);
  free_retired();
  std::uint32_t index = 0;
  while (index < count() && (in_use_ >> index & 1) != 0) ++index;
  if (index >= count()) return {};
  in_use_ |= 1u << index;
  NodeBoard& board = board_of(my_proc(), index);
  // What the last group has left must not look like that of the next one. The call in which the
  // others hear of it orders these.
  for (auto& items : board.items) {
    for (NodeBoard::Item& item : items) item.number.store(0, std::memory_order_relaxed);
  }
  for (NodeBoard::CallLines& call : board.calls) {
    call.read.store(0, std::memory_order_relaxed);
    for (auto& arrived : call.arrived) arrived.store(0, std::memory_order_relaxed);
  }
  return {index, board.generation.fetch_add(1, std::memory_order_relaxed) + 1};
}

void Boards::give_back(BoardName board) noexcept {
  const auto lock = lock_among_threads(mutex_);
  board_of(my_proc(), board.index()).generation.fetch_add(1, std::memory_order_relaxed);
  in_use_ &= ~(1u << board.index());
}

void Boards::retire(BoardName board, std::vector<Member> others) {
  if (board.generation() == 0) return;  // of a standing group
  const auto lock = lock_among_threads(mutex_);
  // pairs with: free_retired(); what this process has read of the others' is read.
  board_of(my_proc(), board.index()).generation.fetch_add(1, std::memory_order_release);
  retired_.push_back({board, std::move(others)});
}

void Boards::free_retired() {
  std::erase_if(retired_, [this](const Retired& one) {
    const bool all = std::ranges::all_of(one.others, [](const Member& other) {
      // pairs with: retire()
      return board_of(other.proc, other.board.index()).generation.load(std::memory_order_acquire) !=
             other.board.generation();
    });
    if (all) in_use_ &= ~(1u << one.board.index());
    return all;
  });
}

bool Staging::is_read(const Copy& copy) noexcept {
  return std::ranges::all_of(copy.readers, [&](const Boards::Member& reader) {
    NodeBoard& board = world().node_board(reader.proc, reader.board.index());
    // pairs with: Boards::retire(), and Performer::say_read(); the memory may be written again.
    return board.generation.load(std::memory_order_acquire) != reader.board.generation() ||
           board.of(copy.item.call).read.load(std::memory_order_acquire) >= copy.item.number;
  });
}

std::span<std::byte> Staging::reserve(std::size_t bytes, const Item& item,
                                      std::vector<Boards::Member> readers) {
  const std::span<std::byte> all = world().staging();
  bytes = (bytes + 63) / 64 * 64;
  while (!copies_.empty() && is_read(copies_.front())) copies_.pop_front();
  std::size_t begin = copies_.empty() ? 0 : copies_.back().end;
  std::size_t end = all.size();  // of what is free from there on
  if (!copies_.empty()) {
    const std::size_t oldest = copies_.front().begin;
    if (begin <= oldest) {
      end = oldest;
    } else if (bytes > end - begin) {
      begin = 0;
      end = oldest;
    }
  }
  if (bytes > end - begin) return {};
  copies_.push_back({begin, begin + bytes, item, std::move(readers)});
  return all.subspan(begin, bytes);
}

void Staging::forget(std::uint64_t group, std::uint32_t before) noexcept {
  for (Copy& copy : copies_) {
    const bool is_old = static_cast<std::int32_t>(copy.item.call - before) < 0;
    if (copy.item.group == group && is_old) copy.readers.clear();
  }
}

}  // namespace splitc::detail
