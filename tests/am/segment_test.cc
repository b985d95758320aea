// Segments that are no part of their process's: on the heap, of another size each time, all memory.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "tests/support/job_main.h"
#include "tests/support/side_channel.h"

namespace am {
namespace segment_test {

using ::test::barrier;
using ::test::bundle;
using ::test::job;
using ::test::rank;
using ::test::size;
using Bytes = std::span<const std::byte>;

// Around what fits a slot or a packet, and what a region of the sender holds.
constexpr std::size_t kSizes[] = {0, 1, 4095, 4096, 4097, 65'536, 65'537, 1 << 20};
constexpr std::size_t kMost = 1 << 20;

std::byte byte_of(std::uint64_t seed, std::size_t i) {
  return static_cast<std::byte>((seed + i) * 0x9e3779b97f4a7c15u >> 53);
}
void fill(std::span<std::byte> bytes, std::uint64_t seed) {
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = byte_of(seed, i);
}
bool says(Bytes bytes, std::uint64_t seed) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] != byte_of(seed, i)) return false;
  }
  return true;
}

struct Seen {
  std::uint64_t requests = 0;
  std::uint64_t replies = 0;
  std::uint64_t wrong = 0;
  const std::byte* at = nullptr;
  std::vector<std::byte> answer;  // of what a long reply is made
} seen;

void take(std::span<std::byte> bytes, std::uint64_t seed) {
  seen.at = bytes.data();
  if (!says(bytes, seed)) ++seen.wrong;
}
void on_reply(Reply, std::span<std::byte> bytes, std::uint64_t seed) {
  take(bytes, seed);
  ++seen.replies;
}
void on_request(Request r, std::span<std::byte> bytes, std::uint64_t seed, std::uint64_t offset) {
  take(bytes, seed);
  ++seen.requests;
  seen.answer.resize(bytes.size());
  fill(seen.answer, seed + 1);
  std::move(r).reply_long<&on_reply>(offset, seen.answer, seed + 1);
}
void on_one_way(OneWay, std::span<std::byte> bytes, std::uint64_t seed) {
  take(bytes, seed);
  ++seen.requests;
}

// Each process sends to its right neighbour.
class SegmentElsewhere : public testing::Test {
 protected:
  void SetUp() override {
    seen = {};
    endpoint_ = std::make_unique<Endpoint>(bundle());
    endpoint_->set_handler<&on_reply>(1);
    endpoint_->set_handler<&on_request>(2);
    endpoint_->set_handler<&on_one_way>(3);
    endpoint_->on_returned([this](const Returned& message) { back_.push_back(message.status); });
    endpoint_->set_segment(memory_);
    payload_.resize(kMost);
    job().connect(*endpoint_);
  }
  void TearDown() override {
    barrier();
    endpoint_.reset();
    barrier();
  }
  static Rank right() { return (rank() + 1) % size(); }
  void wait_for(std::uint64_t requests, std::uint64_t replies) {
    bundle().wait_until([&] { return seen.requests >= requests && seen.replies >= replies; });
    EXPECT_EQ(seen.requests, requests);
    EXPECT_EQ(seen.replies, replies);
    EXPECT_EQ(seen.wrong, 0u);
  }

  std::vector<std::byte> memory_ = std::vector<std::byte>(2 * kMost + 200);
  std::vector<std::byte> payload_;
  std::vector<Status> back_;
  std::unique_ptr<Endpoint> endpoint_;
};

TEST_F(SegmentElsewhere, payloads_of_every_size_arrive_in_place) {
  std::uint64_t messages = 0;
  for (const std::size_t bytes : kSizes) {
    const std::span<std::byte> payload = std::span(payload_).first(bytes);
    fill(payload, bytes);
    endpoint_->request_long<&on_request>(right(), 100, payload, bytes, kMost + 150);
    endpoint_->request_long<&on_one_way>(right(), 50, payload, bytes);
    fill(payload, 99);  // may be reused on return
    messages += 2;
    wait_for(messages, messages / 2);
    barrier();
    EXPECT_TRUE(says(std::span(memory_).subspan(kMost + 150, bytes), bytes + 1));
    if (bytes > 50) {
      EXPECT_TRUE(says(std::span(memory_).subspan(50, 50), bytes));
    }
    barrier();
  }
  EXPECT_EQ(endpoint_->segment().data(), memory_.data());
  EXPECT_EQ(endpoint_->segment().size(), memory_.size());
  EXPECT_TRUE(back_.empty());
}

TEST_F(SegmentElsewhere, what_does_not_fit_comes_back_and_writes_nothing) {
  std::vector<std::byte> small(10'000, std::byte{7});
  endpoint_->set_segment(std::span(small).subspan(1000, 8000));
  barrier();
  const auto expect_back = [&](std::uint64_t offset, std::size_t bytes, Status status) {
    back_.clear();
    const Bytes payload = Bytes(payload_).first(bytes);
    endpoint_->request_long<&on_request>(right(), offset, payload, 0u, 0u);
    endpoint_->request_long<&on_one_way>(right(), offset, payload, 0u);
    bundle().wait_until([&] { return back_.size() >= 2; });
    EXPECT_EQ(back_, (std::vector<Status>{status, status})) << offset << ", " << bytes;
  };
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{4096}, std::size_t{6000}}) {
    expect_back(8001 - bytes, bytes, Status::kBadLength);
    expect_back(8001, bytes, Status::kBadSegmentOffset);
    expect_back(~std::uint64_t{0} - 5, bytes, Status::kBadSegmentOffset);
    expect_back(Extent::kElsewhere, bytes, Status::kBadSegmentOffset);
  }
  expect_back(0, kMost, Status::kBadLength);
  barrier();
  endpoint_->set_segment({});
  barrier();
  expect_back(0, 1, Status::kBadSegmentOffset);
  expect_back(0, kMost, Status::kBadSegmentOffset);
  barrier();
  EXPECT_EQ(seen.requests, 0u);
  EXPECT_TRUE(std::ranges::all_of(small, [](std::byte b) { return b == std::byte{7}; }));
  endpoint_->set_segment(memory_);
}

TEST_F(SegmentElsewhere, floods_from_everybody_arrive_once_each) {
  // Each sender has its own part, and its own order of sizes.
  std::mt19937_64 random(::test::seed() + rank());
  constexpr int kMessages = 200;
  memory_.resize(size() * 70'000);
  endpoint_->set_segment(memory_);
  barrier();
  for (int i = 0; i < kMessages; ++i) {
    const std::size_t bytes = random() % 3 == 0 ? random() % 4097 : random() % 70'000;
    const std::span<std::byte> payload = std::span(payload_).first(bytes);
    const std::uint64_t seed = random();
    fill(payload, seed);
    for (Rank to = 0; to < size(); ++to) {
      endpoint_->request_long<&on_one_way>(to, rank() * 70'000, payload, seed);
    }
  }
  bundle().wait_until([] { return seen.requests == kMessages * size(); });
  EXPECT_TRUE(back_.empty());
}

TEST_F(SegmentElsewhere, another_segment_takes_what_is_on_its_way) {
  // The receiver decides when it handles the message: nothing writes to memory that is free.
  ::test::SideChannel sent("segment");
  Bundle idle(job());
  auto first = std::make_unique<std::vector<std::byte>>(kMost);
  std::vector<std::byte> second(kMost);
  Endpoint target(idle);
  target.set_handler<&on_one_way>(3);
  target.set_tag(9);
  target.set_segment(*first);
  const std::uint32_t to = endpoint_->map_any(job().exchange(target.name())[right()], 9);
  endpoint_->request_long<&on_one_way>(to, 0, Bytes(payload_).first(0), 0u);
  // Polls the sender, too, which may have to send something again.
  const auto wait_until = [&](auto done) {
    const auto poll_both = [&] {
      idle.poll();
      return done();
    };
    bundle().wait_until(poll_both, Wake::kMemory);  // which sleeps shortly: `idle` does not wake it
  };
  wait_until([] { return seen.requests == 1; });
  barrier();
  auto meet = [&, now = 0u]() mutable {  // without polling, as a barrier would
    sent.add(1);
    sent.await(now += size());
  };
  meet();
  fill(payload_, 5);
  bundle().wait_until(
      [&] { return endpoint_->try_request_long<&on_one_way>(to, 0, payload_, 5u); });
  const Bytes part = Bytes(payload_).first(5000);
  bundle().wait_until([&] { return endpoint_->try_request_long<&on_one_way>(to, 0, part, 5u); });
  meet();
  EXPECT_EQ(seen.requests, 1u);
  target.set_segment(second);
  first.reset();
  wait_until([] { return seen.requests == 3; });
  EXPECT_EQ(seen.wrong, 0u);
  EXPECT_EQ(seen.at, second.data());
  EXPECT_TRUE(says(second, 5));
  meet();
  // And one that has become too small sends it back.
  bundle().wait_until(
      [&] { return endpoint_->try_request_long<&on_one_way>(to, 0, payload_, 5u); });
  meet();
  target.set_segment(std::span(second).first(10));
  wait_until([&] { return !back_.empty(); });
  EXPECT_EQ(back_, std::vector<Status>{Status::kBadLength});
  // One that goes with its endpoint as well.
  barrier();
  endpoint_->unmap(to);
  barrier();
}

TEST_F(SegmentElsewhere, a_sender_that_ends_has_not_lost_its_payloads) {
  const Tag tag = endpoint_->tag();
  const std::vector<Name> names = job().exchange(endpoint_->name());
  {
    Endpoint sender(bundle());
    sender.set_handler<&on_one_way>(3);
    sender.map(0, names[right()], tag);
    for (std::uint64_t i = 0; i < 8; ++i) {
      fill(std::span(payload_).first(9000), i);
      sender.request_long<&on_one_way>(0, 9000 * i, Bytes(payload_).first(9000), i);
    }
  }
  wait_for(8, 0);
  for (std::uint64_t i = 0; i < 8; ++i) {
    EXPECT_TRUE(says(std::span(memory_).subspan(9000 * i, 9000), i));
  }
}

std::size_t open_files() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

TEST_F(SegmentElsewhere, a_thousand_payloads_need_no_more_than_the_first_ones) {
  const auto send_many = [&](std::uint64_t count, std::uint64_t already) {
    for (std::uint64_t i = 0; i < count; ++i) {
      const Bytes payload = Bytes(payload_).first(5000);
      endpoint_->request_long<&on_one_way>(right(), 0, payload, 0u);
      bundle().wait_until([&] { return seen.requests >= already + i; });
    }
    endpoint_->flush();
    bundle().wait_until([&] { return seen.requests == already + count; });
    barrier();
  };
  send_many(100, 0);
  const std::size_t before = open_files();
  send_many(1000, 100);
  // Also those that come back must give their memory back.
  std::vector<std::byte> none(10);
  endpoint_->set_segment(none);
  barrier();
  for (int i = 0; i < 100; ++i) {
    const Bytes payload = Bytes(payload_).first(5000);
    endpoint_->request_long<&on_one_way>(right(), 0, payload, 0u);
  }
  endpoint_->flush();
  EXPECT_EQ(back_.size(), 100u);
  EXPECT_LE(open_files(), before + 16);  // a window of regions at most
  barrier();
  endpoint_->set_segment(memory_);
}

// Whoever ends, and whoever has not read: nothing stays with the process.
TEST_F(SegmentElsewhere, endings_with_payloads_on_the_way_leave_nothing) {
  ::test::SideChannel met("endings");
  auto round = [&, now = 0u](bool sender_first) mutable {
    const auto meet = [&] {  // without polling
      met.add(1);
      met.await(now += size());
    };
    Bundle idle(job());
    auto target = std::make_unique<Endpoint>(idle);
    target->set_handler<&on_one_way>(3);
    target->set_handler<&on_request>(2);
    target->set_tag(9);
    target->set_segment(memory_);
    auto sender = std::make_unique<Endpoint>(idle);
    sender->set_handler<&on_one_way>(3);
    sender->set_handler<&on_request>(2);
    sender->set_handler<&on_reply>(1);
    sender->set_tag(kTagAll);
    sender->on_returned([](const Returned&) {});
    sender->map(0, job().exchange(target->name())[right()], 9);
    barrier();
    meet();
    const Bytes payload = Bytes(payload_).first(5000);
    for (int i = 0; i < 8; ++i) {
      static_cast<void>(sender->try_request_long<&on_one_way>(0, 0, payload, 0u));
      static_cast<void>(sender->try_request_long<&on_request>(0, 0, payload, 0u, 0u));
    }
    meet();
    (sender_first ? sender : target).reset();
    meet();
    (sender_first ? target : sender).reset();
    barrier();
  };
  round(true);
  round(false);
  const std::size_t before = open_files();
  for (int i = 0; i < 20; ++i) round(i % 2 == 0);
  EXPECT_LE(open_files(), before + 16);
}

TEST_F(SegmentElsewhere, all_memory_is_addressed_from_zero) {
  endpoint_->set_segment({static_cast<std::byte*>(nullptr), ~std::size_t{0}});
  barrier();
  const auto addresses = job().exchange(reinterpret_cast<std::uint64_t>(memory_.data()));
  std::uint64_t messages = 0;
  for (const std::size_t bytes : kSizes) {
    const std::span<std::byte> payload = std::span(payload_).first(bytes);
    fill(payload, bytes);
    endpoint_->request_long<&on_request>(right(), addresses[right()] + 3, payload, bytes,
                                         addresses[rank()] + kMost + 7);
    ++messages;
    wait_for(messages, messages);
    barrier();
    EXPECT_TRUE(says(std::span(memory_).subspan(3, std::min(bytes, kMost)), bytes));
    EXPECT_TRUE(says(std::span(memory_).subspan(kMost + 7, bytes), bytes + 1));
    barrier();
  }
  EXPECT_EQ(endpoint_->segment().data(), nullptr);
  EXPECT_EQ(endpoint_->segment().size(), ~std::size_t{0});
  // Also what lies in the process's own segment, which others write in place.
  std::byte* const own = job().router().segment() + 64;
  const auto there = job().exchange(reinterpret_cast<std::uint64_t>(own));
  fill(payload_, 77);
  endpoint_->request_long<&on_one_way>(right(), there[right()], Bytes(payload_).first(9999), 77u);
  wait_for(messages + 1, messages);
  EXPECT_TRUE(says({own, 9999}, 77));
}

}  // namespace segment_test
}  // namespace am
