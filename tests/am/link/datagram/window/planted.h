#pragma once

#include <cstdint>

namespace am::link::window {

// Errors that plant.py plants into a copy of the window, to show that the simulation finds them.
// One at a time is switched on.
enum class Bug : std::uint8_t {
  kNone,
  kAckOneTooMany,        // the number after the acknowledged ones counts as acknowledged, too
  kDuplicateDelivered,   // a datagram that has come before is delivered again
  kTimeoutNotRestarted,  // the timeout for an answer runs once, and never again
  kEarlyForgotten,       // what has come early is acknowledged, and not kept
  kOldIncarnation,       // datagrams of an earlier incarnation are taken
  kRepeatedInNetwork,    // a datagram is sent again while the network still reads it
  kSelectiveShifted,     // a selective acknowledgement counts from one number later
  kWindowIgnored,        // more is sent than the receiver has room for
  kNeverDead,            // nobody is given up
};

inline Bug planted_bug = Bug::kNone;
inline bool planted(Bug bug) noexcept { return bug == planted_bug; }

}  // namespace am::link::window
