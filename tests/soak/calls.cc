// Functions that run where their object is: atomic, atomic_get, atomic_put.

#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "splitc/splitc.h"
#include "tests/soak/families.h"

namespace soak {
namespace calls {

constexpr std::string_view kName = "calls";
constexpr std::uint32_t kMost = 4096;  // calls on one object in one round

struct Log {
  std::uint32_t count;
  bool busy;  // no two calls overlap
  std::uint64_t entries[kMost];
};
struct Receipt {
  std::uint32_t place;
  std::uint64_t entry;
  std::array<std::uint64_t, 3> arguments;
};
struct Five {
  std::array<std::uint64_t, 5> numbers;
};

std::uint32_t append(Log& log, std::uint64_t entry) {
  if (log.busy || log.count == kMost) return kMost;
  log.busy = true;
  log.entries[log.count] = entry;
  log.busy = false;
  return log.count++;
}
Receipt append_checked(Log& log, std::uint64_t entry, Five more) {
  const std::uint32_t place = append(log, entry);
  return {place, entry, {more.numbers[0], more.numbers[2], more.numbers[4]}};
}
void append_silently(Log& log, std::uint64_t entry) noexcept { append(log, entry); }

// A call that is not known to be complete.
struct Call {
  splitc::handle handle;
  std::uint64_t id = 0;
  std::uint32_t proc = 0;
  bool checked = false;
  std::uint32_t place = kMost;
  Receipt receipt{};
};

class Calls : public Family {
 public:
  explicit Calls(const Settings&) : logs_(splitc::procs()) {}

  void plan(const Round& round, Schedule& schedule) override;
  void conclude(const Round& round) override;
  void verify(const Round& round) override;

 private:
  Five numbers(std::uint64_t id) const {
    Five five;
    for (std::uint64_t i = 0; i < five.numbers.size(); ++i) five.numbers[i] = hash(id, i);
    return five;
  }
  std::uint64_t entry(std::uint64_t id) const { return round_->key(kName, id); }
  void start(std::uint64_t id, std::uint32_t proc, std::uint32_t how);
  void note(std::uint64_t id, std::uint32_t proc, std::uint32_t place);
  void note(const Call& call);

  const Round* round_ = nullptr;
  splitc::spread_array<Log> logs_;
  std::deque<Call> calls_;                 // whose results come later
  std::vector<std::vector<bool>> known_;   // by process, by id: a call on its log
  std::vector<std::vector<bool>> places_;  // by process: those that own calls have got
};

// No two own calls have got the same place.
void Calls::note(std::uint64_t id, std::uint32_t proc, std::uint32_t place) {
  if (place >= kMost || places_[proc][place]) {
    round_->fail(
        kName, id,
        "place " + std::to_string(place) + " in the log of process " + std::to_string(proc));
  }
  places_[proc][place] = true;
}

void Calls::note(const Call& call) {
  if (!call.checked) return note(call.id, call.proc, call.place);
  const Five five = numbers(call.id);
  const Receipt& receipt = call.receipt;
  const std::array wanted{five.numbers[0], five.numbers[2], five.numbers[4]};
  if (receipt.entry != entry(call.id) || receipt.arguments != wanted) {
    round_->fail(kName, call.id, "the result is another call's");
  }
  note(call.id, call.proc, receipt.place);
}

void Calls::start(std::uint64_t id, std::uint32_t proc, std::uint32_t how) {
  const auto log = logs_.on(proc);
  switch (how) {
    case 0: return note(id, proc, splitc::atomic<&append>(log, entry(id)));
    case 1: {
      Call call{.handle = {}, .id = id, .proc = proc, .checked = true};
      call.receipt = splitc::atomic<&append_checked>(log, entry(id), numbers(id));
      return note(call);
    }
    case 2: splitc::atomic<&append_silently>(log, entry(id)); return;
    case 3: splitc::atomic_put<&append_silently>(log, entry(id)); return;
    case 4: splitc::atomic_put<&append>(log, entry(id)); return;
    default: {
      Call& call =
          calls_.emplace_back(Call{.handle = {}, .id = id, .proc = proc, .checked = how == 5});
      call.handle = call.checked ? splitc::atomic_get<&append_checked>(call.receipt, log, entry(id),
                                                                       numbers(id))
                                 : splitc::atomic_get<&append>(call.place, log, entry(id));
    }
  }
}

void Calls::plan(const Round& round, Schedule& schedule) {
  round_ = &round;
  logs_.mine()[0] = Log{};
  calls_.clear();
  known_.assign(round.procs(), {});
  places_.assign(round.procs(), std::vector<bool>(kMost));
  Random random = round.for_all(kName);
  std::vector<std::uint32_t> of(round.procs());
  const std::uint64_t count = std::uint64_t{2} * round.operations(random) * round.procs();
  for (auto& known : known_) known.assign(count, false);
  for (std::uint64_t id = 0; id < count; ++id) {
    const std::uint32_t who = random.below(round.procs());
    const std::uint32_t proc = random.below(round.procs());
    const std::uint32_t how = random.below(7u);
    if (of[proc]++ == kMost) break;
    known_[proc][id] = true;
    if (who != round.me()) continue;
    schedule.add_once(kName, id, [=, this] { start(id, proc, how); });
  }
}

void Calls::conclude(const Round&) {
  splitc::sync();
  for (const Call& call : calls_) note(call);
}

void Calls::verify(const Round& round) {
  const Log& log = logs_.mine()[0];
  std::vector<std::uint64_t> wanted;
  for (std::uint64_t id = 0; id < known_[round.me()].size(); ++id) {
    if (known_[round.me()][id]) wanted.push_back(entry(id));
  }
  std::vector<std::uint64_t> is(log.entries, log.entries + std::min(log.count, kMost));
  std::ranges::sort(wanted);
  std::ranges::sort(is);
  if (is != wanted) {
    round.fail(kName, 0,
               std::to_string(is.size()) + " calls have run here, of " +
                   std::to_string(wanted.size()) + ", or others than these");
  }
}

}  // namespace calls

std::unique_ptr<Family> make_calls(const Settings& settings) {
  return std::make_unique<calls::Calls>(settings);
}

}  // namespace soak
