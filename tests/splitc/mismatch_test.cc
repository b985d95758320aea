#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "splitc/splitc.h"
#include "tests/splitc/error_of.h"

// Collective calls that differ.

namespace {

using namespace splitc;

// Process 0 makes one call and the others another. Those who cannot get what theirs says hear of
// it; the others in their next call.
void expect_mismatch(const std::function<void()>& first, const std::function<void()>& others,
                     const std::string& name_of_first, const std::string& name_of_others) {
  if (procs() == 1) return;
  const std::string error = test::error_of([&] { my_proc() == 0 ? first() : others(); });
  std::uint32_t threw = 0;
  const std::string later =
      test::error_of([&] { threw = all_reduce(error.empty() ? 0u : 1u, std::plus()); });
  for (const std::string& part : {name_of_first, name_of_others, std::string("rank "),
                                  std::string("same collective calls")}) {
    if (error.empty()) break;
    EXPECT_NE(error.find(part), std::string::npos) << "no \"" << part << "\" in: " << error;
  }
  if (later.empty()) {
    EXPECT_GE(threw, 1u);
  } else {
    EXPECT_NE(later.find("while this process called"), std::string::npos) << later;
  }
  EXPECT_EQ(all_exscan(1u, std::plus(), 0), my_proc());
}

TEST(Mismatch, of_the_operation_names_both) {
  expect_mismatch([] { return all_bcast(1); }, [] { all_reduce(1, std::plus()); },
                  "all_bcast of 4 bytes", "all_reduce of 4 bytes");
  if (!am::kChecked) return;  // else a barrier compares nothing
  expect_mismatch([] { barrier(); }, [] { all_gather(1.0); }, "called barrier",
                  "all_gather of 8 bytes");
  expect_mismatch([] { all_spread_malloc<int>(7); }, [] { barrier(); }, "all_spread_malloc of ",
                  "called barrier");
}

TEST(Mismatch, names_the_line_of_the_other_call_and_of_this_one) {
  if (procs() == 1) return;
  constexpr int kLine = __LINE__ + 1;
  const auto gather = [] { all_gather(1); };
  const auto reduce = [] { all_reduce(1, std::plus()); };
  const bool odd = my_proc() == 0;
  const std::string error = test::error_of([&] { odd ? gather() : reduce(); });
  const auto place = [](int of) { return "mismatch_test.cc:" + std::to_string(of); };
  if (!error.empty()) {
    const int theirs = kLine + (odd ? 1 : 0);
    const int mine = kLine + (odd ? 0 : 1);
    EXPECT_NE(error.find(place(theirs) + " while this process called"), std::string::npos) << error;
    EXPECT_NE(error.find(place(mine) + ")"), std::string::npos) << error;
  }
  const std::string later = test::error_of([] { all_reduce(1, std::plus()); });
  EXPECT_FALSE(error.empty() && later.empty());
}

TEST(Mismatch, of_size_root_and_type_names_both) {
  expect_mismatch([] { return all_bcast(1); }, [] { return all_bcast(1.0); },
                  "all_bcast of 4 bytes", "all_bcast of 8 bytes");
  expect_mismatch([] { return all_bcast(1, 0); }, [] { return all_bcast(1, 1); },
                  "all_bcast of 4 bytes", "with another root, length or type");
  expect_mismatch([] { all_reduce(1, std::plus()); }, [] { all_reduce(1.0f, std::plus()); },
                  "all_reduce of 4 bytes", "with another root, length or type");
  expect_mismatch([] { all_spread_malloc<int>(1); }, [] { all_spread_malloc<int>(1000); },
                  "all_spread_malloc of 4 bytes", "all_spread_malloc of ");
  expect_mismatch([] { spread_array<int> a(procs()); }, [] { spread_array<int> a(procs() - 1); },
                  "spread_array of 4 bytes", "with another root, length or type");
}

TEST(Mismatch, of_a_large_broadcast_ends_it_before_it_has_been_read) {
  std::vector<int> large(1'200'000 / procs());
  for (std::uint32_t root : {0u, procs() - 1}) {
    expect_mismatch([&] { all_bcast(std::span(large), root); }, [] { all_reduce(1, std::plus()); },
                    "all_bcast of ", "all_reduce of 4 bytes");
    std::ranges::fill(large, 7);
    all_bcast(std::span(large), root);
    EXPECT_EQ(large.back(), 7);
  }
}

TEST(Mismatch, of_types_of_one_size_is_noticed) {
  const std::string why = "with another root, length or type";
  expect_mismatch([] { return all_bcast(1); }, [] { return all_bcast(1.0f); }, "all_bcast", why);
  expect_mismatch([] { all_gather(1); }, [] { all_gather(1.0f); }, "all_gather", why);
  std::vector<float> floats(procs(), 1);
  std::vector<int> ints(procs(), 1);
  const std::vector<std::size_t> counts(procs(), 1);
  expect_mismatch([&] { all_to_all_varying(std::span(ints), std::span(counts)); },
                  [&] { all_to_all_varying(std::span(floats), std::span(counts)); },
                  "all_to_all_varying", why);
}

TEST(Mismatch, leaves_what_follows_intact) {
  const spread_array<int> a(procs());
  a[my_proc()] = static_cast<int>(my_proc());
  EXPECT_EQ(all_reduce(1u, std::plus()), procs());
  EXPECT_EQ(static_cast<std::uint32_t>(static_cast<int>(a[procs() - 1])), procs() - 1);
  barrier();
}

}  // namespace
