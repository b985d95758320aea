// Objects that belong to whoever holds their lock, a word of another process: the holder reads the
// object, which must be as the last holder left it, and leaves another one.

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "splitc/splitc.h"
#include "tests/soak/content.h"
#include "tests/soak/families.h"

namespace soak {
namespace locks {

constexpr std::string_view kName = "locks";
constexpr std::size_t kBytes = 3000;
constexpr std::uint32_t kLocks = 2;  // in every process

struct Guarded {
  std::uint64_t lock;
  std::uint64_t version;  // holders so far
  std::byte bytes[kBytes];
};

class Locks : public Family {
 public:
  explicit Locks(const Settings&)
      : locks_(splitc::procs() * kLocks), objects_(splitc::procs() * kLocks) {}

  void plan(const Round& round, Schedule& schedule) override;
  void verify(const Round& round) override;

 private:
  // The lock and its object are in different processes.
  splitc::global_ptr<std::uint64_t> lock(std::size_t which) const { return locks_.pointer(which); }
  splitc::global_ptr<Guarded> object(std::size_t which) const {
    return objects_.pointer((which + 1) % objects_.size());
  }
  bool attempt(std::size_t which, std::uint64_t id, bool split_phase);
  std::uint64_t key(std::size_t which, std::uint64_t version) const {
    return round_->key(kName, which << 32 | version);
  }

  const Round* round_ = nullptr;
  splitc::spread_array<std::uint64_t> locks_;
  splitc::spread_array<Guarded> objects_;
  std::vector<std::uint64_t> holders_;  // by lock, of this round
};

bool Locks::attempt(std::size_t which, std::uint64_t id, bool split_phase) {
  if (splitc::test_and_set(lock(which)) != 0) return false;
  const splitc::global_ptr<Guarded> at = object(which);
  Guarded local;
  splitc::bulk_read(&local, at, sizeof local);
  round_->expect(difference(local.bytes, key(which, local.version)), kName, id,
                 "object " + std::to_string(which) + ", version " + std::to_string(local.version));
  ++local.version;
  fill(local.bytes, key(which, local.version));
  const auto bytes = at.member(&Guarded::bytes);
  const auto version = at.member(&Guarded::version);
  if (split_phase) {
    splitc::bulk_put(splitc::global_ptr<std::byte>(bytes), local.bytes, kBytes);
    splitc::put(version, local.version);
    splitc::sync();
  } else {
    splitc::bulk_write(splitc::global_ptr<std::byte>(bytes), local.bytes, kBytes);
    *version = local.version;
  }
  *lock(which) = 0;
  return true;
}

void Locks::plan(const Round& round, Schedule& schedule) {
  round_ = &round;
  for (const std::size_t i : locks_.my_indices()) {
    locks_.mine()[locks_.local(i)] = 0;
    Guarded& mine = objects_.mine()[objects_.local(i)];
    mine.version = 0;
    fill(mine.bytes, key((i + objects_.size() - 1) % objects_.size(), 0));
  }
  holders_.assign(locks_.size(), 0);
  Random random = round.for_all(kName);
  const std::uint64_t count = round.operations(random) / 2 * round.procs();
  for (std::uint64_t id = 0; id < count; ++id) {
    const std::uint32_t who = random.below(round.procs());
    const std::size_t which = random.below(locks_.size());
    const bool split_phase = random.one_in(2);
    ++holders_[which];
    if (who != round.me()) continue;
    schedule.add(kName, id, [=, this] { return attempt(which, id, split_phase); });
  }
}

void Locks::verify(const Round& round) {
  for (const std::size_t i : objects_.my_indices()) {
    const std::size_t which = (i + objects_.size() - 1) % objects_.size();
    const Guarded& mine = objects_.mine()[objects_.local(i)];
    if (mine.version != holders_[which]) {
      round.fail(kName, which,
                 "the object has had " + std::to_string(mine.version) + " holders and not " +
                     std::to_string(holders_[which]));
    }
    round.expect(difference(mine.bytes, key(which, mine.version)), kName, which,
                 "the object at the end");
  }
}

}  // namespace locks

std::unique_ptr<Family> make_locks(const Settings& settings) {
  return std::make_unique<locks::Locks>(settings);
}

}  // namespace soak
