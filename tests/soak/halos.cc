// Typed channels, which a collective call makes: puts to any process, multicasts and reductions. In
// every turn each process puts, waits for what comes, and is ready again; a barrier ends the turn.

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "splitc/channel/multicast_channel.h"
#include "splitc/channel/reduce_channel.h"
#include "splitc/splitc.h"
#include "tests/soak/content.h"
#include "tests/soak/families.h"
#include "tests/soak/field.h"

namespace soak {
namespace halos {

constexpr std::string_view kName = "halos";
constexpr std::uint64_t kMost = 100'000;  // bytes of one put

// The ends of one process: put() is possible once in each turn, and check() when it has come.
class Halo {
 public:
  virtual ~Halo() = default;
  virtual bool try_put(std::uint64_t turn) = 0;   // false: the source is in use
  virtual bool try_take(std::uint64_t turn) = 0;  // false: not everything has come
};

// What all kinds of halos know of themselves.
struct Common {
  const Round* round;
  const Field* field;
  std::uint64_t id;
  std::uint64_t turns;
  std::vector<Range> ranges;  // where something is written

  // The last turn leaves what the field expects.
  std::uint64_t key(const Range& range, std::uint64_t turn) const {
    return turn + 1 == turns ? range.key : hash(range.key, turn);
  }
  void check(const Range& range, std::uint64_t turn) const {
    round->expect(difference(field->mine(range), key(range, turn)), kName, id,
                  "what was put here in turn " + std::to_string(turn));
  }
};

// Each process puts into at most one other, and any number of others into one.
class Puts : public Halo {
 public:
  // `mine`: the number of the range that this process puts into; ranges.size(): none.
  Puts(const Common& common, std::size_t mine, std::uint64_t rows) : common_(common), rows_(rows) {
    if (mine < common_.ranges.size()) mine_ = common_.ranges[mine];
    for (const Range& range : common_.ranges) {
      if (range.proc == common_.round->me()) here_.push_back(range);
    }
    const splitc::strided from{.run = mine_.bytes / rows,
                               .rows = static_cast<std::uint32_t>(rows),
                               .row_stride = mine_.bytes / rows + kGap};
    source_.resize(mine_.bytes + rows * kGap);
    const bool sends = mine < common_.ranges.size();
    channel_ = std::make_unique<splitc::put_channel<std::byte>>(
        sends ? common_.field->at(mine_) : nullptr, splitc::strided{.run = mine_.bytes},
        source_.data(), from, [this] { ++callbacks_; });
  }

  bool try_put(std::uint64_t turn) override {
    if (!channel_->sends()) return true;
    if (!channel_->reusable()) return false;
    const std::uint64_t run = mine_.bytes / rows_;
    for (std::uint64_t row = 0; row < rows_; ++row) {
      fill(std::span(source_).subspan(row * (run + kGap), run), common_.key(mine_, turn),
           row * run);
    }
    channel_->put();
    return true;
  }

  bool try_take(std::uint64_t turn) override {
    if (!channel_->arrived()) return false;
    if (callbacks_ != here_.size() * (turn + 1)) {
      common_.round->fail(kName, common_.id, std::to_string(callbacks_) + " callbacks");
    }
    for (const Range& range : here_) common_.check(range, turn);
    channel_->ready();
    return true;
  }

 private:
  static constexpr std::uint64_t kGap = 5;  // bytes between the runs of a source

  const Common common_;
  const std::uint64_t rows_;
  Range mine_;
  std::vector<Range> here_;
  std::vector<std::byte> source_;
  std::uint64_t callbacks_ = 0;
  std::unique_ptr<splitc::put_channel<std::byte>> channel_;
};

// The ranges are of the same key; that of the root is its source.
class Multicast : public Halo {
 public:
  Multicast(const Common& common, std::uint32_t root)
      : common_(common),
        root_(root),
        mine_(common_.ranges[common_.round->me()]),
        channel_(common_.field->mine(mine_), root) {}

  bool try_put(std::uint64_t turn) override {
    if (common_.round->me() != root_) return true;
    if (!channel_.reusable()) return false;
    fill(common_.field->mine(mine_), common_.key(mine_, turn));
    channel_.put();
    return true;
  }
  bool try_take(std::uint64_t turn) override {
    if (common_.round->me() == root_) return true;
    if (!channel_.arrived()) return false;
    common_.check(mine_, turn);
    channel_.ready();
    return true;
  }

 private:
  const Common common_;
  const std::uint32_t root_;
  const Range mine_;
  splitc::multicast_channel<std::byte> channel_;
};

class Reduction : public Halo {
 public:
  Reduction(const Common& common, std::uint64_t elements, std::uint32_t root)
      : common_(common),
        root_(root),
        mine_(elements),
        result_(elements),
        channel_(mine_, std::span(result_), root) {}

  bool try_put(std::uint64_t turn) override {
    if (!channel_.reusable()) return false;
    for (std::uint64_t i = 0; i < mine_.size(); ++i) {
      mine_[i] = element(common_.round->me(), turn, i);
    }
    channel_.put();
    return true;
  }
  bool try_take(std::uint64_t turn) override {
    if (!channel_.arrived()) return false;
    for (std::uint64_t i = 0; common_.round->me() == root_ && i < result_.size(); ++i) {
      std::uint64_t sum = 0;
      for (std::uint32_t proc = 0; proc < common_.round->procs(); ++proc) {
        sum += element(proc, turn, i);
      }
      if (sum != result_[i]) common_.round->fail(kName, common_.id, "a sum of all is wrong");
    }
    channel_.ready();
    return true;
  }

 private:
  std::uint64_t element(std::uint32_t proc, std::uint64_t turn, std::uint64_t i) const {
    return hash(common_.round->key(kName, common_.id), turn, proc, i);
  }

  const Common common_;
  const std::uint32_t root_;
  std::vector<std::uint64_t> mine_;
  std::vector<std::uint64_t> result_;
  splitc::reduce_channel<std::uint64_t> channel_;
};

class Halos : public Family {
 public:
  explicit Halos(const Settings& settings) : field_(kName, 2 * settings.max_bytes + (512 << 10)) {}

  void plan(const Round& round, Schedule& schedule) override;
  void verify(const Round& round) override { field_.verify(round); }

 private:
  using Make = std::function<std::unique_ptr<Halo>()>;
  struct State {
    std::unique_ptr<Halo> halo;
    std::uint64_t turn = 0;
    std::uint32_t left = 0;  // own steps of this turn
  };

  Make draw(const Round& round, Random& random, Common common);
  Make draw_puts(const Round& round, Random& random, Common common);
  Make draw_multicast(const Round& round, Random& random, Common common);
  void add_turn(Schedule& schedule, State& state, std::uint64_t id, std::uint64_t turn);

  Field field_;
  std::vector<std::unique_ptr<State>> states_;
};

Halos::Make Halos::draw_puts(const Round& round, Random& random, Common common) {
  const std::uint64_t rows = random.one_in(2) ? 1 : random.between(2, 9);
  const std::uint64_t most = std::min(kMost, round.settings().max_bytes);
  std::size_t mine = round.procs();
  for (std::uint32_t who = 0; who < round.procs(); ++who) {
    const std::uint64_t bytes = random.size(most) / rows * rows;
    const std::uint32_t to = random.below(round.procs());
    const bool sends = !random.one_in(4);
    const auto range = field_.take_object(round, random, to, common.id << 8 | who, bytes, 1);
    if (!range) continue;
    if (!sends) {
      field_.forbid(*range);
      continue;
    }
    if (who == round.me()) mine = common.ranges.size();
    common.ranges.push_back(*range);
  }
  return [=] { return std::make_unique<Puts>(common, mine, rows); };
}

Halos::Make Halos::draw_multicast(const Round& round, Random& random, Common common) {
  const std::uint64_t bytes = random.size(std::min(kMost, round.settings().max_bytes));
  const std::uint32_t root = random.below(round.procs());
  for (std::uint32_t proc = 0; proc < round.procs(); ++proc) {
    const auto range = field_.take_object(round, random, proc, common.id << 8, bytes, 1);
    if (range) common.ranges.push_back(*range);
  }
  if (common.ranges.size() == round.procs()) {
    return [=] { return std::make_unique<Multicast>(common, root); };
  }
  for (const Range& range : common.ranges) field_.forbid(range);
  return {};
}

Halos::Make Halos::draw(const Round& round, Random& random, Common common) {
  switch (random.below(3)) {
    case 0: return draw_puts(round, random, std::move(common));
    case 1: return draw_multicast(round, random, std::move(common));
    default: {
      const std::uint64_t elements = random.size(kMost) / 8;
      const std::uint32_t root = random.below(round.procs());
      return [=] { return std::make_unique<Reduction>(common, elements, root); };
    }
  }
}

void Halos::add_turn(Schedule& schedule, State& state, std::uint64_t id, std::uint64_t turn) {
  const auto add = [&](bool (Halo::*act)(std::uint64_t)) {
    schedule.add(kName, id, [&state, turn, act] {
      if (!state.halo || state.turn != turn || !(*state.halo.*act)(turn)) return false;
      --state.left;
      return true;
    });
  };
  add(&Halo::try_put);
  add(&Halo::try_take);
  schedule.add_together(
      kName,
      [&state] {
        splitc::barrier();
        ++state.turn;
        state.left = 2;
      },
      [&state] { return state.left == 0; });
}

void Halos::plan(const Round& round, Schedule& schedule) {
  field_.begin(round);
  states_.clear();
  Random random = round.for_all(kName);
  const std::uint64_t count = random.below(std::uint64_t{5});
  for (std::uint64_t id = 0; id < count; ++id) {
    const std::uint64_t turns = random.between(1, 5);
    const Make make = draw(round, random, {&round, &field_, id, turns, {}});
    if (!make) continue;
    State& state = *states_.emplace_back(std::make_unique<State>());
    state.left = 2;
    schedule.add_together(kName, [&state, make] { state.halo = make(); });
    for (std::uint64_t turn = 0; turn < turns; ++turn) add_turn(schedule, state, id, turn);
    schedule.add_together(kName, [&state] { state.halo.reset(); });
  }
}

}  // namespace halos

std::unique_ptr<Family> make_halos(const Settings& settings) {
  return std::make_unique<halos::Halos>(settings);
}

}  // namespace soak
