// One-way writes that are counted where they land, on the default counter or on one of the family's
// own, which comes and goes. How the receivers wait differs from round to round: for exactly their
// bytes, for those of everybody, and sometimes also in the middle of a round, for those that were
// stored before.

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "splitc/splitc.h"
#include "tests/soak/families.h"
#include "tests/soak/field.h"
#include "tests/soak/objects.h"

namespace soak {
namespace stores {

constexpr std::string_view kName = "stores";
constexpr std::uint64_t kSteady = 1 << 20;  // numbers of stores that are made in most rounds

struct Store {
  Range range;
  std::uint32_t who = 0;
  bool object = false;
  std::uint32_t type = 0;
  std::size_t shift = 0;
  bool late = false;  // behind the wait in the middle of the round
};

enum class Wait { kExactly, kInParts, kAll };

class Stores : public Family {
 public:
  explicit Stores(const Settings& settings);

  void plan(const Round& round, Schedule& schedule) override;
  bool arrived() override;
  void conclude(const Round& round) override;
  void verify(const Round& round) override;

 private:
  splitc::store_counter& counter() const {
    return own_counter_ ? *own_counter_ : splitc::store_counter::default_counter();
  }
  void draw_store(const Round& round, Random& random, std::uint64_t id, bool late);
  void draw_steady(const Round& round, Random& random);
  void begin_counting(const Round& round, Random& random);
  void add(const Round& round, Schedule& schedule);
  void store(const Store& store);
  void wait_in_the_middle();

  const Round* round_ = nullptr;
  Field field_;
  Field steady_;  // the same ranges in every round, so that the library may learn them
  std::unique_ptr<splitc::store_counter> own_counter_;
  std::uint64_t counter_until_ = 0;  // the round in which that changes
  std::vector<Store> stores_;        // of this round, of all
  Wait wait_ = Wait::kExactly;
  bool wait_between_ = false;
  bool between_ = true;           // that wait has been
  std::uint32_t early_left_ = 0;  // own stores that come before it
  std::uint64_t expected_ = 0;    // bytes to be stored here that have not been waited for
};

Stores::Stores(const Settings& settings)
    : field_(kName, 4 * settings.max_bytes + (256 << 10)), steady_(kName, 256 << 10) {}

void Stores::draw_store(const Round& round, Random& random, std::uint64_t id, bool late) {
  Store store{.range = {},
              .who = random.below(round.procs()),
              .object = random.one_in(2),
              .type = random.below(kObjectTypes),
              .shift = random.below(std::uint64_t{16}),
              .late = late};
  const std::uint32_t proc = random.below(round.procs());
  if (store.object) {
    const ObjectSize size = object_size(store.type);
    const auto range = field_.take_object(round, random, proc, id, size.bytes, size.alignment);
    if (!range) return;
    store.range = *range;
  } else {
    store.range = field_.take(round, random, proc, id, random.size(round.settings().max_bytes));
  }
  stores_.push_back(store);
}

// Between the same processes, of the same size and to the same place as in other rounds.
void Stores::draw_steady(const Round& round, Random& random) {
  Random always(hash(round.settings().seed, hash(kName)));
  for (std::uint64_t i = 0; i < 4; ++i) {
    Store store;
    store.who = always.below(round.procs());
    const std::uint32_t proc = always.below(round.procs());
    const std::uint64_t bytes = always.between(4097, 40000);
    store.range = steady_.take(round, always, proc, kSteady + i, bytes);
    if (random.one_in(4)) {
      steady_.forbid(store.range);
    } else {
      stores_.push_back(store);
    }
  }
}

// Nothing is on its way: another counter may be used from now on.
void Stores::begin_counting(const Round& round, Random& random) {
  const std::uint64_t keep = random.between(1, 4);
  const bool own = random.one_in(2);
  if (round.number() >= counter_until_) {
    counter_until_ = round.number() + keep;
    own_counter_.reset();
    if (own) own_counter_ = std::make_unique<splitc::store_counter>();
  }
  wait_ = static_cast<Wait>(random.below(3));
  wait_between_ = random.one_in(2);
}

void Stores::store(const Store& store) {
  const Range& range = store.range;
  if (store.object) {
    return with_object(store.type, [&]<class T>() {
      splitc::store(splitc::global_ptr<T>(field_.at(range)), object_of<T>(range.key), counter());
    });
  }
  Local local(range.bytes, store.shift);
  fill(local.bytes(), range.key);
  const Field& field = range.id >= kSteady ? steady_ : field_;
  splitc::bulk_store(field.at(range), local.data(), range.bytes, counter());
  local.scribble();
}

void Stores::add(const Round& round, Schedule& schedule) {
  for (const Store& planned : stores_) {
    if (planned.range.proc == round.me()) expected_ += planned.range.bytes;
    if (planned.who != round.me()) continue;
    if (!planned.late) ++early_left_;
    schedule.add(kName, planned.range.id, [this, &planned] {
      if (planned.late && !between_) return false;
      store(planned);
      if (!planned.late) --early_left_;
      return true;
    });
  }
}

// All stores that were made before have landed, while others may be on their way already.
void Stores::wait_in_the_middle() {
  if (own_counter_) {
    own_counter_->wait_all();
  } else {
    splitc::all_store_sync();
  }
  between_ = true;
  for (const Store& store : stores_) {
    if (store.late || store.range.proc != round_->me()) continue;
    expected_ -= store.range.bytes;
    (store.range.id >= kSteady ? steady_ : field_).verify(*round_, store.range);
  }
}

void Stores::plan(const Round& round, Schedule& schedule) {
  round_ = &round;
  field_.begin(round);
  steady_.begin(round);
  stores_.clear();
  expected_ = 0;
  early_left_ = 0;
  Random random = round.for_all(kName);
  begin_counting(round, random);
  between_ = !wait_between_;
  const std::uint64_t count = std::uint64_t{2} * round.operations(random) * round.procs();
  for (std::uint64_t id = 0; id < count; ++id) {
    draw_store(round, random, id, wait_between_ && random.one_in(2));
  }
  draw_steady(round, random);
  add(round, schedule);
  if (!wait_between_) return;
  schedule.add_together(
      kName, [this] { wait_in_the_middle(); }, [this] { return early_left_ == 0; });
}

// In rounds in which nobody waits for them otherwise.
bool Stores::arrived() {
  if (wait_ != Wait::kInParts || expected_ == 0) return true;
  const std::uint64_t part = std::min<std::uint64_t>(expected_, counter().available());
  if (part != 0 && counter().try_wait(part)) expected_ -= part;
  return expected_ == 0;
}

void Stores::conclude(const Round&) {
  if (wait_ == Wait::kExactly) splitc::store_sync(expected_, counter());
  if (wait_ != Wait::kAll) return;
  if (own_counter_) {
    own_counter_->wait_all();
  } else {
    splitc::all_store_sync();
  }
}

void Stores::verify(const Round& round) {
  if (counter().available() != 0) {
    round.fail(
        kName, 0,
        std::to_string(counter().available()) + " bytes have been stored that nobody was to store");
  }
  field_.verify(round);
  steady_.verify(round);
}

}  // namespace stores

std::unique_ptr<Family> make_stores(const Settings& settings) {
  return std::make_unique<stores::Stores>(settings);
}

}  // namespace soak
