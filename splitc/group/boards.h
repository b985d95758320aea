#pragma once

#include <cstdint>
#include <utility>
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
// Thread rule: the world's thread.
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
  // It has not been made, and nobody has used it.
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

}  // namespace splitc::detail
