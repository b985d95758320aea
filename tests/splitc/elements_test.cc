// Calls that take several elements take them however they are held.

#include "splitc/world/elements.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "splitc/splitc.h"
#include "tests/splitc/neighbors.h"

namespace splitc {
namespace {

using ::test::left;
using ::test::right;

using Two = std::array<long, 2>;
long sum_of_ranks() { return long{procs()} * (procs() - 1) / 2; }

// What is one value and what is several elements.
static_assert(detail::one_value<int> && detail::one_value<Two> && detail::one_value<int*>);
static_assert(detail::only_elements<std::span<long>> && detail::only_elements<std::span<long, 2>> &&
              detail::only_elements<long[2]> && detail::only_elements<std::vector<long>&> &&
              detail::only_elements<std::string> && detail::only_elements<std::array<int*, 2>>);
// A temporary vector would be gone when the call goes on.
template <class R>
concept can_be_got = requires(R&& local, global_ptr<long> p) {
  bulk_get(std::forward<R>(local), p);
};
static_assert(can_be_got<std::vector<long>&> && can_be_got<std::span<long>> && can_be_got<Two&>);
static_assert(!can_be_got<std::vector<long>> && !can_be_got<Two>);
template <class R>
concept can_be_put = requires(R&& local, global_ptr<long> p) {
  bulk_put(p, std::forward<R>(local));
};
static_assert(can_be_put<const std::vector<long>&> && can_be_put<std::span<const long>> &&
              can_be_put<long (&)[2]>);
static_assert(!can_be_put<std::vector<long>> && !can_be_put<Two> && !can_be_put<std::vector<int>&>);
template <class R>
concept can_be_stored = requires(R&& local, global_ptr<long> p) {
  start_bulk_store(p, std::forward<R>(local));
};
static_assert(can_be_stored<const Two&> && can_be_stored<std::span<long, 2>>);
static_assert(!can_be_stored<std::vector<long>> && !can_be_stored<Two>);

// The pair of this process, seen by its right neighbour.
template <class Pair>
void expect_from_left(const Pair& pair) {
  EXPECT_EQ(pair[0], long{left()});
  EXPECT_EQ(pair[1], -long{left()});
}

TEST(Elements, of_bulk_calls_are_arrays_vectors_and_spans) {
  spread_array<long> x(procs(), 2);
  Two array{long{my_proc()}, -long{my_proc()}};
  long c[2] = {array[0], array[1]};
  std::vector<long> vector(array.begin(), array.end());
  const auto check = [&](const std::function<void(global_ptr<long>)>& write) {
    write(x.on(right()));
    barrier();
    Two got{};
    long read[2] = {};
    std::vector<long> by_sync(2);
    bulk_get(got, x.on(my_proc()));
    bulk_get(by_sync, x.on(my_proc()));
    bulk_read(read, x.on(my_proc()));
    sync();
    expect_from_left(got);
    expect_from_left(read);
    expect_from_left(by_sync);
    barrier();
    bulk_write(x.on(my_proc()), Two{});
    barrier();
  };
  check([&](auto to) { bulk_write(to, c); });
  check([&](auto to) { bulk_write(to, std::span(array)); });
  check([&](auto to) { bulk_put(to, array).wait(); });
  check([&](auto to) {
    bulk_store(to, vector);
    store_sync(sizeof array);
  });
  check([&](auto to) { put_strided(to, {.rows = 2, .row_stride = 1}, c).wait(); });
}

TEST(Elements, of_shapes_and_lists_are_arrays_vectors_and_spans) {
  spread_array<long> x(procs(), 4);
  for (std::size_t i = 0; i < 4; ++i) x.mine()[i] = long{my_proc()} * 10 + static_cast<long>(i);
  barrier();
  const long first = long{right()} * 10;
  Two columns{}, list{}, each{};
  long in_c[2] = {};
  const std::array<std::uint32_t, 2> indices = {3, 1};
  const std::vector<global_ptr<long>> pointers = {x.on(right()) + 2, x.on(right())};
  get_strided(columns, x.on(right()), {.rows = 2, .row_stride = 2});
  get_indexed(list, x.on(right()), indices);
  get_indexed(in_c, x.on(right()), std::span(indices));
  get_each(each, pointers);
  sync();
  EXPECT_EQ(columns, (Two{first, first + 2}));
  EXPECT_EQ(list, (Two{first + 3, first + 1}));
  EXPECT_EQ(in_c[1], first + 1);
  EXPECT_EQ(each, (Two{first + 2, first}));
  barrier();
  put_indexed(x.on(right()), indices, Two{7, 8});
  put_each(pointers, in_c);
  sync();
  barrier();
  EXPECT_EQ(x.mine()[3], 7);
  EXPECT_EQ(x.mine()[1], 8);
  EXPECT_EQ(x.mine()[2], long{my_proc()} * 10 + 3);
}

// Of a fixed number they were taken for one value once: an address of the root.
template <class Them>
void expect_broadcasts_elements(const Them& them) {
  const std::uint32_t root = procs() - 1;
  Two array{long{my_proc()}, 5};
  them.all_bcast(std::span(array), root);
  EXPECT_EQ(array, (Two{long{root}, 5}));
  long c[2] = {long{my_proc()}, 6};
  them.all_bcast(c, root);
  EXPECT_EQ(c[0], long{root});
  std::string text = my_proc() == root ? "right" : "wrong";
  them.all_bcast(text, root);
  EXPECT_EQ(text, "right");
  std::vector<long> started(2, my_proc());
  them.start_all_bcast(started, root).wait();
  EXPECT_EQ(started[1], long{root});
  array[0] = my_proc();
  them.start_all_bcast(std::span(array), root).wait();
  EXPECT_EQ(array[0], long{root});
  const Two value = them.all_bcast(Two{long{my_proc()}, 7}, root);
  EXPECT_EQ(value, (Two{long{root}, 7}));
}
template <class Them>
void expect_gathers_elements(const Them& them) {
  const Two mine{long{my_proc()}, 1};
  Two sums{};
  long in_c[2] = {};
  them.all_reduce(mine, sums, std::plus());
  EXPECT_EQ(sums, (Two{sum_of_ranks(), long{procs()}}));
  them.start_all_reduce(std::span(mine), in_c, std::plus()).wait();
  EXPECT_EQ(in_c[0], sum_of_ranks());
  std::vector<long> all(2 * procs()), transposed(2 * procs()), by_start(2 * procs());
  them.all_gather(mine, all);
  EXPECT_EQ(all[2 * right()], long{right()});
  them.all_to_all(all, transposed);
  for (std::uint32_t proc = 0; proc < procs(); ++proc) {
    EXPECT_EQ(transposed[2 * proc], long{my_proc()});
  }
  them.start_all_gather(mine, by_start).wait();
  EXPECT_EQ(by_start, all);
  them.start_all_to_all(all, by_start).wait();
  EXPECT_EQ(by_start, transposed);
  std::vector<long> at_one(my_proc() == 0 ? 2 * procs() : 0);
  them.all_gather_to_one(std::span(mine), at_one);
  if (my_proc() == 0) {
    EXPECT_EQ(at_one, all);
  }
}

// The calls of the job, by the names that those of a team have.
struct Job {
  template <class... A>
  auto all_bcast(A&&... a) const {
    return splitc::all_bcast(std::forward<A>(a)...);
  }
  template <class... A>
  auto start_all_bcast(A&&... a) const {
    return splitc::start_all_bcast(std::forward<A>(a)...);
  }
  template <class... A>
  auto all_reduce(A&&... a) const {
    return splitc::all_reduce(std::forward<A>(a)...);
  }
  template <class... A>
  auto start_all_reduce(A&&... a) const {
    return splitc::start_all_reduce(std::forward<A>(a)...);
  }
  template <class... A>
  auto all_gather(A&&... a) const {
    return splitc::all_gather(std::forward<A>(a)...);
  }
  template <class... A>
  auto start_all_gather(A&&... a) const {
    return splitc::start_all_gather(std::forward<A>(a)...);
  }
  template <class... A>
  auto all_gather_to_one(A&&... a) const {
    return splitc::all_gather_to_one(std::forward<A>(a)...);
  }
  template <class... A>
  auto all_to_all(A&&... a) const {
    return splitc::all_to_all(std::forward<A>(a)...);
  }
  template <class... A>
  auto start_all_to_all(A&&... a) const {
    return splitc::start_all_to_all(std::forward<A>(a)...);
  }
};

TEST(Elements, of_collective_calls_are_arrays_vectors_and_spans) {
  expect_broadcasts_elements(Job());
  expect_gathers_elements(Job());
}

TEST(Elements, of_calls_of_teams_are_arrays_vectors_and_spans) {
  expect_broadcasts_elements(team::world());
  expect_gathers_elements(team::world());
}

TEST(OneWayAtomics, take_elements_of_arrays) {
  spread_array<long> x(procs());
  atomic_add(x[right()], 5);
  atomic_add(x[right()], 2);
  quiesce();
  EXPECT_EQ(x.mine()[0], 7);
  barrier();
  atomic_max(x[left()], 15);
  quiesce();
  EXPECT_EQ(x.mine()[0], 15);
  barrier();
  atomic_xor(x[left()], 1);
  quiesce();
  EXPECT_EQ(x.mine()[0], 14);
}

}  // namespace
}  // namespace splitc
