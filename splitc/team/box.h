#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

// What a process has of the messages of its teams (splitc/team/mail.h).

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

  Letter& letter(std::uint32_t call, std::uint32_t round);
};

}  // namespace splitc::detail
