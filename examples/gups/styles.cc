#include "examples/gups/styles.h"

#include <algorithm>

#include "examples/parcels.h"

namespace gups {
namespace {

using namespace splitc;

template <class F>
void for_each_update(const Problem& problem, F&& f) {
  for (std::uint64_t i = 0; i < problem.updates; ++i) f(Update(problem, my_proc(), i));
}
// The word that it changes: the table is in blocks, one for each process.
global_ptr<std::uint64_t> place(const Problem& problem, Table& table, const Update& update) {
  return table.pointer(update.proc(procs()) * problem.words() + update.word(problem));
}

// As in a program for one process. HPC Challenge's rules let one in a hundred updates be lost.
void read_and_write(const Problem& problem, Table& table) {
  for_each_update(problem, [&](const Update& update) {
    const auto p = place(problem, table, update);
    *p = *p ^ update.value;
  });
  barrier();
}

void wait_for_each(const Problem& problem, Table& table) {
  for_each_update(problem, [&](const Update& update) {
    fetch_and_xor(place(problem, table, update), update.value);
  });
  barrier();
}

// Split-phase, as many at a time as HPC Challenge's rules let a process look ahead.
void start_many(const Problem& problem, Table& table) {
  constexpr std::uint64_t kAhead = 1024;
  std::uint64_t started = 0;
  for_each_update(problem, [&](const Update& update) {
    start_fetch_and_xor(place(problem, table, update), update.value);
    if (++started % kAhead == 0) sync();
  });
  sync();
  barrier();
}

// A function at the word, which runs in its process.
void call(const Problem& problem, Table& table) {
  for_each_update(problem, [&](const Update& update) {
    rpc_ff_at(
        place(problem, table, update),
        [](std::uint64_t& word, std::uint64_t value) { word ^= value; }, update.value);
  });
  quiesce();
}

// The same in blocks.
void gather(const Problem& problem, Table& table) {
  struct Part {
    std::span<std::uint64_t> words;
  };
  dist_object<Part> parts(Part{table.mine()});
  auto aggregator = aggregate<Update>(parts, [problem](const Part& part, const Update& update) {
    part.words[update.word(problem)] ^= update.value;
  });
  for_each_update(problem,
                  [&](const Update& update) { aggregator.send(update.proc(procs()), update); });
  aggregator.flush_all();
}

// In rounds: what a process draws it puts into a parcel for each owner, which applies it.
void rounds(const Problem& problem, Table& table) {
  constexpr std::uint64_t kRound = 32'768;
  examples::Parcels parcels(std::min(problem.updates, kRound) * sizeof(std::uint64_t));
  const auto words = table.mine();
  for (std::uint64_t first = 0; first < problem.updates; first += kRound) {
    const std::uint64_t last = std::min(problem.updates, first + kRound);
    for (std::uint64_t i = first; i < last; ++i) {
      const Update update(problem, my_proc(), i);
      parcels.add(update.proc(procs()), update.value);
    }
    parcels.exchange<std::uint64_t>(false,
                                    [&](std::uint32_t, std::span<const std::uint64_t> values) {
                                      for (const std::uint64_t value : values)
                                        words[value & (problem.words() - 1)] ^= value;
                                    });
  }
  barrier();
}

constexpr Style kStyles[] = {
    {"read_and_write", false, &read_and_write},
    {"wait_for_each", true, &wait_for_each},
    {"start_many", true, &start_many},
    {"call", true, &call},
    {"gather", true, &gather},
    {"rounds", true, &rounds},
};

}  // namespace

std::span<const Style> styles() { return kStyles; }

}  // namespace gups
