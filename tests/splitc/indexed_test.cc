#include "splitc/access/indexed.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "am/route/router.h"
#include "splitc/access/shapes.h"
#include "splitc/splitc.h"
#include "tests/splitc/element.h"
#include "tests/splitc/error_of.h"
#include "tests/splitc/neighbors.h"
#include "tests/splitc/nodes.h"
#include "tests/support/seed.h"

namespace {

using namespace splitc;
using test::Element;
using test::element;
using test::right;
using test::step;

// Of process `proc`, in its part for `writer`.
template <class T>
T first_element(std::uint32_t proc, std::uint32_t writer, std::size_t i) {
  return element<T>(proc + 3 * writer + 7 * i);
}

template <class T>
class ListOf : public testing::Test {
 public:
  // ListElements that each process has for each; fewer if they are large.
  static constexpr std::size_t kRoom = sizeof(T) > 1000 ? 40 : 3000;
  // Those of `writer` at `proc`.
  global_ptr<T> part(std::uint32_t proc, std::uint32_t writer = my_proc()) const {
    return all_.on(proc) + step(writer * kRoom);
  }
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  std::uint32_t any_proc() { return static_cast<std::uint32_t>(below(procs())); }
  // May have some index twice.
  template <class I>
  std::vector<I> any_indices() {
    std::vector<I> all(below(4) == 0 ? below(5) : below(kRoom));
    for (I& i : all) i = static_cast<I>(below(kRoom));
    return all;
  }
  // Has none twice.
  template <class I>
  std::vector<I> permuted_indices() {
    std::vector<I> all(kRoom);
    std::iota(all.begin(), all.end(), I{0});
    std::ranges::shuffle(all, random_);
    all.resize(below(kRoom));
    return all;
  }
  std::vector<T> contents(std::uint32_t proc) const {
    std::vector<T> now(kRoom);
    bulk_read(std::span(now), part(proc));
    return now;
  }
  static std::vector<T> first_contents(std::uint32_t proc) {
    std::vector<T> all(kRoom);
    for (std::size_t i = 0; i < kRoom; ++i) all[i] = first_element<T>(proc, my_proc(), i);
    return all;
  }

 protected:
  ListOf() : all_(all_spread_malloc<T>(std::uint64_t{procs()} * procs() * kRoom)) {
    for (std::uint32_t writer = 0; writer < procs(); ++writer) {
      for (std::size_t i = 0; i < kRoom; ++i) {
        all_.mine()[writer * kRoom + i] = first_element<T>(my_proc(), writer, i);
      }
    }
    barrier();
  }
  ~ListOf() override {
    barrier();
    all_spread_free(all_);
  }

 private:
  spread_ptr<T> all_;
  std::mt19937_64 random_{test::seed() + my_proc()};
};
using ListElements = testing::Types<std::uint8_t, float, double, Element<12>, Element<2100>,
                                    Element<4092>, Element<5000>>;
TYPED_TEST_SUITE(ListOf, ListElements);

template <class T, class I, class Test>
void get_with_indices_of(Test& test) {
  struct Get {
    std::uint32_t proc;
    std::vector<I> indices;
    std::vector<T> local;
  };
  std::vector<Get> gets(test::times<std::size_t>(20, 8));
  for (Get& get : gets) {
    get.proc = test.any_proc();
    get.indices = test.template any_indices<I>();
    get.local.resize(get.indices.size());
    auto given = get.indices;
    get_indexed(std::span(get.local), test.part(get.proc), std::span(given));
    std::ranges::fill(given, I{0});  // they may be reused
  }
  sync();
  for (const Get& get : gets) {
    for (std::size_t i = 0; i < get.indices.size(); ++i) {
      ASSERT_TRUE(get.local[i] == first_element<T>(get.proc, my_proc(), get.indices[i]));
    }
  }
}
TYPED_TEST(ListOf, get_takes_the_elements_with_the_indices) {
  get_with_indices_of<TypeParam, std::uint32_t>(*this);
  get_with_indices_of<TypeParam, std::uint64_t>(*this);
}

TYPED_TEST(ListOf, put_and_store_write_the_elements_with_the_indices_and_no_others) {
  using T = TypeParam;
  std::vector<std::vector<T>> expected;
  for (std::uint32_t proc = 0; proc < procs(); ++proc) {
    expected.push_back(this->first_contents(proc));
  }
  for (std::size_t round = 0; round < test::times<std::size_t>(20, 8); ++round) {
    const std::uint32_t proc = this->any_proc();
    auto indices = this->template permuted_indices<std::uint32_t>();
    std::vector<T> local(indices.size());
    for (std::size_t i = 0; i < local.size(); ++i) {
      expected[proc][indices[i]] = local[i] = element<T>(round + 5 * i);
    }
    if (round % 2 == 0) {
      put_indexed(this->part(proc), std::span(indices), local);
    } else {
      store_indexed(this->part(proc), std::span(indices), local);
    }
    std::ranges::fill(local, element<T>(99));
    std::ranges::fill(indices, 0u);
    all_store_sync();
  }
  for (std::uint32_t proc = 0; proc < procs(); ++proc) {
    ASSERT_TRUE(this->contents(proc) == expected[proc]) << "at process " << proc;
  }
}

// Pointers to all processes at once, near and far.
TYPED_TEST(ListOf, each_reads_and_writes_what_the_pointers_point_to) {
  using T = TypeParam;
  const std::size_t count = this->kRoom;
  std::vector<std::uint32_t> order(procs() * count);
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::shuffle(order, std::mt19937_64(test::seed() + 17 * my_proc()));
  order.resize(count);
  std::vector<global_ptr<T>> pointers;
  std::vector<T> local(count), expected;
  for (const std::uint32_t i : order) {
    const auto proc = static_cast<std::uint32_t>(i / count);
    pointers.push_back(this->part(proc) + step(i % count));
    expected.push_back(first_element<T>(proc, my_proc(), i % count));
  }
  const auto given = pointers;
  sync(get_each(std::span(local), pointers));
  ASSERT_TRUE(local == expected);
  barrier();
  for (std::size_t i = 0; i < count; ++i) local[i] = element<T>(11 + i);
  const auto half = count / 2;
  const std::span all(local);
  put_each(std::span(pointers).first(half), all.first(half));
  store_each(std::span(pointers).subspan(half), all.subspan(half));
  const auto written = local;
  std::ranges::fill(local, element<T>(99));
  std::ranges::fill(pointers, nullptr);
  all_store_sync();
  get_each(all, given);
  sync();
  EXPECT_TRUE(local == written);
}

// As messages do, which begin and end in the middle of an element that is longer than they are.
template <class Index>
void copy_any_part_of_list() {
  std::mt19937_64 random(test::seed());
  for (const std::uint64_t run : {1u, 2u, 3u, 4u, 8u, 12u, 16u, 40u}) {
    constexpr std::size_t kRows = 50;
    std::vector<std::byte> bytes(kRows * run), packed(kRows * run + 1);
    for (std::byte& b : bytes) b = static_cast<std::byte>(random());
    std::vector<Index> rows(kRows);
    std::iota(rows.begin(), rows.end(), Index{0});
    std::ranges::shuffle(rows, random);
    const auto shape = detail::Shape::listed(run, run, {rows.data(), kRows, sizeof(Index) == 8});
    ASSERT_EQ(shape.bytes(), kRows * run);
    ASSERT_EQ(shape.extent("test"), kRows * run);
    std::vector<std::byte> whole(kRows * run), back(kRows * run);
    for (std::size_t i = 0; i < whole.size(); ++i) whole[i] = bytes[rows[i / run] * run + i % run];
    for (std::uint64_t at = 0; at < whole.size();) {
      const std::uint64_t part = std::min(whole.size() - at, random() % (3 * run));
      std::ranges::fill(packed, std::byte{7});
      shape.gather(packed.data(), bytes.data(), at, part);
      const auto first = whole.begin() + static_cast<std::ptrdiff_t>(at);
      ASSERT_TRUE(std::equal(first, first + static_cast<std::ptrdiff_t>(part), packed.begin()));
      ASSERT_EQ(packed[part], std::byte{7});
      shape.scatter(back.data(), at, packed.data(), part);
      at += part;
    }
    ASSERT_EQ(back, bytes);
  }
}
TEST(List, any_part_of_its_elements_can_be_copied) {
  copy_any_part_of_list<std::uint32_t>();
  copy_any_part_of_list<std::uint64_t>();
}

TEST(List, stores_are_counted_in_bytes_at_their_targets) {
  const auto words = all_spread_malloc<std::uint32_t>(1000 * procs());
  store_counter lists;
  std::vector<std::uint64_t> indices(1000);
  std::iota(indices.begin(), indices.end(), 0u);
  const std::vector<std::uint32_t> values(1000, 6);
  store_indexed(words.on(right()), std::span(indices), values, lists);
  store_sync(4000, lists);
  EXPECT_EQ(words.mine()[999], 6u);
  std::vector<global_ptr<std::uint32_t>> everywhere;
  for (std::uint32_t proc = 0; proc < procs(); ++proc) {
    everywhere.push_back(words.on(proc) + my_proc());
  }
  barrier();
  store_each(everywhere, std::span(values).first(procs()), lists);
  store_sync(4 * procs(), lists);
  EXPECT_EQ(lists.available(), 0u);
  barrier();
  all_spread_free(words);
}

// --- Errors

TEST(List, of_nothing_does_nothing_and_checks_nothing) {
  const global_ptr<double> null;
  const std::span<const std::uint32_t> none;
  sync(get_indexed(std::span<double>(), null, none));
  sync(put_indexed(null, none, std::span<const double>()));
  store_indexed(null, none, std::span<const double>());
  sync(get_each(std::span<double>(), {}));
  sync(put_each({}, std::span<const double>()));
  store_each({}, std::span<const double>());
  EXPECT_TRUE(is_sync());
}

TEST(List, refuses_what_it_cannot_do_with_a_sentence) {
  const auto words = all_spread_malloc<std::uint64_t>(10 * procs());
  const global_ptr<std::uint64_t> there = words.on(right());
  const std::uint64_t segment = detail::place.segment_bytes;
  std::array<std::uint64_t, 2> local{};
  const std::span mine(local);
  const auto get = [&](global_ptr<std::uint64_t> p, std::array<std::uint64_t, 2> indices) {
    return [=] { get_indexed(mine, p, std::span(indices)); };
  };
  test::expect_error(get(nullptr, {0, 1}), {"get_indexed: the pointer is null"});
  test::expect_error(get({procs(), 4096}, {0, 1}), {"get_indexed: there is no process"});
  test::expect_error(get(there, {~std::uint64_t{0}, 1}),
                     {"get_indexed: 18446744073709551615 elements of 8 bytes", "any memory"});
  test::expect_error(get(there, {~std::uint64_t{0} / 8, 1}), {"get_indexed: ", "any memory"});
  test::expect_error(get(there, {0, segment / 8}), {"get_indexed: ", "outside its segment"});
  std::array<std::uint32_t, 3> three{};
  test::expect_error([&] { put_indexed(there, std::span(three), mine); },
                     {"put_indexed: 2 local elements for 3 global ones"});
  three[1] = static_cast<std::uint32_t>(segment / 8);
  test::expect_error([&] { store_indexed(there, std::span(three).first(2), mine); },
                     {"store_indexed: ", "outside its segment"});
  std::array<global_ptr<std::uint64_t>, 2> pointers{there, nullptr};
  test::expect_error([&] { get_each(mine, pointers); }, {"get_each: the pointer is null"});
  test::expect_error([&] { put_each(pointers, mine.first(1)); },
                     {"put_each: 1 local elements for 2 global ones"});
  pointers[1] = global_ptr<std::uint64_t>(procs(), 4096);
  test::expect_error([&] { store_each(pointers, mine); }, {"store_each: there is no process"});
  if constexpr (am::kChecked) {
    test::expect_error(get(there, {9, 10}), {"get_indexed: 88 bytes at", "run over the end"});
  }
  EXPECT_TRUE(is_sync()) << "nothing has been started";
  EXPECT_EQ(store_counter::default_counter().available(), 0u);
  barrier();
  all_spread_free(words);
}

// Runs in a handler: whether each is refused as it should be, or done if `p` is near.
bool lists_behave_in_handler(global_ptr<std::uint64_t> p) {
  static std::array<std::uint64_t, 2> local{};
  const std::span mine(local);
  const std::array<std::uint32_t, 2> indices{0, 2};
  const std::array<global_ptr<std::uint64_t>, 2> pointers{p, p + 2};
  const auto behaves = [far = test::is_far(p.proc())](const auto& call) {
    return test::is_of_handler(far, test::error_of(call));
  };
  return behaves([&] { get_indexed(mine, p, std::span(indices)); }) &&
         behaves([&] { put_indexed(p, std::span(indices), mine); }) &&
         behaves([&] { store_indexed(p, std::span(indices), mine); }) &&
         behaves([&] { get_each(mine, pointers); }) && behaves([&] { put_each(pointers, mine); }) &&
         behaves([&] { store_each(pointers, mine); });
}

TEST(List, in_a_handler_reaches_its_node_and_no_other) {
  const auto words = all_spread_malloc<std::uint64_t>(4 * procs());
  barrier();  // all know that it is theirs
  for (std::uint32_t proc = 0; proc < procs(); ++proc) {
    EXPECT_TRUE(rpc(right(), &lists_behave_in_handler, words.on(proc)).result());
  }
  barrier();
  reset_store_sync();
  barrier();
  all_spread_free(words);
}

}  // namespace
