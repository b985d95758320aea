// Rows of random calls: all operations, of several teams, with sizes around those at which their
// messages change, in place or not, some of them started and ended later. Their results are held to
// what the members gave.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "splitc/splitc.h"
#include "tests/support/seed.h"

namespace {

using namespace splitc;
using Byte = std::uint8_t;
using Bytes = std::vector<Byte>;

constexpr std::array<std::size_t, 18> kSizes{0,     1,      39,     40,      41,      1000,
                                             4095,  4096,   4097,   8191,    32767,   32768,
                                             32769, 65'536, 65'537, 131'073, 300'001, 1'200'000};
constexpr std::size_t kMost = std::size_t{1} << 21;  // bytes of all members of a call
constexpr std::size_t kPending = 4;                  // started calls

constexpr auto kSum = [](Byte a, Byte b) { return static_cast<Byte>(a + b); };

// A call of a team. Its memory stays where it is.
class Row {
 public:
  enum class Operation { kBroadcast, kReduce, kGather, kGatherToOne, kToAll, kScan, kVarying };
  static constexpr std::uint64_t kOperations = 7;

  Row(const team& t, std::uint64_t number, Operation operation, std::size_t bytes,
      std::uint32_t root, bool in_place)
      : team_(t),
        number_(number),
        operation_(operation),
        bytes_(std::min(bytes, kMost / t.size())),
        root_(root % t.size()),
        in_place_(in_place && operation == Operation::kReduce) {
    const std::size_t parts = is_of_parts() ? t.size() : 1;
    for (std::size_t at = 0; at < parts * bytes_; ++at) input_.push_back(given(t.rank(), at));
    output_.assign(in_place_ ? 0 : (has_parts() ? t.size() : 1) * bytes_, 0xee);
    if (operation == Operation::kBroadcast && t.rank() == root_) output_ = input_;
  }
  Row(const Row&) = delete;
  Row& operator=(const Row&) = delete;

  // False: it has not been made, as there is no such call that can be started.
  bool start() {
    switch (operation_) {
      case Operation::kBroadcast: started_.emplace(team_.start_all_bcast(to(), root_)); return true;
      case Operation::kReduce:
        started_.emplace(team_.start_all_reduce(from(), to(), kSum));
        return true;
      case Operation::kGather: started_.emplace(team_.start_all_gather(from(), to())); return true;
      case Operation::kToAll: started_.emplace(team_.start_all_to_all(from(), to())); return true;
      default: return false;
    }
  }
  void make() {
    switch (operation_) {
      case Operation::kBroadcast: return team_.all_bcast(to(), root_);
      case Operation::kReduce: return team_.all_reduce(from(), to(), kSum);
      case Operation::kGather: return team_.all_gather(from(), to());
      case Operation::kGatherToOne: return team_.all_gather_to_one(from(), to());
      case Operation::kToAll: return team_.all_to_all(from(), to());
      case Operation::kScan: return scan();
      case Operation::kVarying: return vary();
    }
  }
  void wait() { started_->wait(); }

  void check() const {
    const bool has_result = operation_ != Operation::kGatherToOne || team_.rank() == 0;
    if (!has_result || !made_spans()) return;
    const Bytes& got = in_place_ ? input_ : output_;
    for (std::size_t at = 0; at < got.size(); ++at) {
      if (got[at] == expected(at)) continue;
      FAIL() << "byte " << at << " of " << got.size() << ", row " << number_ << ", operation "
             << static_cast<int>(operation_) << ", root " << root_ << " of " << team_.size();
    }
  }

 private:
  bool is_of_parts() const { return operation_ == Operation::kToAll; }
  bool has_parts() const {
    return is_of_parts() || operation_ == Operation::kGather ||
           operation_ == Operation::kGatherToOne;
  }
  bool made_spans() const {
    return operation_ != Operation::kScan && operation_ != Operation::kVarying;
  }
  std::span<Byte> from() { return input_; }
  std::span<Byte> to() { return in_place_ ? input_ : output_; }

  // What the member of a rank gives.
  Byte given(std::uint32_t rank, std::size_t at) const {
    return static_cast<Byte>(131 * number_ + 31 * rank + 7 * at + at / 253);
  }
  Byte expected(std::size_t at) const {
    const auto part = static_cast<std::uint32_t>(bytes_ == 0 ? 0 : at / bytes_);
    switch (operation_) {
      case Operation::kBroadcast: return given(root_, at);
      case Operation::kReduce: return sum_of(team_.size(), at);
      case Operation::kToAll: return given(part, team_.rank() * bytes_ + at % bytes_);
      default: return given(part, at % bytes_);
    }
  }
  Byte sum_of(std::uint32_t members, std::size_t at) const {
    Byte sum = 0;
    for (std::uint32_t rank = 0; rank < members; ++rank) sum = kSum(sum, given(rank, at));
    return sum;
  }

  void scan() {
    const Byte mine = given(team_.rank(), 0);
    EXPECT_EQ(team_.all_scan(mine, kSum), sum_of(team_.rank() + 1, 0));
    EXPECT_EQ(team_.all_exscan(mine, kSum, Byte{0}), sum_of(team_.rank(), 0));
    const Byte sum = team_.all_reduce_to_one(mine, kSum);
    if (team_.rank() == 0) {
      EXPECT_EQ(sum, sum_of(team_.size(), 0));
    }
  }
  // To each member another number of bytes: none to some.
  std::size_t count(std::uint32_t from, std::uint32_t to) const {
    return (from + to + number_) % 3 == 0 ? 0 : bytes_ / (1 + (from + 2 * to) % 4);
  }
  void vary() {
    Bytes mine;
    std::vector<std::size_t> counts;
    for (std::uint32_t rank = 0; rank < team_.size(); ++rank) {
      counts.push_back(count(team_.rank(), rank));
      for (std::size_t at = 0; at < counts.back(); ++at) mine.push_back(given(team_.rank(), at));
    }
    const auto got = team_.all_to_all_varying(mine, std::span<const std::size_t>(counts));
    for (std::uint32_t rank = 0; rank < team_.size(); ++rank) {
      const std::span<const Byte> part = got.of(rank);
      ASSERT_EQ(part.size(), count(rank, team_.rank())) << "row " << number_;
      for (std::size_t at = 0; at < part.size(); ++at) {
        if (part[at] != given(rank, at)) FAIL() << "row " << number_ << " of " << rank;
      }
    }
  }

  const team team_;
  const std::uint64_t number_;
  const Operation operation_;
  const std::size_t bytes_;  // of a member, or a part
  const std::uint32_t root_;
  const bool in_place_;
  Bytes input_, output_;
  std::optional<started<>> started_;
};

// All processes make the same choices. Of the teams that a process is in, calls of one are made in
// the same order by all its members.
TEST(RandomCalls, give_what_their_members_gave) {
  const team world = team::world();
  const auto me = static_cast<std::int64_t>(my_proc());
  const std::array<team, 5> teams{world, world.split(0, -me), world.split(me % 2),
                                  world.split(me / 2, -me), team::node()};
  std::mt19937_64 random(test::seed());
  const auto below = [&](std::uint64_t end) { return random() % end; };
  std::deque<std::unique_ptr<Row>> pending;
  const auto end = [&](std::size_t i) {
    pending[i]->wait();
    pending[i]->check();
    pending.erase(pending.begin() + static_cast<std::ptrdiff_t>(i));
  };
  for (std::uint64_t number = 0; number < 120; ++number) {
    const team& t = teams[below(teams.size())];
    const auto operation = static_cast<Row::Operation>(below(Row::kOperations));
    const std::size_t bytes = kSizes[below(kSizes.size())];
    const auto root = static_cast<std::uint32_t>(below(1000));
    const bool in_place = below(2) == 0, starts = below(3) == 0;
    auto row = std::make_unique<Row>(t, number, operation, bytes, root, in_place);
    if (starts && row->start()) {
      pending.push_back(std::move(row));
      if (pending.size() > kPending) end(below(pending.size()));
      continue;
    }
    row->make();
    row->check();
    if (testing::Test::HasFatalFailure()) return;
  }
  while (!pending.empty()) end(pending.size() - 1);
}

}  // namespace
