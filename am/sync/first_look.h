#pragma once

#include <cstddef>
#include <cstdint>

namespace am {

// How many pauses (Backoff::pause) a process leaves the cache lines alone that it has written,
// before it looks for the answer there.
//
// On Intel's processors a look takes the line away from the other side before that has written it:
// a short request and reply took 190 to 210 ns with looks from the first moment on, 135 with two
// pauses before the first (Sapphire Rapids, where a pause is 45 ns). Where it is 13 ns (Emerald
// Rapids), 140 to 195 without a pause, 129 to 153 with one, 136 to 159 with two, and 198 to 235
// with 90 ns: it is the number that helps, not the time. On AMD's such a delay only waits longer:
// 104 ns without it and 134 with it (a pause is 33 ns there), 98 to 105 and 150 to 160 on Zen 3, 78
// and 99 on Zen 5. But one pause keeps the second look from coming just when the other side has the
// line and is about to write: 107 to 111 ns instead of 120 to 139, and up to 190, and floods of
// pairs 22 instead of 28 (the median).
//
// Behind a payload, whose lines follow one another, a time helps on both: 4 KiB there and back took
// 279 ns without it and 223 with it, between distant cores 500 and 400 (AMD), 480 to 650 and 258 to
// 290 (Emerald Rapids). Others: as Intel's, unmeasured.
struct FirstLook {
  std::uint32_t after_short;
  std::uint32_t after_payload;  // of a medium message, or a long one of at least kPayload bytes
  static constexpr std::size_t kPayload = 1024;
};

// Of this machine. The first call measures what a pause takes, some 10 us. Any thread.
const FirstLook& first_look() noexcept;

}  // namespace am
