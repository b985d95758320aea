#include "am/job/launcher/survival.h"

#include <utility>

#include "am/job/launcher/options.h"
#include "am/job/launcher/verdict.h"

namespace am::launcher {
namespace {

std::string going_on_text(std::uint32_t others) {
  if (others == 0) return "";
  if (others == 1) return "; the other process goes on";
  return "; the other " + std::to_string(others) + " processes go on";
}

}  // namespace

bool Survival::takes(const Ended& end, const Children& children) {
  if (!notices_.started() || is_asked_for(end, control_)) return false;
  // pairs with: BootstrapLaunch::finished
  const RankState state = control_rank(control_, end.rank).state.load(std::memory_order_acquire);
  if (state != RankState::kFinished) {
    note_death(end, children);
  } else if (end.status == 0) {
    ++ended_well_;
  } else {
    const Verdict verdict = describe_end(end);
    if (failure_ == 0) failure_ = verdict.exit_code;
    crashed_ |= verdict.crashed;
    sentence_ = verdict.sentence + ", after it had finished the job";
  }
  return true;
}

void Survival::note_death(const Ended& end, const Children& children) {
  const Verdict verdict = describe_end(end);
  notices_.post(end.rank);
  // Exit code 0 says that all is well, which it is not.
  if (died_++ == 0) first_death_ = verdict.exit_code != 0 ? verdict.exit_code : 1;
  crashed_ |= verdict.crashed;
  sentence_ = verdict.sentence + (verdict.exit_code == 0 ? " before it had finished the job" : "") +
              going_on_text(children.running());
}

std::string Survival::take_sentence() { return std::exchange(sentence_, ""); }

int Survival::exit_code() const noexcept {
  if (failure_ != 0) return failure_;
  if (died_ == 0) return 0;
  return ended_well_ != 0 ? kExitSurvived : first_death_;
}

}  // namespace am::launcher
