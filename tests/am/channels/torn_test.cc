// What the receiver finds when it looks from inside the callback is whole, every word of it,
// however often. (Where a put was a memcpy whose last word says that it is complete it is not, from
// 256 bytes on: memcpy writes the last bytes of a block early.)
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tests/support/job_main.h"

namespace am {
namespace torn_test {

using ::test::barrier;
using ::test::bundle;
using ::test::job;
using ::test::rank;

constexpr std::array<std::uint64_t, 12> kSizes = {256,  264,  320,  512,  520,  1000,
                                                  1024, 1032, 2048, 2056, 4088, 4096};
constexpr std::uint64_t kRoom = 8192;

constexpr std::uint64_t word(std::uint64_t put, std::size_t size, std::uint64_t i) {
  return put * 0x9e3779b97f4a7c15u + size * 31 + i;
}

// A channel of each size from the left neighbour, and one back, of no bytes, that says "again".
class Lane {
 public:
  explicit Lane(std::size_t size) : size_(size), source_(kSizes[size] / sizeof(std::uint64_t)) {
    buffer_ = job().router().segment() + size * kRoom;
    in_.emplace_back(bundle(), std::span(buffer_, kSizes[size]), [this] { look(); });
    again_in_.emplace_back(bundle(), std::span(buffer_, 0), [this] {
      ++grants_;
      again_in_.front().ready();
    });
    const Rank right = (rank() + 1) % job().size();
    const Rank left = (rank() + job().size() - 1) % job().size();
    out_.emplace_back(bundle(), job().exchange(in_.front().handle())[right]);
    out_.front().associate(std::as_bytes(std::span(source_)));
    again_out_.emplace_back(bundle(), job().exchange(again_in_.front().handle())[left]);
    again_out_.front().associate(std::span<const std::byte>());
  }

  // The next put, if the last one has been looked at. Returns whether there was one.
  bool go_on(std::uint64_t puts) {
    if (put_ == puts || grants_ < put_ || !out_.front().reusable()) return false;
    ++put_;
    for (std::uint64_t i = 0; i < source_.size(); ++i) source_[i] = word(put_, size_, i);
    out_.front().put();
    return true;
  }
  bool done(std::uint64_t puts) const { return seen_ == puts && grants_ == puts; }
  std::uint64_t torn() const { return torn_; }

 private:
  void look() {
    ++seen_;
    const auto* const words = reinterpret_cast<const std::uint64_t*>(buffer_);
    std::uint64_t wrong = 0;
    for (std::uint64_t i = 0; i < kSizes[size_] / sizeof(std::uint64_t); ++i) {
      wrong |= words[i] ^ word(seen_, size_, i);
    }
    torn_ += wrong != 0;
    in_.front().ready();
    again_out_.front().put();
  }

  const std::size_t size_;
  std::byte* buffer_;
  std::vector<std::uint64_t> source_;
  std::vector<ReceiveChannel> in_;
  std::vector<ReceiveChannel> again_in_;
  std::vector<SendChannel> out_;
  std::vector<SendChannel> again_out_;
  std::uint64_t put_ = 0;
  std::uint64_t grants_ = 0;
  std::uint64_t seen_ = 0;
  std::uint64_t torn_ = 0;
};

void expect_whole(std::uint64_t puts) {
  std::vector<std::unique_ptr<Lane>> lanes;
  for (std::size_t size = 0; size < kSizes.size(); ++size) {
    lanes.push_back(std::make_unique<Lane>(size));
  }
  barrier();
  const std::uint64_t each = puts / kSizes.size() + 1;
  bundle().wait_until([&] {
    bool done = true;
    for (const auto& lane : lanes) {
      lane->go_on(each);
      done = done && lane->done(each);
    }
    return done;
  });
  for (std::size_t size = 0; size < kSizes.size(); ++size) {
    EXPECT_EQ(lanes[size]->torn(), 0u) << kSizes[size] << " bytes";
  }
  barrier();
}

TEST(Torn, never_in_some_puts) { expect_whole(20'000); }
TEST(Torn, never_in_a_million_puts) { expect_whole(1'000'000); }

}  // namespace torn_test
}  // namespace am
