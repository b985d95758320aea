#include "splitc/group/staging.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "splitc/world/segment.h"
#include "splitc/world/world.h"

namespace splitc::detail {

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
