#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "splitc/group/boards.h"

namespace splitc::detail {

// Memory of this process's segment (World::staging()) for copies of what members of its node are to
// read and this process need not keep meanwhile. A copy stays until all its readers have said that
// they have read it; who makes it does not wait for that.
//
// Thread rule: the world's thread.
class Staging {
 public:
  // Which call of a group, and what its readers write on their boards when they have read it.
  struct Item {
    std::uint64_t group;
    std::uint32_t call;
    std::uint64_t number;
  };
  // Memory for a copy; empty if there is no room for it just now.
  std::span<std::byte> reserve(std::size_t bytes, const Item& item,
                               std::vector<Boards::Member> readers);
  // All members of the group have come to that call; but some may have left those before it by an
  // error, without having read.
  void forget(std::uint64_t group, std::uint32_t before) noexcept;

 private:
  struct Copy {
    std::size_t begin, end;  // in all of it
    Item item;
    std::vector<Boards::Member> readers;
  };
  static bool is_read(const Copy& copy) noexcept;

  std::deque<Copy> copies_;  // the oldest first, around a ring
};

}  // namespace splitc::detail
