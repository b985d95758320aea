// A sparse matrix of entries that come from all processes: what transposing and permuting send.
#pragma once

#include <algorithm>
#include <vector>

#include "examples/bale/sparse_matrix.h"

namespace bale {

// An entry on its way to its row. The place of an entry in the row is how many came before, which
// fetch_and_add() says; where the row begins is known when all have been counted.
struct Placed {
  std::uint32_t row;  // of the matrix
  std::uint32_t column;
  std::uint32_t place;
  std::uint32_t begin;
};

// By atomics, gets and puts.
template <class ForEach>
SparseMatrix assemble_plainly(std::uint32_t size, ForEach&& for_each) {
  using namespace splitc;
  const spread_array<std::uint32_t> counts(size);
  std::vector<Placed> entries;
  for_each([&](std::uint32_t row, std::uint32_t column) {
    entries.push_back({row, column, 0, 0});
  });
  // Split-phase: an operation for each entry, so many of them in flight.
  const auto in_flight = [&](auto start) {
    for (std::size_t i = 0; i < entries.size(); ++i) {
      start(entries[i]);
      if (i % kAhead == kAhead - 1) sync();
    }
    sync();
  };
  in_flight([&](Placed& e) { start_fetch_and_add(e.place, counts.pointer(e.row), 1u); });
  barrier();
  SparseMatrix matrix(size, std::span<const std::uint32_t>(counts.mine()));
  barrier();
  in_flight([&](Placed& e) { get(e.begin, matrix.begin_of(e.row)); });
  in_flight(
      [&](const Placed& e) { put(matrix.columns_beside(e.row) + e.begin + e.place, e.column); });
  barrier();
  return matrix;
}

// Makes matrices of entries that the processes give. What it keeps is memory: pages that are fresh
// each time cost ten times what is done with them. Collective.
class Assembler {
 public:
  // for_each(f) calls f(row, column) for the entries of this process. Collective.
  template <class ForEach>
  SparseMatrix assemble(const Way& way, std::uint32_t size, ForEach&& for_each) {
    if (way.style == Style::kPlain) return assemble_plainly(size, for_each);
    const auto arrive = [](std::vector<Entry>& mine, Entry entry) { mine.push_back(entry); };
    with_sender<Entry>(way, arriving_, arrive, [&](auto& sender) {
      for_each([&](std::uint32_t row, std::uint32_t column) {
        sender.send(owner(row), {local(row), column});
      });
      sender.flush_all();
    });
    // Others may send those of their next matrix when this process is in the constructor of this.
    arrived_.clear();
    arrived_.swap(*arriving_);
    return {size, std::span<const Entry>(arrived_)};
  }
  // Collective.
  SparseMatrix transpose(const Way& way, const SparseMatrix& matrix) {
    return assemble(way, matrix.size(), [&](auto&& f) {
      matrix.for_each_mine([&](std::uint32_t row, std::uint32_t column) { f(column, row); });
    });
  }

 private:
  splitc::dist_object<std::vector<Entry>> arriving_;
  std::vector<Entry> arrived_;
};

}  // namespace bale
