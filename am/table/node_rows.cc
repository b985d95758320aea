#include "am/table/node_rows.h"

#include <algorithm>
#include <cstring>

#include "shmem/region.h"

namespace am {
namespace {

constexpr std::size_t rounded(std::size_t bytes) noexcept { return (bytes + 7) / 8 * 8; }

void append(std::vector<std::byte>& to, const void* from, std::size_t bytes) {
  const auto* const first = static_cast<const std::byte*>(from);
  to.insert(to.end(), first, first + bytes);
  to.resize(rounded(to.size()));
}

}  // namespace

std::size_t CompactRows::most_bytes(std::size_t rows, std::size_t row_bytes) noexcept {
  return sizeof(Header) + rounded(row_bytes) + rounded(row_bytes * sizeof(std::uint16_t)) +
         rounded(rows * row_bytes);
}

std::vector<std::byte> CompactRows::pack(std::span<const std::byte> rows, std::size_t row_bytes) {
  const std::size_t count = rows.size() / row_bytes;
  std::vector<bool> differs(row_bytes);
  for (std::size_t at = 0; at < rows.size(); ++at) {
    if (rows[at] != rows[at % row_bytes]) differs[at % row_bytes] = true;
  }
  std::vector<std::uint16_t> columns;
  for (std::size_t column = 0; column < row_bytes; ++column) {
    if (differs[column]) columns.push_back(static_cast<std::uint16_t>(column));
  }
  const Header header{count, static_cast<std::uint32_t>(row_bytes),
                      static_cast<std::uint32_t>(columns.size())};
  std::vector<std::byte> stored;
  stored.reserve(count * columns.size());
  for (std::size_t row = 0; row < count; ++row) {
    for (const std::uint16_t column : columns) stored.push_back(rows[row * row_bytes + column]);
  }
  std::vector<std::byte> image;
  image.reserve(sizeof header + rounded(row_bytes) + rounded(columns.size() * sizeof columns[0]) +
                rounded(stored.size()));
  append(image, &header, sizeof header);
  append(image, rows.data(), std::min(rows.size(), row_bytes));
  append(image, columns.data(), columns.size() * sizeof columns[0]);
  append(image, stored.data(), stored.size());
  return image;
}

CompactRows::CompactRows(std::span<const std::byte> image) noexcept {
  Header header{};
  std::memcpy(&header, image.data(), sizeof header);
  rows_ = header.rows;
  if (rows_ == 0) return;
  const std::byte* at = image.data() + sizeof header;
  common_ = {at, header.row_bytes};
  at += rounded(header.row_bytes);
  columns_ = {reinterpret_cast<const std::uint16_t*>(at), header.stored_bytes};
  stored_ = at + rounded(columns_.size_bytes());
}

void CompactRows::read(std::size_t row, std::span<std::byte> to) const noexcept {
  std::ranges::copy(common_, to.begin());
  const std::byte* stored = stored_ + row * columns_.size();
  for (const std::uint16_t column : columns_) to[column] = *stored++;
}

shmem::Region::Address NodeRows::offer(std::size_t share_from) {
  const std::size_t most = CompactRows::most_bytes(count_, row_bytes_);
  if (count_ == 0 || most < share_from) return {};
  try {
    region_ = shmem::Region::create({.what = "a table of the processes of the job", .bytes = most});
    return region_.address();
  } catch (const shmem::Error&) {
    return {};  // each has one of its own
  }
}

void NodeRows::set(std::size_t row, std::span<const std::byte> bytes) noexcept {
  std::memcpy(rows_.data() + row * row_bytes_, bytes.data(), row_bytes_);
}

void NodeRows::settle(const shmem::Region::Address& offer) {
  if (rows_.empty()) return;
  image_ = CompactRows::pack(rows_, row_bytes_);
  image_bytes_ = image_.size();
  rows_ = std::vector<std::byte>();  // not {}, which keeps the memory
  try {
    if (region_.size() == 0 && offer.bytes != 0) region_ = shmem::Region::open(offer);
  } catch (const shmem::Error&) {
    region_ = {};
  }
  if (region_.size() < image_.size()) region_ = {};
  if (region_.size() != 0) {
    std::memcpy(region_.data(), image_.data(), image_.size());
    image_ = std::vector<std::byte>();
  }
  compact_ = CompactRows({region_.size() != 0 ? region_.data() : image_.data(), image_bytes_});
}

void NodeRows::read(std::size_t row, std::span<std::byte> to) const noexcept {
  if (compact_.rows() != 0) return compact_.read(row, to);
  std::memcpy(to.data(), rows_.data() + row * row_bytes_, row_bytes_);
}

}  // namespace am
