#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <random>
#include <vector>

#include "splitc/splitc.h"
#include "tests/splitc/neighbors.h"
#include "tests/splitc/nodes.h"
#include "tests/support/seed.h"

// Random traffic against a mirror that every process computes for itself. In each phase every
// element has one process that may write it; then all read.

namespace {

using namespace splitc;

template <class T>
T make(std::uint64_t bits) {
  T value;
  static_assert(sizeof(T) <= 4 * sizeof bits);
  const std::uint64_t words[4] = {bits, ~bits, bits * 3, bits ^ 0x5555};
  std::memcpy(&value, words, sizeof value);
  return value;
}
template <class T>
bool same(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}
template <class T>
T random_value(std::mt19937_64& random) {
  return make<T>(random());
}
template <>
double random_value<double>(std::mt19937_64& random) {
  return static_cast<double>(random()) / 3;
}

template <class T>
void write_somehow(unsigned how, global_ptr<T> p, const T& value) {
  switch (how % 4) {
    case 0: *p = value; break;
    case 1: write(p, value); break;
    case 2: put(p, value); break;
    default: put(*p, value); break;
  }
}
template <class T>
void read_somehow(unsigned how, global_ptr<T> p, T& value) {
  switch (how % 4) {
    case 0: value = *p; break;
    case 1: value = read(p); break;
    case 2: get(value, p); break;
    default: get(value, *p); break;
  }
}

template <class T>
void expect_mirrored() {
  constexpr std::size_t kElements = 200;
  const int phases = test::times(20, 3);
  std::mt19937_64 random(test::seed());  // the same in all processes
  std::vector<T> mirror(kElements);
  std::memset(static_cast<void*>(mirror.data()), 0, sizeof(T) * kElements);
  const spread_ptr<T> a = all_spread_malloc<T>(kElements);
  for (int phase = 0; phase < phases; ++phase) {
    for (std::size_t i = 0; i < kElements; ++i) {
      const auto writer = static_cast<std::uint32_t>(random() % (procs() + 1));
      const auto how = static_cast<unsigned>(random());
      const T value = random_value<T>(random);
      if (writer == procs()) continue;  // nobody
      mirror[i] = value;
      const auto index = static_cast<std::ptrdiff_t>(i);
      if (writer == my_proc()) write_somehow<T>(how, global_ptr<T>(a + index), value);
    }
    sync();
    barrier();
    std::vector<T> seen(kElements);
    for (std::size_t i = 0; i < kElements; ++i) {
      read_somehow<T>(static_cast<unsigned>(i + my_proc()),
                      global_ptr<T>(a + static_cast<std::ptrdiff_t>(i)), seen[i]);
    }
    sync();
    for (std::size_t i = 0; i < kElements; ++i) ASSERT_TRUE(same(seen[i], mirror[i])) << i;
    barrier();
  }
  all_spread_free(a);
}

struct Odd {
  char bytes[11];
};
struct Pair {
  std::uint64_t first;
  std::uint32_t second[2];
};

TEST(Access, of_bytes_agrees_with_a_mirror) { expect_mirrored<std::uint8_t>(); }
TEST(Access, of_shorts_agrees_with_a_mirror) { expect_mirrored<std::int16_t>(); }
TEST(Access, of_ints_agrees_with_a_mirror) { expect_mirrored<std::int32_t>(); }
TEST(Access, of_doubles_agrees_with_a_mirror) { expect_mirrored<double>(); }
TEST(Access, of_structs_agrees_with_a_mirror) { expect_mirrored<Pair>(); }
TEST(Access, of_odd_sizes_agrees_with_a_mirror) { expect_mirrored<Odd>(); }

TEST(Access, of_pointers_in_global_memory_follows_a_list_over_all_processes) {
  struct Link {
    global_ptr<Link> next;
    std::uint32_t owner;
  };
  const auto links = all_spread_malloc<Link>(procs());
  *links.on(my_proc()) = Link{links.on(test::right()), my_proc()};
  barrier();
  global_ptr<Link> at = links.on(my_proc());
  for (std::uint32_t step = 0; step <= procs(); ++step) {
    const Link link = *at;
    EXPECT_EQ(link.owner, (my_proc() + step) % procs());
    at = link.next;
  }
  all_spread_free(links);
}

// --- Bulk

enum class How : unsigned { kWrite, kPut, kStore, kWriteSpan, kPutSpan, kStoreSpan, kEnd };

void write_bulk(How how, global_ptr<std::uint8_t> to, const std::vector<std::uint8_t>& from) {
  const std::span<const std::uint8_t> span(from);
  switch (how) {
    case How::kWrite: return bulk_write(to, from.data(), from.size());
    case How::kPut: bulk_put(to, from.data(), from.size()); return;
    case How::kStore: return bulk_store(to, from.data(), from.size());
    case How::kWriteSpan: return bulk_write(to, span);
    case How::kPutSpan: bulk_put(to, span); return;
    default: return bulk_store(to, span);
  }
}
void read_bulk(unsigned how, std::vector<std::uint8_t>& to, global_ptr<std::uint8_t> from) {
  const std::span<std::uint8_t> span(to);
  switch (how % 4) {
    case 0: return bulk_read(to.data(), from, to.size());
    case 1: bulk_get(to.data(), from, to.size()); return;
    case 2: return bulk_read(span, from);
    default: bulk_get(span, from); return;
  }
}

TEST(Bulk, ranges_of_all_sizes_agree_with_a_mirror) {
  constexpr std::size_t kPart = 20000;  // bytes that each process may write at each other
  constexpr std::size_t kSizes[] = {0, 1, 7, 8, 63, 64, 65, 4095, 4096, 4097, 19999, kPart};
  std::mt19937_64 random(test::seed());
  spread_array<std::uint8_t> a(procs() * procs() * kPart, blocked);
  std::vector<std::uint8_t> mirror(procs() * procs() * kPart);
  const int phases = test::times(12, 4);
  for (int phase = 0; phase < phases; ++phase) {
    std::deque<std::vector<std::uint8_t>> sources;  // of puts, until sync()
    for (std::uint32_t from = 0; from < procs(); ++from) {
      for (std::uint32_t to = 0; to < procs(); ++to) {
        const std::size_t bytes = kSizes[random() % std::size(kSizes)];
        const std::size_t at = from * kPart + random() % (kPart - bytes + 1);
        const auto how = static_cast<How>(random() % static_cast<unsigned>(How::kEnd));
        std::vector<std::uint8_t>& data = sources.emplace_back(bytes);
        for (auto& byte : data) byte = static_cast<std::uint8_t>(random());
        std::copy(data.begin(), data.end(),
                  mirror.begin() + static_cast<std::ptrdiff_t>(to * procs() * kPart + at));
        if (from == my_proc()) write_bulk(how, a.on(to) + static_cast<std::ptrdiff_t>(at), data);
      }
    }
    all_store_sync();
    for (unsigned how = 0; how < 4; ++how) {
      const std::size_t at = (my_proc() * 977 + how * 131) % mirror.size();
      const std::uint32_t proc = a.owner(at);
      const std::size_t bytes = std::min(mirror.size() - at, a.size_on(proc) - a.local(at));
      std::vector<std::uint8_t> seen(bytes);
      read_bulk(how, seen, a.pointer(at));
      sync();
      ASSERT_TRUE(
          std::equal(seen.begin(), seen.end(), mirror.begin() + static_cast<std::ptrdiff_t>(at)));
    }
    const auto mine = a.mine();
    ASSERT_TRUE(std::equal(mine.begin(), mine.end(),
                           mirror.begin() + static_cast<std::ptrdiff_t>(my_proc() * mine.size())));
    barrier();
  }
}

TEST(Bulk, a_spread_pointer_names_the_range_of_the_process_it_points_to) {
  constexpr std::size_t kWords = 9;
  const auto spread = all_spread_malloc<std::uint32_t>(procs() * kWords);
  std::uint32_t out[kWords];
  std::uint32_t in[kWords];
  for (std::uint32_t how = 0; how < 3; ++how) {
    for (std::uint32_t k = 0; k < kWords; ++k) out[k] = (how * 100 + my_proc()) * 100 + k;
    switch (how) {
      case 0: bulk_write(spread + test::right(), out, sizeof out); break;
      case 1: bulk_put(spread + test::right(), out, sizeof out); break;
      default: bulk_store(spread + test::right(), out, sizeof out); break;
    }
    all_store_sync();
    for (std::uint32_t k = 0; k < kWords; ++k) {
      ASSERT_EQ(spread.mine()[k], (how * 100 + test::left()) * 100 + k);
    }
    bulk_read(in, spread + test::right(), sizeof in);
    ASSERT_TRUE(std::equal(in, in + kWords, out));
    bulk_get(in, spread + my_proc(), sizeof in);
    sync();
    ASSERT_TRUE(std::equal(in, in + kWords, spread.mine()));
    barrier();
  }
  all_spread_free(spread);
}

TEST(Bulk, ranges_of_the_own_segment_may_overlap) {
  constexpr std::ptrdiff_t kBytes = 1000;
  const spread_array<std::uint8_t> a(procs() * 2 * kBytes, blocked);
  const std::span<std::uint8_t> mine = a.mine();
  for (const std::ptrdiff_t by : {-7, 0, 1, 500}) {
    for (int how = 0; how < 5; ++how) {
      for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = static_cast<std::uint8_t>(i * i);
      const std::vector<std::uint8_t> before(mine.begin(), mine.end());
      const global_ptr<std::uint8_t> to = a.on(my_proc()) + 500 + by;
      const std::span<std::uint8_t> from = mine.subspan(500, kBytes);
      switch (how) {
        case 0: bulk_write(to, from); break;
        case 1: bulk_put(to, from); break;
        case 2: bulk_store(to, from); break;
        case 3: bulk_read(tolocal(to), a.on(my_proc()) + 500, kBytes); break;
        default: bulk_get(tolocal(to), a.on(my_proc()) + 500, kBytes); break;
      }
      sync();
      ASSERT_TRUE(std::equal(before.begin() + 500, before.begin() + 500 + kBytes, tolocal(to)));
    }
  }
  all_store_sync();
}

TEST(Access, of_objects_that_overlap_moves_the_old_bytes) {
  const spread_array<char> a(procs() * 64, blocked);
  const std::span<char> mine = a.mine();
  const global_ptr<Odd> first(a.on(my_proc()));
  const global_ptr<Odd> second(a.on(my_proc()) + 5);
  for (int how = 0; how < 4; ++how) {
    for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = static_cast<char>(i);
    switch (how) {
      case 0: *second = *tolocal(first); break;
      case 1: put(second, *tolocal(first)); break;
      case 2: store(second, *tolocal(first)); break;
      default: get(*tolocal(second), first); break;
    }
    sync();
    for (std::size_t i = 0; i < sizeof(Odd); ++i) ASSERT_EQ(mine[5 + i], static_cast<char>(i));
  }
  all_store_sync();
}

// --- Memory that is const may be read, and nothing else compiles

template <class T>
concept Writes = requires(global_ptr<T> p, T x) {
  write(p, x);
}
|| requires(global_ptr<T> p, T x) { put(p, x); }
|| requires(global_ptr<T> p, T x) { store(p, x); }
|| requires(global_ptr<T> p, T x) { bulk_write(p, &x, 4); }
|| requires(global_ptr<T> p, T x) { bulk_put(p, &x, 4); }
|| requires(global_ptr<T> p, T x) { bulk_store(p, &x, 4); }
|| requires(global_ptr<T> p) { fetch_and_add(p, 1); }
|| requires(global_ptr<T> p) { exchange(p, 1); }
|| requires(global_ptr<T> p) { *p = 1; };
template <class T>
concept Reads = requires(global_ptr<T> p, std::remove_const_t<T> x) {
  x = *p;
  get(x, p);
  bulk_get(&x, p, 4);
  bulk_read(&x, p, 4);
};
static_assert(Writes<int> && !Writes<const int> && Reads<int> && Reads<const int>);

}  // namespace
