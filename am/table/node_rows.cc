#include "am/table/node_rows.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "shmem/error.h"

namespace am {

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
