// Conformance: reads, and words that are read and written while they change.
#include <atomic>
#include <random>
#include <vector>

#include "tests/am/link/memory.h"

namespace am::conformance {
namespace {

using ::test::barrier;
using ::test::bundle;
using ::test::job;

constexpr std::uint64_t kPainted = std::uint64_t{5} << 20;
constexpr std::size_t kGuard = 32;  // bytes before and after what is read, that must stay

// A read, and where it went.
struct Read {
  Rank rank;
  std::uint64_t offset;
  std::size_t bytes;
  std::vector<std::byte> room;  // with guards around
  std::span<std::byte> span() { return std::span(room).subspan(kGuard, bytes); }
};

class Gets : public Memory {
 protected:
  // All at once; `rank`, `offset` and `bytes` of each are given.
  static void run(std::vector<Read>& reads) {
    paint(0, kPainted);
    barrier();
    begin(reads.size());
    for (std::uint32_t i = 0; i < reads.size(); ++i) {
      Read& read = reads[i];
      read.room.assign(read.bytes + 2 * kGuard, std::byte{0xee});
      get(read.rank, read.offset, read.span(), i);
    }
    wait_for_all();
    for (Read& read : reads) {
      const auto wrong = background(read.rank).difference(read.span(), read.offset);
      EXPECT_FALSE(wrong) << read.bytes << " bytes of rank " << read.rank << " from " << read.offset
                          << " differ from byte " << *wrong;
      for (std::size_t i = 0; i < kGuard; ++i) {
        EXPECT_EQ(read.room[i], std::byte{0xee});
        EXPECT_EQ(read.room[kGuard + read.bytes + i], std::byte{0xee});
      }
    }
    barrier();
  }
};

TEST_F(Gets, bring_what_is_there) {
  std::mt19937_64 random(::test::seed() + job().rank());
  const std::vector<std::size_t> sizes = all_sizes();
  std::vector<Read> reads;
  for (const std::uint32_t i : shuffled(sizes.size(), job().rank())) {
    for (Rank rank = 0; rank < job().size(); ++rank) {
      std::uint64_t offset = random() % (kPainted - sizes[i]);
      if (random() % 2 == 0) offset = offset / 64 * 64;
      reads.push_back({rank, offset, sizes[i], {}});
    }
  }
  run(reads);
}

TEST_F(Gets, that_are_big_do_too) {
  const Rank next = (job().rank() + 1) % job().size();
  std::vector<Read> reads;
  for (const std::uint64_t offset : {0, 1, 4096}) reads.push_back({next, offset, kBig, {}});
  run(reads);
}

// The n-th value of a word of that type, of two equal halves.
template <class Word>
Word twice(std::uint64_t n) {
  constexpr int kHalf = sizeof(Word) * 4;
  const auto half = static_cast<Word>(n & ((Word{1} << kHalf) - 1));
  return static_cast<Word>(half << kHalf | half);
}
template <class Word>
bool is_twice(Word word) {
  return word == twice<Word>(word);
}

template <class Word>
class Words : public Memory {
 protected:
  static std::atomic_ref<Word> word(std::uint64_t offset) {
    return std::atomic_ref(*reinterpret_cast<Word*>(mine(offset)));
  }
};
using WordTypes = testing::Types<std::uint16_t, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(Words, WordTypes);

// Every process changes a word of its own between polls, puts one to the next process, and gets the
// changing word of the one after.
TYPED_TEST(Words, come_and_go_in_one_piece) {
  using Word = TypeParam;
  constexpr std::uint32_t kRounds = 200;
  constexpr std::uint64_t kPut = kWords + 64;
  const Rank to = (job().rank() + 1) % job().size();
  const Rank from = (job().rank() + 2) % job().size();
  this->word(kWords).store(0, std::memory_order_relaxed);
  this->word(kPut).store(0, std::memory_order_relaxed);
  barrier();
  this->begin(2 * kRounds);
  std::vector<Word> got(kRounds);
  for (std::uint32_t i = 0; i < kRounds; ++i) {
    const Word value = twice<Word>(i + 1);
    this->get(from, kWords, std::as_writable_bytes(std::span(&got[i], 1)), 2 * i);
    this->put(to, kPut, std::as_bytes(std::span(&value, 1)), 2 * i + 1);
    bundle().wait_until([&, n = std::uint64_t{i} * 100]() mutable {
      this->word(kWords).store(twice<Word>(++n), std::memory_order_relaxed);
      EXPECT_TRUE(is_twice(this->word(kPut).load(std::memory_order_relaxed)));
      return this->done().size() == 2 * (i + 1);  // no order is kept between puts
    });
    EXPECT_TRUE(is_twice(got[i])) << +got[i];
  }
  this->wait_for_all();
  barrier();
  EXPECT_EQ(this->word(kPut).load(std::memory_order_relaxed), twice<Word>(kRounds));
  barrier();
}

}  // namespace
}  // namespace am::conformance
