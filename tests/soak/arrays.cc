// Spread arrays of all layouts, and memory of a process's own, that come and go while everything
// else goes on. An array is zero when it is made; each element is written by one process, and then
// its owner and some others look.

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "splitc/splitc.h"
#include "tests/soak/content.h"
#include "tests/soak/families.h"

namespace soak {
namespace arrays {

using splitc::global_ptr;

constexpr std::string_view kName = "arrays";
constexpr std::uint64_t kBlocks = 1 << 20;  // numbers of blocks from local_malloc begin here

using Element = std::uint64_t;
using Visit = std::function<void(std::size_t index, Element value)>;

// An array of any kind. Made and ended collectively.
class Array {
 public:
  virtual ~Array() = default;
  virtual global_ptr<Element> at(std::size_t i) const = 0;
  // The elements of this process, read as its own memory.
  virtual void visit_mine(const Visit& visit) const = 0;
};

class OneD : public Array {
 public:
  OneD(std::size_t n, splitc::layout how) : array_(n, how) {}
  global_ptr<Element> at(std::size_t i) const override { return array_.pointer(i); }
  void visit_mine(const Visit& visit) const override {
    std::size_t l = 0;
    for (const std::size_t i : array_.my_indices()) visit(i, array_.mine()[l++]);
  }

 private:
  splitc::spread_array<Element> array_;
};

class TwoD : public Array {
 public:
  TwoD(std::size_t n, std::size_t columns, splitc::layout by_row, splitc::layout by_column)
      : array_((n + columns - 1) / columns, columns, by_row, by_column) {}
  global_ptr<Element> at(std::size_t i) const override {
    return array_.pointer(i / array_.columns(), i % array_.columns());
  }
  void visit_mine(const Visit& visit) const override {
    for (const auto [ti, tj] : array_.my_tiles()) {
      const auto tile = array_.tile(ti, tj);
      for (std::size_t a = 0; a < tile.rows(); ++a) {
        for (std::size_t b = 0; b < tile.columns(); ++b) {
          const std::size_t row = ti * array_.q() + a;
          visit(row * array_.columns() + tj * array_.r() + b, tile(a, b));
        }
      }
    }
  }

 private:
  splitc::spread_array_2d<Element> array_;
};

class Raw : public Array {
 public:
  explicit Raw(std::size_t n) : n_(n), memory_(splitc::all_spread_malloc<Element>(n)) {}
  ~Raw() override { splitc::all_spread_free(memory_); }
  global_ptr<Element> at(std::size_t i) const override {
    return global_ptr<Element>(memory_ + static_cast<std::ptrdiff_t>(i));
  }
  void visit_mine(const Visit& visit) const override {
    for (const std::size_t i : splitc::my_1d(n_)) visit(i, memory_.mine()[i / splitc::procs()]);
  }

 private:
  const std::size_t n_;
  splitc::spread_ptr<Element> memory_;
};

// One array of a round: what it is, and how it is written.
struct Plan {
  std::uint64_t id = 0;
  std::uint32_t kind = 0;
  std::size_t elements = 0;
  std::size_t block = 0;  // or columns
  std::uint64_t salt = 0;
  std::unique_ptr<Array> array;
  std::uint32_t left = 0;  // own steps

  // Who writes element i, and how: 0 not at all.
  std::uint32_t how(std::size_t i) const { return static_cast<std::uint32_t>(hash(salt, i) % 5); }
  std::uint32_t who(std::size_t i, std::uint32_t procs) const {
    return static_cast<std::uint32_t>(hash(salt, i, 1) % procs);
  }
  Element value(std::size_t i) const { return how(i) == 0 ? 0 : hash(salt, i, 2); }
};

class Arrays : public Family {
 public:
  explicit Arrays(const Settings&) {}
  ~Arrays() override { free_all(); }

  void plan(const Round& round, Schedule& schedule) override;

 private:
  struct Block {
    std::byte* memory;
    std::uint64_t bytes;
    std::uint64_t key;
  };

  void make(Plan& plan);
  void write(const Plan& plan, std::size_t i) const;
  void expect(const Plan& plan, std::size_t i, Element is, Element should, const char* what) const;
  void check_and_end(Plan& plan);
  void plan_array(const Round& round, Schedule& schedule, Random& random, std::uint64_t id);
  void plan_blocks(const Round& round, Schedule& schedule);
  void change_blocks(std::uint64_t id, std::uint64_t bytes);
  void free_all();

  const Round* round_ = nullptr;
  std::vector<std::unique_ptr<Plan>> plans_;
  std::vector<Block> blocks_;  // from local_malloc, some for many rounds
};

void Arrays::expect(const Plan& plan, std::size_t i, Element is, Element should,
                    const char* what) const {
  if (is == should) return;
  round_->fail(kName, plan.id,
               std::string(what) + " " + std::to_string(i) + " of " +
                   std::to_string(plan.elements) + ", kind " + std::to_string(plan.kind) + ", is " +
                   std::to_string(is) + " and should be " + std::to_string(should));
}

void Arrays::make(Plan& plan) {
  const std::size_t n = plan.elements;
  const splitc::layout dealt = splitc::block_cyclic(plan.block);
  switch (plan.kind) {
    case 0: plan.array = std::make_unique<OneD>(n, splitc::cyclic); break;
    case 1: plan.array = std::make_unique<OneD>(n, splitc::blocked); break;
    case 2: plan.array = std::make_unique<OneD>(n, dealt); break;
    case 3: plan.array = std::make_unique<TwoD>(n, plan.block, dealt, splitc::cyclic); break;
    case 4:
      plan.array = std::make_unique<TwoD>(n, plan.block, splitc::blocked, splitc::blocked);
      break;
    default: plan.array = std::make_unique<Raw>(n);
  }
  plan.array->visit_mine([&](std::size_t i, Element value) {
    // Others have been here before, and write.
    if (value != 0) expect(plan, i, value, plan.value(i), "of a new array, element");
  });
}

void Arrays::write(const Plan& plan, std::size_t i) const {
  const global_ptr<Element> at = plan.array->at(i);
  switch (plan.how(i)) {
    case 1: *at = plan.value(i); return;
    case 2: splitc::put(at, plan.value(i)); return;
    case 3: splitc::fetch_and_add(at, plan.value(i)); return;
    default: *at += plan.value(i);
  }
}

void Arrays::check_and_end(Plan& plan) {
  splitc::sync();
  splitc::barrier();
  plan.array->visit_mine([&](std::size_t i, Element value) {
    if (i < plan.elements) expect(plan, i, value, plan.value(i), "own element");
  });
  for (std::uint64_t n = 0; n < 4; ++n) {
    const std::size_t i = hash(plan.salt, n, round_->me(), 3) % plan.elements;
    expect(plan, i, *plan.array->at(i), plan.value(i), "element");
  }
  plan.array.reset();
}

void Arrays::plan_array(const Round& round, Schedule& schedule, Random& random, std::uint64_t id) {
  Plan& plan = *plans_.emplace_back(std::make_unique<Plan>());
  plan.id = id;
  plan.kind = random.below(6u);
  plan.elements = random.between(1, 20 * round.procs());
  plan.block = random.between(1, 7);
  plan.salt = round.key(kName, id);
  for (std::size_t i = 0; i < plan.elements; ++i) {
    if (plan.how(i) == 0 || plan.who(i, round.procs()) != round.me()) continue;
    ++plan.left;
    schedule.add(kName, id, [this, &plan, i] {
      if (!plan.array) return false;
      write(plan, i);
      --plan.left;
      return true;
    });
  }
  schedule.add_together(kName, [this, &plan] { make(plan); });
  schedule.add_together(
      kName, [this, &plan] { check_and_end(plan); }, [&plan] { return plan.left == 0; });
}

void Arrays::change_blocks(std::uint64_t id, std::uint64_t bytes) {
  const auto check = [&](const Block& block) {
    round_->expect(difference({block.memory, block.bytes}, block.key), kName, id,
                   "memory from local_malloc");
  };
  if (blocks_.size() > 20 || (id % 2 == 0 && !blocks_.empty())) {
    Block& block = blocks_[hash(id, bytes) % blocks_.size()];
    check(block);
    splitc::local_free(block.memory);
    block = blocks_.back();
    blocks_.pop_back();
  } else {
    const Block block{splitc::local_malloc<std::byte>(bytes), bytes, round_->key(kName, id)};
    fill({block.memory, bytes}, block.key);
    blocks_.push_back(block);
  }
}

void Arrays::free_all() {
  for (const Block& block : blocks_) splitc::local_free(block.memory);
}

void Arrays::plan(const Round& round, Schedule& schedule) {
  round_ = &round;
  plans_.clear();
  Random random = round.for_all(kName);
  const std::uint64_t count = random.below(std::uint64_t{4});
  for (std::uint64_t id = 0; id < count; ++id) plan_array(round, schedule, random, id);
  Random own = round.for_me(kName);
  const std::uint64_t changes = round.operations(own) / 4;
  for (std::uint64_t i = 0; i < changes; ++i) {
    const std::uint64_t bytes = own.size(round.settings().max_bytes);
    schedule.add_once(kName, kBlocks + i, [=, this] { change_blocks(kBlocks + i, bytes); });
  }
}

}  // namespace arrays

std::unique_ptr<Family> make_arrays(const Settings& settings) {
  return std::make_unique<arrays::Arrays>(settings);
}

}  // namespace soak
