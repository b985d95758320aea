#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <span>
#include <vector>

namespace splitc::detail {

// One of a process's boards (splitc/world/segment.h), as it is used for one group; a plain word.
class BoardName {
 public:
  BoardName() noexcept = default;
  BoardName(std::uint32_t index, std::uint64_t generation) noexcept
      : word_(generation << 8 | index) {}
  bool is_none() const noexcept { return word_ == kNone; }
  std::uint32_t index() const noexcept { return static_cast<std::uint32_t>(word_ & 0xff); }
  std::uint64_t generation() const noexcept { return word_ >> 8; }

 private:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  std::uint64_t word_ = kNone;
};

// Which of this process's boards are free.
//
// Thread rule: any thread.
class Boards {
 public:
  struct Member {
    std::uint32_t proc;
    BoardName board;
  };

  // That of a group that is there from the start; none if there are not so many.
  static BoardName standing(std::uint32_t index) noexcept;
  // For a group that is to be made; none if all are in use.
  BoardName reserve();
  // The group has not been made, and its board has not been used.
  void give_back(BoardName board) noexcept;
  // The group of these members of this node has ended here. It is free when it has ended at all:
  // until then some may still read.
  void retire(BoardName board, std::vector<Member> others);

 private:
  struct Retired {
    BoardName board;
    std::vector<Member> others;
  };
  void free_retired();

  std::mutex mutex_;              // guards the rest among threads
  std::uint32_t in_use_ = 0b111;  // a bit each; from the start those of standing groups
  std::vector<Retired> retired_;
};

// One that is reserved, until keep().
class ReservedBoard {
 public:
  explicit ReservedBoard(Boards& boards) : boards_(boards), board_(boards.reserve()) {}
  ~ReservedBoard() {
    if (!board_.is_none()) boards_.give_back(board_);
  }
  ReservedBoard(const ReservedBoard&) = delete;
  ReservedBoard& operator=(const ReservedBoard&) = delete;

  BoardName name() const noexcept { return board_; }
  void keep() noexcept { board_ = {}; }

 private:
  Boards& boards_;
  BoardName board_;
};

// Memory of this process's segment (World::staging()) for copies of what members of its node are to
// read and this process need not keep meanwhile. A copy stays until all its readers have confirmed
// that they have read it; its writer does not wait for that.
//
// Thread rule: with Groups::lock().
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
