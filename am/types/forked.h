#pragma once

#include <string>

#include "am/types/types.h"

// A child that a process of a job forks shares its connections and has a copy of its state, so each
// call that it made would be one of its parent's. It has no part in the job: calls are refused
// there, and its end and that of its objects notify no other process.
//
// It costs the parent nothing. When a process forks, each room spoils, in the child, what its usual
// way begins with, so that calls come to where they are refused. (A child of clone() or vfork(),
// which run none of this, is for exec().)

namespace am {

namespace detail {
inline constinit bool forked = false;
}

// Whether this process is such a child.
inline bool is_forked() noexcept { return detail::forked; }

// Children that are forked from here on are such, for as long as this lives. One per process.
class ForkWatch {
 public:
  explicit ForkWatch(Rank rank);
  ~ForkWatch();
  ForkWatch(const ForkWatch&) = delete;
  ForkWatch& operator=(const ForkWatch&) = delete;
};

// Calls `spoil` in children that are such, from the first of these calls to the end of the process.
// In the order in which they were made; no other thread runs.
void spoil_in_children(void (*spoil)() noexcept);

// Why calls are refused in this process, which is such a child.
std::string fork_sentence();
// Throws an Error of `call` with fork_sentence() in such a child.
[[noreturn]] void refuse_forked(Call call);
inline void check_not_forked(Call call) {
  if (is_forked()) [[unlikely]]
    refuse_forked(call);
}

// In such a child: says on standard error that `call` is refused, and why, and ends the process,
// where an exception would go nowhere. A handler that returns in a child is one: what called it
// goes on with the parent's connections.
[[noreturn]] void end_forked(const char* call) noexcept;

}  // namespace am
