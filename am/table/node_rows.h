#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "shmem/region.h"

namespace am {

// A table of rows of bytes, all of the same length, that stores once what all rows have in common:
// the addresses, keys and names of a job's processes are alike in most of their bytes.
//
// Example: rows `7f000001 a110`, `7f000001 a214` take 6 bytes and a bit each for the columns, and
// two bytes each for what differs.
//
// This is a view of an image, which pack() makes. Pure logic; any thread.
class CompactRows {
 public:
  // The longest image of so many rows.
  static std::size_t most_bytes(std::size_t rows, std::size_t row_bytes) noexcept;
  // The image of `rows`, one after the other, `row_bytes` each, which is at least 1.
  static std::vector<std::byte> pack(std::span<const std::byte> rows, std::size_t row_bytes);

  CompactRows() = default;  // of no rows
  // Reads an image, which is aligned to 8 bytes and outlives this.
  explicit CompactRows(std::span<const std::byte> image) noexcept;

  std::size_t rows() const noexcept { return rows_; }
  std::size_t row_bytes() const noexcept { return common_.size(); }
  std::size_t stored_bytes() const noexcept { return columns_.size(); }  // for each row
  // Writes row `row` to `to`, which has row_bytes(). Costs a copy, and a step for each byte in
  // which rows differ.
  void read(std::size_t row, std::span<std::byte> to) const noexcept;

 private:
  struct Header {
    std::uint64_t rows;
    std::uint32_t row_bytes;
    std::uint32_t stored_bytes;
  };

  std::size_t rows_ = 0;
  std::span<const std::byte> common_;       // the first row
  std::span<const std::uint16_t> columns_;  // where the bytes that are stored belong
  const std::byte* stored_ = nullptr;       // of all rows
};

// What all processes of a node know of each process of the job, and what never changes: rows of
// bytes, compact, in memory that they share.
//
//   NodeRows rows(job_size, sizeof(Row));
//   ... rows.offer(), in one process of the node; all get what it returns, with an exchange
//   ... rows.set(rank, row), for each process, by what the exchange has brought
//   rows.settle(offer);
//   ... rows.read(rank, row)
//
// Every process of the node writes the whole table, the same bytes as the others, so none waits for
// another. Where there is no offer, or it comes to nothing, as the process that made it has ended,
// it has a table of its own.
//
// Thread rule: one thread at a time; after settle() any may read().
class NodeRows {
 public:
  // Tables of fewer bytes are not worth a region, and its file in the process that makes it.
  static constexpr std::size_t kShareFrom = std::size_t{1} << 16;

  NodeRows() = default;  // of no rows
  NodeRows(std::size_t rows, std::size_t row_bytes)
      : row_bytes_(row_bytes), count_(rows), rows_(rows * row_bytes) {}

  // By one process of a node that has several, before it is known what the rows are: makes memory
  // for all of them, if that is worth it, which lives as long as this. Everywhere else, and else,
  // no offer is zeros.
  shmem::Region::Address offer(std::size_t share_from = kShareFrom);

  void set(std::size_t row, std::span<const std::byte> bytes) noexcept;
  // No more set(). `offer` is what this node's process has offered, or zeros.
  void settle(const shmem::Region::Address& offer);

  // The row as it was set, before and after settle(); zeros if it was not.
  void read(std::size_t row, std::span<std::byte> to) const noexcept;

  std::size_t rows() const noexcept { return count_; }
  // Whether this table is one that others may share, and how many bytes it has.
  bool shared() const noexcept { return region_.size() != 0; }
  std::size_t bytes() const noexcept { return image_bytes_; }

 private:
  std::size_t row_bytes_ = 0;
  std::size_t count_ = 0;
  std::vector<std::byte> rows_;   // until they are settled
  std::vector<std::byte> image_;  // then, unless it is in the region
  shmem::Region region_;
  std::size_t image_bytes_ = 0;
  CompactRows compact_;
};

}  // namespace am
