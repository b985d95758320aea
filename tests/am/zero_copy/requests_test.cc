// Requests whose payload is not copied: where the receiver wants it, when, and how much of it.

#include <algorithm>
#include <numeric>

#include "tests/am/zero_copy/support.h"

namespace am::zero_copy_test {
namespace {

constexpr std::size_t kSizes[] = {0, 1, 9, 4096, 4097, 100'000};

enum class When : std::uint32_t { kInside, kEarly, kLate, kNever };

// What the receiving side of a trial has and sees.
struct Trial {
  When when = When::kInside;
  std::span<std::byte> memory;
  Notes arrived;
  int requests = 0;
};
Trial* trial = nullptr;

constexpr std::uint64_t kTag = 4711;

void on_payload(ZeroCopyRequest& request, std::uint64_t bytes, double half, std::uint32_t last) {
  EXPECT_EQ(request.bytes(), bytes);
  EXPECT_EQ(request.source(), before(1));
  EXPECT_EQ(half, 0.5);
  EXPECT_EQ(last, 99u);
  switch (trial->when) {
    case When::kInside: request.receive(trial->memory, trial->arrived.callback(), 5); break;
    case When::kEarly:
    case When::kLate: request.match(kTag); break;
    case When::kNever: break;
  }
  ++trial->requests;
}

// Everybody sends `bytes` to the next process, which has room for `room`. Collective.
void send(ZeroCopy& zero, When when, std::size_t bytes, std::size_t room) {
  SCOPED_TRACE(testing::Message() << bytes << " bytes for " << room << ", when "
                                  << static_cast<int>(when));
  Memory from(zero, Place::kHeap, bytes), to(zero, Place::kHeap, room);
  from.fill(me());
  Trial now{when, to.bytes(), {}, 0};
  trial = &now;
  if (when == When::kEarly) zero.post(kTag, to.bytes(), now.arrived.callback(), 5);
  barrier();
  Notes left;
  zero.request_zero_copy<&on_payload>(
      after(1), from.bytes(),
      [&](const ZeroCopyDone& done) {
        left.all.push_back(done);
        std::ranges::fill(from.bytes(), std::byte{0xdd});  // it is ours again
      },
      bytes, 0.5, 99);
  bundle().wait_until([&] { return now.requests == 1; });
  if (when == When::kLate) {
    for (int i = 0; i < 50; ++i) bundle().poll();
    EXPECT_EQ(left.all.size(), 0u);
    barrier();
    zero.post(kTag, to.bytes(), now.arrived.callback(), 5);
  }
  settle(zero);
  const std::size_t moved = when == When::kNever ? 0 : std::min(bytes, room);
  ASSERT_EQ(left.all.size(), 1u);
  EXPECT_EQ(left.last().bytes, moved);
  EXPECT_TRUE(left.last().source);
  EXPECT_EQ(left.last().peer, after(1));
  EXPECT_EQ(now.requests, 1);
  EXPECT_TRUE(to.holds(before(1), moved));
  ASSERT_EQ(now.arrived.all.size(), when == When::kNever ? 0u : 1u);
  if (when != When::kNever) {
    EXPECT_EQ(now.arrived.last().bytes, moved);
    EXPECT_EQ(now.arrived.last().buffer.reference, 5u);
    EXPECT_EQ(now.arrived.last().data().data(), to.bytes().data());
    EXPECT_FALSE(now.arrived.last().source);
  }
  barrier();
}

TEST(Requests, payloads_go_where_and_when_the_receiver_says) {
  ZeroCopy zero(job(), bundle());
  zero.add_handlers<&on_payload>();
  for (const When when : {When::kInside, When::kEarly, When::kLate, When::kNever}) {
    for (const std::size_t bytes : kSizes) {
      send(zero, when, bytes, bytes);
      send(zero, when, bytes, bytes / 3);
      send(zero, when, bytes, bytes + 11);
      if (HasFailure()) return;
    }
  }
  barrier();
}

// --- To many

std::vector<std::byte> landed;
int landings = 0;

void on_broadcast(ZeroCopyRequest& request, std::uint32_t root) {
  EXPECT_EQ(request.source(), root);
  request.receive(landed, [](const ZeroCopyDone&) { ++landings; });
}

TEST(Requests, one_payload_reaches_all_and_its_sender_hears_once) {
  ZeroCopy zero(job(), bundle());
  zero.add_handlers<&on_broadcast>();
  std::vector<Rank> everybody(job().size());
  std::iota(everybody.begin(), everybody.end(), Rank{0});
  for (const std::size_t bytes : {7, 4096, 200'000}) {
    for (Rank root = 0; root < job().size(); ++root) {
      Memory payload(zero, Place::kHeap, bytes);
      payload.fill(root);
      landings = 0;
      // One takes less than all others.
      landed.assign(me() == after(0) && me() == job().size() - 1 ? bytes - 2 : bytes, {});
      barrier();
      Notes left;
      if (me() == root) {
        zero.request_zero_copy<&on_broadcast>(everybody, payload.bytes(), left.callback(), root);
      }
      bundle().wait_until([] { return landings == 1; });
      settle(zero);
      EXPECT_EQ(landings, 1);
      EXPECT_TRUE(std::ranges::equal(landed, payload.bytes().first(landed.size())));
      ASSERT_EQ(left.all.size(), me() == root ? 1u : 0u);
      if (me() == root) {
        EXPECT_EQ(left.last().bytes, bytes - 2);
      }
    }
  }
  Notes left;
  zero.request_zero_copy<&on_broadcast>(std::span<const Rank>(), landed, left.callback(), 0u);
  settle(zero);
  EXPECT_EQ(left.all.size(), 1u) << "to nobody: done at once";
}

// --- What is refused

void on_twice(ZeroCopyRequest& request, std::uint64_t tag) {
  request.match(tag);
  EXPECT_THROW(request.receive(landed), Error);
  EXPECT_THROW(request.match(tag + 1), Error);
}
void on_unknown(ZeroCopyRequest&) {}

TEST(Requests, one_memory_per_tag_and_request) {
  ZeroCopy zero(job(), bundle());
  zero.add_handlers<&on_twice>();
  std::vector<std::byte> payload(10), first(10), second(10);
  landed.resize(10);
  zero.post(1, first);
  EXPECT_THROW(zero.post(1, second), Error);
  int left = 0;
  const auto count = [&](const ZeroCopyDone&) { ++left; };
  barrier();
  zero.request_zero_copy<&on_twice>(after(1), payload, count, 1);
  bundle().wait_until([&] { return left == 1; });
  settle(zero);
  zero.post(1, second);  // the tag is free again
  zero.request_zero_copy<&on_twice>(after(1), payload, count, 1);
  bundle().wait_until([&] { return left == 2; });
  EXPECT_THROW(zero.request_zero_copy<&on_unknown>(after(1), payload, count), Error);
  EXPECT_THROW(zero.request_zero_copy<&on_twice>(job().size(), payload, count, 1), Error);
  settle(zero);
  EXPECT_EQ(left, 2);
}

}  // namespace
}  // namespace am::zero_copy_test
