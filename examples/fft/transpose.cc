#include "examples/fft/transpose.h"

#include <algorithm>

namespace fft {

using namespace splitc;

namespace {

std::size_t part(std::size_t n) { return (n + procs() - 1) / procs(); }

// --- The versions

// Every element goes by itself, to where it belongs.
void store_elements(const Matrix& from, const Matrix& to, Parcels&) {
  const Range rows = from.my_rows();
  for (std::size_t i = rows.begin; i < rows.end; ++i) {
    const std::span<const Complex> row = from.row(i);
    for (std::size_t j = 0; j < row.size(); ++j) store(to.at(j, i), row[j]);
  }
  all_store_sync();
}

// Writes this process's rows of `from`, as far as they are in the `columns`, to `block`: column
// behind column. Four columns at a time, which share the cache lines of the rows.
std::size_t pack(const Matrix& from, const Range& columns, Complex* block) {
  const Range rows = from.my_rows();
  for (std::size_t first = columns.begin; first < columns.end; first += 4) {
    const std::size_t last = std::min(first + 4, columns.end);
    for (std::size_t i = rows.begin; i < rows.end; ++i) {
      const Complex* const row = from.row(i).data();
      Complex* to = block + (first - columns.begin) * rows.size() + (i - rows.begin);
      for (std::size_t j = first; j < last; ++j, to += rows.size()) *to = row[j];
    }
  }
  return rows.size() * columns.size();
}

// Puts the block that the owner of the `columns` of `to` has packed in its place.
void unpack(const Complex* block, const Range& columns, const Matrix& to) {
  const Range rows = to.my_rows();
  for (std::size_t i = rows.begin; i < rows.end; ++i, block += columns.size()) {
    std::copy_n(block, columns.size(), to.row(i).data() + columns.begin);
  }
}
void unpack_all(std::span<const Complex> incoming, const Matrix& from, const Matrix& to,
                std::size_t block) {
  for (std::uint32_t proc = 0; proc < procs(); ++proc) {
    unpack(incoming.data() + proc * block, from.rows_of(proc), to);
  }
}

// A block for each process, all of them exchanged by one call.
void exchange_blocks(const Matrix& from, const Matrix& to, Parcels& parcels) {
  const std::size_t block = parcels.block();
  for (std::uint32_t proc = 0; proc < procs(); ++proc) {
    pack(from, to.rows_of(proc), parcels.outgoing().data() + proc * block);
  }
  const std::span<Complex> incoming = parcels.next_incoming().mine();
  all_to_all(parcels.outgoing(), incoming);
  unpack_all(incoming, from, to, block);
}

// Every block leaves as soon as it is packed, first to the next process: not all to the same one.
void store_blocks(const Matrix& from, const Matrix& to, Parcels& parcels) {
  const std::size_t block = parcels.block();
  const spread_array<Complex>& incoming = parcels.next_incoming();
  for (std::uint32_t step = 1; step <= procs(); ++step) {
    const std::uint32_t proc = (my_proc() + step) % procs();
    const std::size_t count = pack(from, to.rows_of(proc), parcels.outgoing().data());
    bulk_store(incoming.on(proc) + my_proc() * block, parcels.outgoing().first(count));
  }
  all_store_sync();
  unpack_all(incoming.mine(), from, to, block);
}

constexpr Version kVersions[] = {
    {"store", store_elements},
    {"all_to_all", exchange_blocks},
    {"bulk_store", store_blocks},
};

}  // namespace

Parcels::Parcels(std::size_t rows, std::size_t columns)
    : block_(part(rows) * part(columns)),
      outgoing_(procs(), procs() * block_),
      incoming_1_(procs(), procs() * block_),
      incoming_2_(procs(), procs() * block_) {}

std::span<const Version> versions() { return kVersions; }

}  // namespace fft
