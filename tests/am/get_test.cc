// Reads of another endpoint's segment, which no handler there has to answer; and translation tables
// that grow.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "tests/support/job_main.h"

namespace am {
namespace get_test {

using ::test::barrier;
using ::test::bundle;
using ::test::job;
using ::test::rank;
using ::test::size;

constexpr std::size_t kSizes[] = {0, 1, 4096, 4097, 100'000};
constexpr std::size_t kMost = 100'000;

std::byte byte_of(Rank of, std::size_t i) {
  return static_cast<std::byte>(of * 89 + i * 7 + (i >> 9));
}

struct Seen {
  std::uint64_t gets = 0;
  Rank source = ~0u;
  const std::byte* at = nullptr;
  std::size_t bytes = 0;
  std::vector<std::uint32_t> words;
} seen;

void on_data(Reply r, std::span<std::byte> bytes, std::uint32_t a, std::uint64_t b) {
  ++seen.gets;
  seen.source = r.source();
  seen.at = bytes.data();
  seen.bytes = bytes.size();
  seen.words = {a, static_cast<std::uint32_t>(b)};
}
void on_any(UntypedMessage message, void*) {
  ++seen.gets;
  EXPECT_EQ(message.role(), Role::kReply);
  EXPECT_EQ(message.kind(), Kind::kLong);
  seen.bytes = message.payload().size();
  seen.words.assign(message.arguments().begin(), message.arguments().end());
}

// Each process reads from its right neighbour. `elsewhere`: the segments are on the heap.
class Get : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    seen = {};
    endpoint_.set_handler<&on_data>(1);
    endpoint_.set_untyped_handler(2, &on_any);
    endpoint_.on_returned([this](const Returned& message) {
      back_.push_back({message.status, message.role, message.get, message.handler,
                       message.segment_offset, message.segment_bytes});
    });
    const std::span<std::byte> own{job().router().segment() + 128, heap_.size()};
    memory_ = GetParam() ? std::span(heap_) : own;
    endpoint_.set_segment(memory_);
    for (std::size_t i = 0; i < kMost; ++i) memory_[i] = byte_of(rank(), i);
    std::memset(memory_.data() + kMost, 0, kMost);
    job().connect(endpoint_);
  }
  void TearDown() override { barrier(); }
  static Rank right() { return (rank() + 1) % size(); }
  static Rank left() { return (rank() + size() - 1) % size(); }
  bool holds(std::size_t at, std::size_t source, std::size_t bytes) const {
    for (std::size_t i = 0; i < bytes; ++i) {
      if (memory_[at + i] != byte_of(right(), source + i)) return false;
    }
    return true;
  }

  struct Back {
    Status status;
    Role role;
    bool get;
    HandlerIndex handler;
    std::uint64_t offset;
    std::uint64_t bytes;
  };
  std::vector<Back> back_;
  std::vector<std::byte> heap_ = std::vector<std::byte>(2 * kMost);
  std::span<std::byte> memory_;
  Endpoint endpoint_{bundle()};
};
INSTANTIATE_TEST_SUITE_P(, Get, testing::Bool(), [](const auto& info) {
  return std::string(info.param ? "elsewhere" : "in_the_segment");
});

TEST_P(Get, brings_bytes_of_every_size_and_runs_a_handler_here) {
  std::uint64_t gets = 0;
  for (const std::size_t bytes : kSizes) {
    const std::size_t source = kMost - bytes;
    endpoint_.get_long<&on_data>(right(), source, kMost, bytes, 5, std::uint64_t{bytes});
    ++gets;
    bundle().wait_until([&] { return seen.gets == gets; });
    EXPECT_EQ(seen.source, right());
    EXPECT_EQ(seen.at, memory_.data() + kMost);
    EXPECT_EQ(seen.bytes, bytes);
    EXPECT_EQ(seen.words, (std::vector<std::uint32_t>{5, static_cast<std::uint32_t>(bytes)}));
    EXPECT_TRUE(holds(kMost, source, bytes)) << bytes;
  }
  EXPECT_TRUE(back_.empty());
}

TEST_P(Get, passes_any_number_of_words) {
  std::uint64_t gets = 0;
  for (std::uint32_t count = 0; count <= 16; ++count) {
    std::vector<std::uint32_t> words;
    for (std::uint32_t i = 0; i < count; ++i) words.push_back(count * 1000 + i);
    endpoint_.get_index(right(), {.handler = 2,
                                  .arguments = words,
                                  .source = count,
                                  .offset = kMost + 100 * count,
                                  .bytes = 100});
    ++gets;
    bundle().wait_until([&] { return seen.gets == gets; });
    EXPECT_EQ(seen.words, words);
    EXPECT_EQ(seen.bytes, 100u);
    EXPECT_TRUE(holds(kMost + 100 * count, count, 100));
  }
}

TEST_P(Get, floods_bring_everything_once) {
  constexpr std::uint64_t kGets = 1000;
  for (std::uint64_t i = 0; i < kGets; ++i) {
    endpoint_.get_long<&on_data>(right(), i * 100, kMost + i * 100, 100, 0, i);
  }
  bundle().wait_until([] { return seen.gets == kGets; });
  EXPECT_TRUE(holds(kMost, 0, kMost));
}

TEST_P(Get, beyond_the_other_segment_comes_back_as_a_get) {
  const auto expect_back = [&](std::uint64_t source, std::uint64_t bytes, Status status) {
    back_.clear();
    endpoint_.get_long<&on_data>(right(), source, 0, bytes, 7, 8u);
    bundle().wait_until([&] { return !back_.empty(); });
    ASSERT_EQ(back_.size(), 1u);
    EXPECT_EQ(back_[0].status, status);
    EXPECT_EQ(back_[0].role, Role::kRequest);
    EXPECT_TRUE(back_[0].get);
    EXPECT_EQ(back_[0].handler, 1);
    EXPECT_EQ(back_[0].offset, source);
    EXPECT_EQ(back_[0].bytes, bytes);
  };
  expect_back(2 * kMost, 1, Status::kBadLength);
  expect_back(2 * kMost + 1, 0, Status::kBadSegmentOffset);
  expect_back(~std::uint64_t{0}, 2, Status::kBadSegmentOffset);
  expect_back(2 * kMost - 99, 100, Status::kBadLength);
  EXPECT_EQ(seen.gets, 0u);
}

std::string refusal;
void get_inside(OneWay message, std::uint32_t to) {
  try {
    message.endpoint().get_index(to, {.handler = 2});
  } catch (const Error& error) {
    refusal = error.what();
  }
}

TEST_P(Get, is_refused_where_it_cannot_be) {
  const auto refused = [&](const UntypedGet& get) {
    try {
      endpoint_.get_index(right(), get);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const std::array<std::uint32_t, 17> words{};
  EXPECT_NE(refused({.handler = 3}).find("EBADHANDLER"), std::string::npos);
  EXPECT_NE(refused({.handler = 2, .offset = 2 * kMost - 99, .bytes = 100}).find("EBADLENGTH"),
            std::string::npos);
  EXPECT_NE(refused({.handler = 2, .offset = 2 * kMost + 1}).find("EBADSEGOFF"), std::string::npos);
  EXPECT_NE(refused({}).find("no handler has index 0"), std::string::npos);
  EXPECT_NE(refused({.handler = 2, .arguments = words}).find("17 words"), std::string::npos);
  refusal.clear();
  endpoint_.set_handler<&get_inside>(9);
  barrier();
  endpoint_.request<&get_inside>(right(), right());
  bundle().wait_until([] { return !refusal.empty(); });
  EXPECT_NE(refusal.find("a handler may not send requests"), std::string::npos) << refusal;
}

// The own segment may have become smaller meanwhile. On the node the get comes back; another node
// learns that its reply was refused.
TEST_P(Get, that_has_no_place_any_more_comes_back) {
  // Nothing is handled between the two, as nobody polls.
  ASSERT_TRUE(endpoint_.try_get_index(right(), {.handler = 2, .offset = kMost, .bytes = 5000}));
  const std::span<std::byte> before = endpoint_.segment();
  endpoint_.set_segment(before.first(kMost));
  endpoint_.flush();
  barrier();
  endpoint_.flush();  // also the replies that came back
  barrier();          // exchange() polls nothing
  for (const Back& back : back_) {
    const bool as_reply = back.role == Role::kReply;
    EXPECT_EQ(back.get, !as_reply);
    EXPECT_EQ(job().router().is_near(as_reply ? left() : right()), !as_reply);
    EXPECT_EQ(back.status, Status::kBadLength);
  }
  // Between nodes what was admitted to the process's segment is delivered there.
  std::uint64_t ended = 0;
  for (const auto& one : job().exchange(seen.gets + back_.size())) ended += one;
  EXPECT_EQ(ended, size());
  if (GetParam()) {
    EXPECT_EQ(seen.gets, 0u);
  }
  barrier();
  endpoint_.set_segment(before);
}

// The other end has replied to nobody, as far as it knows.
TEST_P(Get, of_an_endpoint_that_ends_leaves_nothing) {
  const Tag tag = endpoint_.tag();
  const std::vector<Name> names = job().exchange(endpoint_.name());
  for (int i = 0; i < 10; ++i) {
    Endpoint reader(bundle());
    reader.set_handler<&on_data>(1);
    reader.set_tag(kTagAll);
    reader.set_segment(std::span(heap_).first(kMost));
    reader.map(0, names[right()], tag);
    const UntypedGet get{.handler = 1, .bytes = 5000};
    for (int n = 0; n < 10; ++n) static_cast<void>(reader.try_get_index(0, get));
  }
  barrier();
  endpoint_.flush();
  barrier();
}

// --- Translation tables that grow

std::uint64_t sum = 0;
void on_add(OneWay, std::uint64_t n) { sum += n; }

TEST(Translations, grow_and_shrink_under_what_is_mapped) {
  Endpoint endpoint(bundle(), {.translations = 2});
  endpoint.add_handlers<&on_add>();
  endpoint.set_tag(4);
  sum = 0;
  const std::vector<Name> names = job().exchange(endpoint.name());
  const Rank right = (rank() + 1) % size();
  endpoint.map(1, names[right], 4);
  endpoint.request<&on_add>(1, 1u);
  endpoint.resize_translations(5000);
  EXPECT_EQ(endpoint.translations(), 5000u);
  endpoint.map(4999, names[right], 4);
  endpoint.request<&on_add>(1, 10u);
  endpoint.request<&on_add>(4999, 100u);
  bundle().wait_until([] { return sum == 111; });
  try {
    endpoint.resize_translations(4999);
    ADD_FAILURE() << "it has cut off an index in use";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("translation 4999 is in use"), std::string::npos);
  }
  endpoint.unmap(4999);
  endpoint.resize_translations(2);
  endpoint.request<&on_add>(1, 1000u);
  bundle().wait_until([] { return sum == 1111; });
  EXPECT_THROW(endpoint.resize_translations(0), Error);
  EXPECT_THROW(endpoint.resize_translations((1 << 24) + 1), Error);
  EXPECT_THROW(endpoint.map(2, names[right], 4), Error);
  endpoint.flush();
  barrier();
}

// What connect() has mapped takes no memory until it is used, and so has to be known as unmapped.
TEST(Translations, that_are_unmapped_stay_so_when_the_table_grows_again) {
  Endpoint endpoint(bundle(), {.translations = size() + 1});
  endpoint.add_handlers<&on_add>();
  job().connect(endpoint);
  const std::uint32_t last = size() - 1;
  EXPECT_TRUE(endpoint.mapped(last));
  barrier();
  endpoint.unmap(last);
  EXPECT_FALSE(endpoint.mapped(last));
  if (last > 0) {
    endpoint.resize_translations(last);
    endpoint.resize_translations(size() + 1);
    EXPECT_FALSE(endpoint.mapped(last));
    EXPECT_TRUE(endpoint.mapped(0));
    EXPECT_EQ(endpoint.map_any(endpoint.translation_name(0), 4), last);
  }
  endpoint.flush();
  barrier();
}

}  // namespace get_test
}  // namespace am
