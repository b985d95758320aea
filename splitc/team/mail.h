#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "am/core/token.h"
#include "splitc/team/box.h"

// The messages of teams. Each names its team and the number of the team's call; so it may come
// before this process has made that call, or even the team.

namespace am {
class Endpoint;
}

namespace splitc::detail {

// Sends and receives them. Thread rule: the world's thread.
class TeamMail {
 public:
  explicit TeamMail(am::Endpoint& endpoint);
  TeamMail(const TeamMail&) = delete;
  TeamMail& operator=(const TeamMail&) = delete;

  // That of a team; it stays where it is until end_box().
  TeamBox& box(std::uint64_t team);
  void end_box(std::uint64_t team) noexcept;
  std::size_t boxes() const noexcept { return boxes_.size(); }
  std::uint64_t arrivals() const noexcept { return arrivals_; }  // messages so far

  // The head of a letter: 24 bytes, which fit the cache line of a short message.
  struct Head {
    std::uint64_t team;
    std::uint64_t digest;  // above 16 bits: round, and whether the sender knows of a difference
    std::uint32_t call;
    std::uint32_t length;
  };
  static constexpr std::uint64_t kDigest = ~std::uint64_t{0xffff};
  static constexpr std::uint64_t kDiffers = 256;

  // Sends `bytes` from `done` on, which it advances, without waiting. True: all has been sent.
  bool try_send(std::uint32_t proc, const Head& head, std::span<const std::byte> bytes,
                std::size_t& done);
  // The head of data.
  struct Piece {
    std::uint64_t team;
    std::uint64_t at;
    std::uint32_t call_and_step;  // 2 * call + step
    std::uint32_t source;         // rank of the team
  };
  bool try_send(std::uint32_t proc, const Piece& piece, std::span<const std::byte> bytes);

 private:
  static constexpr std::size_t kShort = 40;  // bytes of a letter that fit a short message
  struct Short {
    std::array<std::byte, kShort> bytes;
  };

  void on_empty(am::OneWay, Head head);
  void on_short(am::OneWay, Head head, Short bytes);
  void on_long(am::OneWay, std::span<const std::byte> bytes, Head head, std::uint32_t at);
  void on_data(am::OneWay message, std::span<const std::byte> bytes, Piece piece);
  Letter& letter_of(const Head& head);

  am::Endpoint& endpoint_;
  std::uint64_t arrivals_ = 0;
  std::unordered_map<std::uint64_t, TeamBox> boxes_;
  std::uint64_t latest_ = ~std::uint64_t{0};  // team of ...
  TeamBox* latest_box_ = nullptr;             // nullptr: none
};

}  // namespace splitc::detail
