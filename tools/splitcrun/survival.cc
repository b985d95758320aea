#include "tools/splitcrun/survival.h"

#include "am/job/config/exit_request.h"
#include "tools/splitcrun/options.h"
#include "tools/splitcrun/verdict.h"

namespace am::launcher {
namespace {

std::string going_on_text(std::uint32_t others) {
  if (others == 0) return "";
  if (others == 1) return "; the other process goes on";
  return "; the other " + std::to_string(others) + " processes go on";
}

}  // namespace

std::optional<std::string> Survival::take(const Ended& end, const Children& children) {
  if (is_asked_for(end, control_)) return std::nullopt;
  give_back_abort(end.rank);
  if (!notices_.has_finished(end.rank) || !notices_.nobody_needs(end.rank)) {
    if (!notices_.can_go_on()) return std::nullopt;
    return take_death(end, children);
  }
  if (note_leaver(end.rank, children, control_)) return std::nullopt;  // who begin another job
  if (end.status == 0) {
    ++ended_well_;
    return "";
  }
  const Verdict verdict = describe_end(end, limits_);
  if (failure_ == 0) failure_ = verdict.exit_code;
  crashed_ |= verdict.crashed;
  return verdict.sentence + ", after it had finished the job";
}

// It has not said why it wanted to end the job: others may.
void Survival::give_back_abort(Rank rank) noexcept {
  std::uint32_t claim = rank + 1;
  if (control_.abort_claimed.compare_exchange_strong(claim, 0, std::memory_order_relaxed)) {
    futex_wake_all(control_.abort_claimed);
  }
}

std::string Survival::take_death(const Ended& end, const Children& children) {
  const Verdict verdict = describe_end(end, limits_);
  notices_.post(end.rank);
  // Exit code 0 says that all is well, which it is not.
  if (died_++ == 0) first_death_ = verdict.exit_code != 0 ? verdict.exit_code : 1;
  crashed_ |= verdict.crashed;
  return verdict.sentence + (verdict.exit_code == 0 ? " before it had finished the job" : "") +
         going_on_text(children.running());
}

int Survival::exit_code() const noexcept {
  if (failure_ != 0) return failure_;
  if (died_ == 0) return 0;
  return ended_well_ != 0 ? kExitSurvived : first_death_;
}

}  // namespace am::launcher
