#include "tests/soak/schedule.h"

#include <sched.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "am/am.h"
#include "am/collective/barrier.h"
#include "splitc/splitc.h"

namespace soak {

Doing doing;

namespace {

constexpr std::uint32_t kFruitless = 64;  // attempts in a row, after which others get the processor

void nap(std::uint64_t microseconds) {
  const timespec time{.tv_sec = static_cast<time_t>(microseconds / 1'000'000),
                      .tv_nsec = static_cast<long>(microseconds % 1'000'000 * 1000)};
  nanosleep(&time, nullptr);
}

// Keeps the processor busy without entering the library.
void compute(std::uint64_t microseconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(microseconds);
  while (std::chrono::steady_clock::now() < end) {
  }
}

}  // namespace

Schedule::Schedule(const Round& round)
    : round_(round), random_(round.for_me("schedule")), drowsiness_(0) {
  if (!round.settings().pauses) return;
  static constexpr std::uint32_t kDrowsiness[] = {0, 2, 10, 10, 40, 200};
  drowsiness_ = kDrowsiness[random_.below(std::size(kDrowsiness))];
  slept_ = !random_.one_in(6);
}

// Draws an order that keeps that of each family.
void Schedule::mix_together() {
  Random random = round_.for_all("schedule");
  std::map<std::string_view, std::deque<Together>> of;
  std::vector<std::string_view> order;
  for (Together& call : together_) {
    order.push_back(call.family);
    of[call.family].push_back(std::move(call));
  }
  random.shuffle(order);
  together_.clear();
  for (const std::string_view family : order) {
    together_.push_back(std::move(of[family].front()));
    of[family].pop_front();
  }
}

void Schedule::poll() {
  splitc::poll();
  for (am::Bundle* const bundle : bundles_) bundle->poll();
}

bool Schedule::try_step() {
  const std::size_t i = random_.below(steps_.size());
  Step& step = steps_[i];
  doing.family = step.family;
  doing.id = step.id;
  if (!step.attempt()) return false;
  if (i + 1 != steps_.size()) step = std::move(steps_.back());
  steps_.pop_back();
  return true;
}

bool Schedule::try_together() {
  Together& next = together_.front();
  if (next.ready && !next.ready()) return false;
  doing.family = next.family;
  doing.id = together_.size();
  next.call();
  together_.pop_front();
  return true;
}

// So that both kinds last about equally long. One that is not ready() yet waits for steps, so a
// step must always be possible.
bool Schedule::collective_next() {
  if (together_.empty() || steps_.empty()) return steps_.empty();
  return random_.one_in(std::max<std::uint64_t>(steps_.size() / together_.size(), 1) + 1);
}

// Something between two steps: mostly nothing, now and then what keeps others waiting.
void Schedule::idle() {
  if (random_.one_in(4)) poll();
  if (random_.below(1000u) >= drowsiness_) return;
  switch (random_.below(5)) {
    case 0: return compute(random_.below(std::uint64_t{300}));
    case 1: return nap(random_.below(std::uint64_t{200}));
    case 2: return nap(random_.below(std::uint64_t{3000}));
    case 3:
      splitc::world().bundle().wait(
          am::Events::kNotEmpty, static_cast<std::int64_t>(random_.below(std::uint64_t{500'000})));
      return;
    default:
      for (std::uint64_t n = random_.below(std::uint64_t{50}); n > 0; --n) poll();
  }
}

void Schedule::run(const std::function<bool()>& arrived) {
  mix_together();
  doing.phase = "steps";
  while (!steps_.empty() || !together_.empty()) {
    doing.left = steps_.size() + together_.size();
    const bool done = collective_next() ? try_together() : !steps_.empty() && try_step();
    doing.done += done;
    in_vain_ = done ? 0 : in_vain_ + 1;
    if (!done) poll();
    if (in_vain_ >= kFruitless) sched_yield();
    idle();
    if (!slept_ && random_.one_in(steps_.size() + 1)) {
      slept_ = true;
      nap(random_.below(std::uint64_t{60'000}));
    }
  }
  await(arrived);
}

void Schedule::await(const std::function<bool()>& arrived) {
  doing.phase = "waiting for what others send";
  doing.left = 0;
  if (bundles_.empty()) return splitc::world().bundle().wait_until(arrived);
  const auto poll_until = [this](auto&& condition) {
    while (!condition()) {
      poll();
      if (++in_vain_ >= kFruitless) sched_yield();
    }
  };
  poll_until(arrived);
  doing.phase = "waiting for all others, who may need a bundle that no barrier polls";
  am::Barrier& barrier = splitc::world().job().barrier();
  barrier.enter();
  poll_until([&] { return barrier.passed(); });
}

}  // namespace soak
