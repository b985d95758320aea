// Words of a table that is spread over all processes: counted in (histogram), and read
// (index_gather).
#include <functional>
#include <utility>

#include "examples/bale/gather.h"
#include "examples/bale/input.h"
#include "examples/bale/kernel.h"

namespace bale {
namespace {

using namespace splitc;

// Where the words are is known before the time begins: no style pays for the division.
std::vector<Place> draw_places(const Problem& problem) {
  std::vector<Place> places(problem.updates);
  for (std::uint64_t i = 0; i < places.size(); ++i) {
    places[i] = place_of(draw_word(problem.seed, my_proc(), i, problem.all()));
  }
  return places;
}

// --- Histogram

class Histogram final : public Kernel {
 public:
  explicit Histogram(const Problem& problem)
      : seed_(problem.seed),
        counts_(problem.all()),
        places_(draw_places(problem)),
        parts_(Part<std::int64_t>{counts_.mine()}) {}

  std::uint64_t updates() const override { return places_.size() * procs(); }

  void run(const Way& way) override {
    if (way.style == Style::kPlain) return count_plainly();
    const auto count = [](Part<std::int64_t>& part, std::uint32_t word) { ++part.mine[word]; };
    with_sender<std::uint32_t>(way, parts_, count, [&](auto& sender) {
      for (const Place& at : places_) sender.send(at.proc, at.local);
      sender.flush_all();
    });
  }

  // Each process takes away from its own words what all have counted there: nothing may be left.
  Verdict check() override {
    Verdict verdict{0, 0};
    const auto counts = counts_.mine();
    for (std::uint32_t i = 0; i < counts.size(); ++i) {
      verdict.answer += mark_of(global(i), static_cast<std::uint64_t>(counts[i]));
    }
    for (std::uint32_t proc = 0; proc < procs(); ++proc) {
      for (std::uint64_t i = 0; i < places_.size(); ++i) {
        const std::uint32_t word =
            draw_word(seed_, proc, i, static_cast<std::uint32_t>(counts_.size()));
        if (owner(word) == my_proc()) --counts[local(word)];
      }
    }
    for (std::int64_t& count : counts) verdict.wrong += std::exchange(count, 0) != 0 ? 1u : 0u;
    return {all_reduce(verdict.wrong, std::plus()), all_reduce(verdict.answer, std::plus())};
  }

 private:
  void count_plainly() {
    std::size_t started = 0;
    for (const Place& at : places_) {
      start_fetch_and_add(counts_.on(at.proc) + at.local, 1);
      if (++started % kAhead == 0) sync();
    }
    sync();
    barrier();
  }

  std::uint64_t seed_;
  spread_array<std::int64_t> counts_;
  std::vector<Place> places_;
  dist_object<Part<std::int64_t>> parts_;
};

// --- Index gather

class IndexGather final : public Kernel {
 public:
  explicit IndexGather(const Problem& problem)
      : table_(problem.all()),
        places_(draw_places(problem)),
        gathered_(places_.size()),
        parts_(Part<std::int64_t>{table_.mine()}) {
    const auto mine = table_.mine();
    for (std::uint32_t i = 0; i < mine.size(); ++i) mine[i] = value(global(i));
    barrier();
  }

  std::uint64_t updates() const override { return places_.size() * procs(); }

  void run(const Way& way) override {
    gather(way, table_, parts_, std::span<const Place>(places_), std::span(gathered_));
  }

  Verdict check() override {
    Verdict verdict{0, 0};
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const std::uint32_t word = places_[i].local * procs() + places_[i].proc;
      verdict.wrong += gathered_[i] != value(word) ? 1u : 0u;
      verdict.answer += mark_of(static_cast<std::uint32_t>(i * procs() + my_proc()),
                                static_cast<std::uint64_t>(std::exchange(gathered_[i], 0)));
    }
    return {all_reduce(verdict.wrong, std::plus()), all_reduce(verdict.answer, std::plus())};
  }

 private:
  static std::int64_t value(std::uint32_t word) { return -std::int64_t{word} - 1; }

  spread_array<std::int64_t> table_;
  std::vector<Place> places_;
  std::vector<std::int64_t> gathered_;
  dist_object<Part<std::int64_t>> parts_;
};

}  // namespace

std::unique_ptr<Kernel> make_histogram(const Problem& problem) {
  return std::make_unique<Histogram>(problem);
}
std::unique_ptr<Kernel> make_index_gather(const Problem& problem) {
  return std::make_unique<IndexGather>(problem);
}

}  // namespace bale
