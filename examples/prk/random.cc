// Random: words of a table, in blocks on all processes, are combined with random numbers by
// exclusive or. An iteration makes all updates twice, so that the table is as at first.
//
// Each process has many streams of numbers, which are parts of one sequence, and draws one of each
// in turn. What it draws in a round it may send together: that many updates it looks ahead.

#include <memory>
#include <stdexcept>
#include <vector>

#include "examples/parcels.h"
#include "examples/prk/kernel.h"
#include "examples/prk/loops.h"

namespace prk {
namespace {

using namespace splitc;

struct Updates {
  std::uint32_t bits;   // 2^bits words in all
  std::uint32_t ratio;  // updates for each word
  std::uint32_t ahead;  // streams of a process

  std::uint64_t words() const noexcept { return std::uint64_t{1} << bits; }
  // Rounds of a process in one of the two passes.
  std::uint64_t rounds() const { return words() * ratio / procs() / 2 / ahead; }
  // The first word of a process, and so the end of those of the one before.
  std::uint64_t first(std::uint64_t proc) const { return (proc * words() + procs() - 1) / procs(); }
};

class Random : public Kernel {
 public:
  explicit Random(const Updates& updates)
      : updates_(updates),
        first_(updates.first(my_proc())),
        table_(procs(), updates.first(1)),
        streams_(updates.ahead) {
    for (std::uint64_t i = 0; i < mine().size(); ++i) mine()[i] = first_ + i;
    barrier();
  }

  void iterate() override {
    for (const int pass : {0, 1}) {
      static_cast<void>(pass);
      seed();
      for (std::uint64_t round = 0; round < updates_.rounds(); ++round) this->round();
    }
    barrier();
  }
  double found(std::uint32_t) override {
    std::uint64_t wrong = 0;
    for (std::uint64_t i = 0; i < mine().size(); ++i) wrong += mine()[i] != first_ + i ? 1u : 0u;
    return static_cast<double>(wrong);
  }

 protected:
  // Draws an update of each stream, and makes them or sends them.
  virtual void round() = 0;

  std::uint64_t draw(std::size_t stream) noexcept {
    return streams_[stream] = prk_next_power(streams_[stream]);
  }
  std::size_t streams() const noexcept { return streams_.size(); }
  // The word that a number changes: which of all, whose, and where it is there.
  std::uint64_t word(std::uint64_t number) const noexcept {
    return number & (updates_.words() - 1);
  }
  std::uint32_t owner(std::uint64_t word) const {
    return static_cast<std::uint32_t>(word * procs() >> updates_.bits);
  }
  global_ptr<std::uint64_t> place(std::uint64_t word) const {
    const std::uint32_t proc = owner(word);
    return table_.on(proc) + static_cast<std::ptrdiff_t>(word - updates_.first(proc));
  }
  void apply(std::span<const std::uint64_t> numbers) const noexcept {
    std::uint64_t* const words = table_.mine().data();
    const std::uint64_t mask = updates_.words() - 1;
    for (const std::uint64_t number : numbers) words[(number & mask) - first_] ^= number;
  }

 private:
  std::span<std::uint64_t> mine() const {
    return table_.mine().first(updates_.first(my_proc() + 1) - first_);
  }
  void seed() {
    const std::uint64_t length = 2 * updates_.rounds();
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      streams_[i] = prk_power(kPrkSeed + length * (my_proc() * streams_.size() + i));
    }
  }

  Updates updates_;
  std::uint64_t first_;  // word of this process
  spread_array<std::uint64_t> table_;
  std::vector<std::uint64_t> streams_;
};

// Each word is changed where it is, and the answers are waited for together.
class RandomAtomics : public Random {
 public:
  using Random::Random;

 protected:
  void round() override {
    for (std::size_t i = 0; i < streams(); ++i) {
      const std::uint64_t number = draw(i);
      start_fetch_and_xor(place(word(number)), number);
    }
    sync();
  }
};

// Updates travel to the owners of their words in parcels, as in examples/gups.
class RandomParcels : public Random {
 public:
  explicit RandomParcels(const Updates& updates)
      : Random(updates), parcels_(updates.ahead * sizeof(std::uint64_t)) {}

 protected:
  void round() override {
    for (std::size_t i = 0; i < streams(); ++i) {
      const std::uint64_t number = draw(i);
      parcels_.add(owner(word(number)), number);
    }
    parcels_.exchange<std::uint64_t>(
        false, [this](std::uint32_t, std::span<const std::uint64_t> numbers) { apply(numbers); });
  }

 private:
  examples::Parcels parcels_;
};

}  // namespace

int random_access(Args args) {
  Runs runs;
  Updates updates{.bits = 18, .ratio = 4, .ahead = 1024};
  examples::CommandLine line("Updates of random words everywhere.", "prk random");
  line.option("--bits", updates.bits, "2^N words in all").range(1u, 40u);
  line.option("--ratio", updates.ratio, "updates for each word, in two passes").range(1u, 1u << 20);
  line.option("--ahead", updates.ahead, "updates of a process that are drawn together")
      .range(1u, 1u << 20);
  add_options(line, runs, {"parcels", "atomics"});
  if (!line.parse(args)) return 0;
  if (updates.rounds() == 0 || updates.words() < procs()) {
    throw std::runtime_error(
        "prk random: 2^" + std::to_string(updates.bits) + " words with " +
        std::to_string(updates.ratio) + " updates each give fewer than 2 x --ahead " +
        std::to_string(updates.ahead) + " updates for each of " + std::to_string(procs()) +
        " processes; take more --bits or --ratio, or less --ahead");
  }
  const double all = 2.0 * static_cast<double>(updates.rounds()) * updates.ahead * procs();
  const Way ways[] = {
      {"parcels", [=] { return std::make_unique<RandomParcels>(updates); }},
      {"atomics", [=] { return std::make_unique<RandomAtomics>(updates); }},
  };
  return measure(runs,
                 {.title = "random: 2^" + std::to_string(updates.bits) + " words, " +
                           std::to_string(static_cast<std::uint64_t>(all)) + " updates, " +
                           std::to_string(updates.ahead) + " ahead",
                  .verified = "how many words are wrong",
                  .expected = [](double) { return 0; },
                  .unit = "GUP",
                  .work = all / 1e9},
                 ways);
}

}  // namespace prk
