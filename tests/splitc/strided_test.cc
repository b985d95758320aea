#include "splitc/access/strided.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "am/route/router.h"
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
using test::left;
using test::right;
using test::step;

// Where the elements of a shape are, in their order.
std::vector<std::size_t> places(const strided& shape) {
  std::vector<std::size_t> all;
  for (std::uint64_t plane = 0; plane < shape.planes; ++plane) {
    for (std::uint64_t row = 0; row < shape.rows; ++row) {
      for (std::uint64_t i = 0; i < shape.run; ++i) {
        all.push_back(plane * shape.plane_stride + row * shape.row_stride + i);
      }
    }
  }
  return all;
}

// Random shapes that fit a room of so many elements.
class Shapes {
 public:
  explicit Shapes(std::size_t room) : room_(room) {}

  // Without overlaps. Sometimes the planes lie in the gaps of the rows.
  strided any() {
    for (;;) {
      const std::uint64_t long_run = below(8) == 0 ? 300 : 4;
      strided shape{.run = below(6) == 0 ? below(long_run) : 1 + below(long_run),
                    .rows = static_cast<std::uint32_t>(1 + below(below(4) == 0 ? 700 : 20)),
                    .planes = static_cast<std::uint32_t>(1 + below(5))};
      if (below(3) == 0) {
        shape.plane_stride = shape.run + below(3);
        shape.row_stride = shape.plane_stride * shape.planes + below(4);
      } else {
        shape.row_stride = shape.run + below(4);
        shape.plane_stride = shape.row_stride * shape.rows + below(9);
      }
      if (fits(shape)) return shape;
    }
  }
  // Of as many elements, divided in another way.
  strided like(const strided& other) {
    const std::uint64_t size = other.size();
    std::uint64_t run = 1 + below(9);
    while (size % run != 0) --run;
    const strided made{
        .run = run, .rows = static_cast<std::uint32_t>(size / run), .row_stride = run + below(3)};
    return fits(made) ? made : strided{.run = size};
  }
  std::size_t begin(const strided& shape) {
    const auto all = places(shape);
    return all.empty() ? 0 : below(room_ - *std::ranges::max_element(all));
  }
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

 private:
  bool fits(const strided& shape) const {
    return shape.plane_stride * shape.planes + shape.row_stride * shape.rows + shape.run <= room_;
  }

  const std::size_t room_;
  std::mt19937_64 random_{test::seed() + my_proc()};
};

constexpr std::size_t kRoom = 6000;  // elements

// Memory of each process: a part for each process, of kRoom elements, that has known contents.
template <class T>
class Field {
 public:
  Field() : all_(all_spread_malloc<T>(std::uint64_t{procs()} * procs() * kRoom)) {
    for (std::size_t i = 0; i < procs() * kRoom; ++i) {
      all_.mine()[i] = element<T>(my_proc() + 7 * (i % kRoom));
    }
    barrier();
  }
  ~Field() {
    barrier();
    all_spread_free(all_);
  }
  Field(const Field&) = delete;
  Field& operator=(const Field&) = delete;

  static T at_first(std::uint32_t proc, std::size_t i) { return element<T>(proc + 7 * i); }
  // This process's part at `proc`.
  global_ptr<T> part(std::uint32_t proc) const {
    return all_.on(proc) + static_cast<std::ptrdiff_t>(my_proc() * kRoom);
  }
  // What is there now.
  std::vector<T> contents(std::uint32_t proc) const {
    std::vector<T> now(kRoom);
    bulk_read(std::span(now), part(proc));
    return now;
  }
  static std::vector<T> first_contents(std::uint32_t proc) {
    std::vector<T> all(kRoom);
    for (std::size_t i = 0; i < kRoom; ++i) all[i] = at_first(proc, i);
    return all;
  }

 private:
  spread_ptr<T> all_;
};

template <class T>
class StridedOf : public testing::Test {};
using StridedElements = testing::Types<std::uint8_t, float, double, Element<12>, Element<40>>;
TYPED_TEST_SUITE(StridedOf, StridedElements);

// Many in flight at once; both sides of any shape.
TYPED_TEST(StridedOf, gets_take_the_elements_of_the_shape_and_touch_no_others) {
  using T = TypeParam;
  Field<T> field;
  Shapes shapes(kRoom);
  struct Get {
    std::vector<T> local, expected;
  };
  std::vector<Get> gets(test::times<std::size_t>(60, 30));
  for (Get& get : gets) {
    const auto proc = static_cast<std::uint32_t>(shapes.below(procs()));
    strided theirs = shapes.any();
    if (shapes.below(8) == 0) theirs.row_stride = 0;  // the same run again and again
    const std::size_t begin = shapes.begin(theirs);
    const strided mine = shapes.like(theirs);
    const auto from = places(theirs);
    const auto to = places(mine);
    get.local.assign(kRoom, element<T>(99));
    get.expected = get.local;
    for (std::size_t i = 0; i < from.size(); ++i) {
      get.expected[to[i]] = field.at_first(proc, begin + from[i]);
    }
    get_strided(get.local.data(), mine, field.part(proc) + step(begin), theirs);
  }
  sync();
  for (const Get& get : gets) ASSERT_TRUE(get.local == get.expected);
}

TYPED_TEST(StridedOf, puts_and_stores_write_the_elements_of_the_shape_and_no_others) {
  using T = TypeParam;
  Field<T> field;
  Shapes shapes(kRoom);
  std::vector<std::vector<T>> expected;
  for (std::uint32_t proc = 0; proc < procs(); ++proc) {
    expected.push_back(field.first_contents(proc));
  }
  std::vector<T> local(kRoom);
  for (std::size_t round = 0; round < test::times<std::size_t>(60, 30); ++round) {
    const auto proc = static_cast<std::uint32_t>(shapes.below(procs()));
    const strided theirs = shapes.any();
    const std::size_t begin = shapes.begin(theirs);
    const strided mine = shapes.like(theirs);
    for (std::size_t i = 0; i < kRoom; ++i) local[i] = element<T>(round + 3 * i);
    const auto from = places(mine);
    const auto to = places(theirs);
    for (std::size_t i = 0; i < to.size(); ++i) expected[proc][begin + to[i]] = local[from[i]];
    const global_ptr<T> target = field.part(proc) + step(begin);
    if (round % 2 == 0) {
      put_strided(target, theirs, local.data(), mine);
      std::ranges::fill(local, element<T>(77));  // it may be reused
      sync();
    } else {
      store_strided(target, theirs, local.data(), mine);
      std::ranges::fill(local, element<T>(77));
      all_store_sync();
    }
  }
  for (std::uint32_t proc = 0; proc < procs(); ++proc) {
    ASSERT_TRUE(field.contents(proc) == expected[proc]) << "at process " << proc;
  }
}

// A matrix of many rows: more pieces than there are credits, several operations at a time.
TEST(Strided, operations_may_be_larger_than_all_that_can_be_in_flight) {
  constexpr std::uint32_t kRows = 30'000;
  constexpr std::uint32_t kColumns = 4;
  const auto matrix = all_spread_malloc<double>(std::uint64_t{kRows} * kColumns * procs());
  double* const mine = matrix.mine();
  for (std::size_t i = 0; i < kRows * kColumns; ++i) mine[i] = double(i) + 0.5 * my_proc();
  barrier();
  const global_ptr<double> theirs = matrix.on(right());
  const strided column{.rows = kRows, .row_stride = kColumns};
  std::array<std::vector<double>, 3> columns;
  std::array<handle, 3> handles;
  for (std::size_t i = 0; i < 3; ++i) {
    columns[i].resize(kRows);
    handles[i] = get_strided(std::span(columns[i]), theirs + step(i), column);
  }
  for (const std::size_t i : {1u, 2u, 0u}) {
    sync(handles[i]);
    for (std::size_t row = 0; row < kRows; ++row) {
      ASSERT_EQ(columns[i][row], double(row * kColumns + i) + 0.5 * right());
    }
  }
  barrier();
  std::ranges::fill(columns[0], 1.0 + my_proc());
  sync(put_strided(theirs + 3, column, columns[0]));
  barrier();
  for (std::size_t row = 0; row < kRows; ++row) {
    ASSERT_EQ(mine[row * kColumns + 3], 1.0 + left());
    ASSERT_EQ(mine[row * kColumns + 2], double(row * kColumns + 2) + 0.5 * my_proc());
  }
  barrier();
  all_spread_free(matrix);
}

TEST(Strided, stores_are_counted_in_bytes_at_their_target) {
  constexpr std::uint32_t kRows = 3000;
  const auto words = all_spread_malloc<std::uint32_t>(2 * kRows * procs());
  std::fill_n(words.mine(), 2 * kRows, 0u);
  store_counter faces;
  std::vector<std::uint32_t> column(kRows, 5 + my_proc());
  const strided shape{.rows = kRows, .row_stride = 2};
  barrier();
  store_strided(words.on(right()), shape, column, faces);
  store_sync(kRows * sizeof(std::uint32_t), faces);
  EXPECT_EQ(faces.available(), 0u);
  for (std::uint32_t row = 0; row < kRows; ++row) {
    ASSERT_EQ(words.mine()[2 * row], 5 + left());
    ASSERT_EQ(words.mine()[2 * row + 1], 0u);
  }
  barrier();
  all_spread_free(words);
}

// What a handler throws comes out of a call that waits for credits; all pieces are sent even so.
int called = 0;
bool may_throw = false;  // not in a barrier
void throw_here() {
  ++called;
  if (may_throw) throw std::runtime_error("on purpose");
}

TEST(Strided, a_put_arrives_whole_though_a_handler_throws_meanwhile) {
  constexpr std::uint32_t kRows = 60'000;
  constexpr int kCalls = 5;
  const auto words = all_spread_malloc<std::uint64_t>(2 * kRows * procs());
  std::fill_n(words.mine(), 2 * kRows, 0u);
  const std::vector<std::uint64_t> column(kRows, 5 + my_proc());
  const strided shape{.rows = kRows, .row_stride = 2};
  called = 0;
  // Connected already, so that nothing else waits.
  rpc(left(), [] {}).wait();
  rpc(right(), [] {}).wait();
  barrier();
  may_throw = my_proc() != left();  // one process has called it on itself
  for (int i = 0; i < kCalls; ++i) rpc_ff(left(), &throw_here);
  try {
    put_strided(words.on(right()), shape, column);
  } catch (const am::Error& error) {
    EXPECT_NE(std::string(error.what()).find("on purpose"), std::string::npos) << error.what();
  }
  while (called < kCalls) {
    try {
      wait_until([] { return called == kCalls; });
    } catch (const am::Error&) {
    }
  }
  may_throw = false;
  sync();
  barrier();
  for (std::uint32_t row = 0; row < kRows; ++row) {
    ASSERT_EQ(words.mine()[2 * row], 5 + left()) << row;
  }
  barrier();
  all_spread_free(words);
}

// --- Errors

TEST(Strided, of_nothing_does_nothing_and_checks_nothing) {
  const global_ptr<double> null;
  const strided none{.run = 0};
  sync(get_strided(std::span<double>(), null, none));
  sync(put_strided(null, {.rows = 0}, std::span<const double>()));
  store_strided(null, {.planes = 0}, std::span<const double>());
  EXPECT_TRUE(is_sync());
}

TEST(Strided, refuses_what_it_cannot_do_with_a_sentence) {
  const auto words = all_spread_malloc<std::uint64_t>(10 * procs());
  const global_ptr<std::uint64_t> there = words.on(right());
  const std::uint64_t segment = detail::place.segment_bytes;
  const global_ptr<std::uint64_t> near_end(right(), segment - 64);
  std::array<std::uint64_t, 4> local{};
  const std::span mine(local);
  const auto get = [&](global_ptr<std::uint64_t> p, const strided& shape) {
    return [=] { get_strided(mine, p, shape); };
  };
  const strided column{.rows = 4, .row_stride = 3};
  test::expect_error(get(nullptr, column), {"get_strided: the pointer is null"});
  test::expect_error(get({procs(), 4096}, column), {"get_strided: there is no process"});
  test::expect_error(get(there, {.rows = 3}), {"get_strided: 4 local elements for 3 global ones"});
  // The first element is inside, the last is not.
  test::expect_error(get(near_end, column), {"get_strided: 80 bytes at", "outside"});
  test::expect_error([&] { put_strided(near_end, column, mine); },
                     {"put_strided: 80 bytes at", "outside its segment"});
  test::expect_error([&] { store_strided(near_end, column, mine); },
                     {"store_strided: 80 bytes at", "outside its segment"});
  constexpr auto kHuge = std::numeric_limits<std::uint64_t>::max() / 4;
  test::expect_error(get(there, {.rows = 4, .row_stride = kHuge}),
                     {"get_strided: runs of 1 elements, 4 rows every", "further than any memory"});
  if constexpr (am::kChecked) {
    test::expect_error(get(there, {.rows = 4, .row_stride = 4}),
                       {"get_strided: 104 bytes at", "run over the end of the block of 80 bytes"});
    test::expect_error(get(global_ptr<std::uint64_t>(right(), there.offset() + 4), column),
                       {"get_strided: ", "misaligned"});
  }
  EXPECT_TRUE(is_sync()) << "nothing has been started";
  barrier();
  all_spread_free(words);
}

// Runs in a handler: whether each is refused as it should be, or done if `p` is near.
bool strides_behave_in_handler(global_ptr<std::uint64_t> p) {
  static std::array<std::uint64_t, 2> local{};
  const strided two{.rows = 2, .row_stride = 2};
  const auto behaves = [far = test::is_far(p.proc())](const auto& call) {
    return test::is_of_handler(far, test::error_of(call));
  };
  return behaves([&] { get_strided(std::span(local), p, two); }) &&
         behaves([&] { put_strided(p, two, local); }) &&
         behaves([&] { store_strided(p, two, local); });
}

TEST(Strided, in_a_handler_reaches_its_node_and_no_other) {
  const auto words = all_spread_malloc<std::uint64_t>(4 * procs());
  barrier();  // all know that it is theirs
  for (std::uint32_t proc = 0; proc < procs(); ++proc) {
    EXPECT_TRUE(rpc(right(), &strides_behave_in_handler, words.on(proc)).result());
  }
  barrier();
  reset_store_sync();
  barrier();
  all_spread_free(words);
}

}  // namespace
