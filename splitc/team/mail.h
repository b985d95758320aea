#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "am/core/token.h"
#include "splitc/world/place.h"

// The messages of teams. Each names its team and the number of the team's call; so it may come
// before this process has made that call, or even the team.

namespace am {
class Endpoint;
}

namespace splitc::detail {

// What a member has been told in one round of a barrier: that those who are behind the sender have
// come, and what they say.
struct Letter {
  std::uint32_t call = 0;     // number of the team's call; 0: none has come
  std::uint32_t length = 0;   // of `bytes`
  std::uint32_t arrived = 0;  // ... that are here
  bool differs = false;       // the sender knows of another call than its own
  std::uint64_t digest = 0;   // of the sender's call
  std::vector<std::byte> bytes;

  bool is_complete(std::uint32_t number) const noexcept {
    return call == number && arrived == length;
  }
  // It has been read. Keeps a little memory for the next one.
  void drop() noexcept;
};

// Where the data of a call go, that are sent once all have come: those of the member `source`, from
// `base` + begin of `source` on. The two steps of a call have one each.
struct Landing {
  std::byte* base = nullptr;
  std::size_t stride = 0;              // from one source to the next
  const std::size_t* begin = nullptr;  // instead: by source
  std::size_t arrived = 0;             // bytes
  std::size_t expected = 0;

  bool is_complete() const noexcept { return arrived == expected; }
};

// What a process has of one team.
struct TeamBox {
  // Letters by the parity of the call, and round. Two suffice: who is in call k + 2 has passed the
  // barrier of k + 1, which this process entered after it had read all letters of call k.
  std::array<std::vector<Letter>, 2> letters;
  std::array<Landing, 2>* landings = nullptr;  // of the call that is open here
  std::uint32_t open = 0;                      // its number

  Letter& letter(std::uint32_t call, std::uint32_t round) {
    std::vector<Letter>& all = letters[call % 2];
    if (round >= all.size()) [[unlikely]]
      all.resize(round + 1);
    return all[round];
  }
};

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
