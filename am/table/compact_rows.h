#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

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
  // Of an image, which is aligned to 8 bytes and outlives this.
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

}  // namespace am
