// Requests whose payload is not copied: where the receiver wants it, when, and how much of it.

#include <sys/mman.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

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

// --- Several payloads of one request

// Sizes of payloads, and which of these are sent: small ones, large ones, both, none, and more than
// one message has room for.
const std::vector<std::vector<std::size_t>> kLists = {
    {3, 100'000},     {100'000, 0, 7, 4097, 9},           {4096, 4096}, {1, 2, 3, 4},
    {50'000, 60'000}, std::vector<std::size_t>(128, 100), {},           {17}};

enum class Into { kEach, kOne, kTooFew, kPosted, kNowhere };

struct Several {
  Into into;
  std::span<const std::span<std::byte>> each;
  std::span<std::byte> one;
  std::vector<std::size_t> sizes;
  Notes arrived;
  int requests = 0;
};
Several* several = nullptr;

void on_several(ZeroCopyRequest& request, std::uint32_t list) {
  EXPECT_EQ(request.source(), before(1));
  EXPECT_EQ(list, 5u);
  ASSERT_EQ(request.payloads(), std::max<std::size_t>(several->sizes.size(), 1));
  for (std::size_t i = 0; i < several->sizes.size(); ++i) {
    EXPECT_EQ(request.bytes(i), several->sizes[i]);
  }
  EXPECT_EQ(request.bytes(), std::accumulate(several->sizes.begin(), several->sizes.end(), 0ul));
  ++several->requests;
  switch (several->into) {
    case Into::kEach: return request.receive(several->each, several->arrived.callback(), 5);
    case Into::kTooFew:
      return request.receive(several->each.first(several->each.size() / 2),
                             several->arrived.callback(), 5);
    case Into::kOne: return request.receive(several->one, several->arrived.callback(), 5);
    case Into::kPosted: return request.match(kTag);
    case Into::kNowhere: return;
  }
}

// Everybody sends payloads of these sizes to the next process, each in a block of its own.
void send_several(ZeroCopy& zero, Into into, const std::vector<std::size_t>& sizes) {
  SCOPED_TRACE(testing::Message() << sizes.size() << " payloads, into " << static_cast<int>(into));
  std::vector<std::unique_ptr<Memory>> from, to;
  std::vector<std::span<const std::byte>> payloads;
  std::vector<std::span<std::byte>> each;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    from.push_back(
        std::make_unique<Memory>(zero, i % 3 == 0 ? Place::kPool : Place::kHeap, sizes[i]));
    from.back()->fill(me() * 1000 + i);
    payloads.emplace_back(from.back()->bytes());
    to.push_back(std::make_unique<Memory>(zero, Place::kHeap, sizes[i] + i % 2));
    each.push_back(to.back()->bytes());
  }
  const std::size_t sum = std::accumulate(sizes.begin(), sizes.end(), 0ul);
  Memory one(zero, Place::kHeap, into == Into::kOne ? sum - sum / 3 : sum);  // less than all
  Several now{into, each, one.bytes(), sizes, {}, 0};
  several = &now;
  if (into == Into::kPosted && me() % 2 == 0) {
    zero.post(kTag, one.bytes(), now.arrived.callback(), 5);
  }
  barrier();
  Notes left;
  zero.request_zero_copy<&on_several>(after(1), payloads, left.callback(), 5u);
  bundle().wait_until([&] { return now.requests == 1; });
  if (into == Into::kPosted && me() % 2 != 0) {
    zero.post(kTag, one.bytes(), now.arrived.callback(), 5);
  }
  settle(zero);
  const std::size_t first = into == Into::kTooFew ? sizes.size() / 2 : sizes.size();
  std::size_t taken = std::accumulate(sizes.begin(), sizes.begin() + std::ptrdiff_t(first), 0ul);
  if (into == Into::kOne) taken = one.bytes().size();
  if (into == Into::kNowhere) taken = 0;
  ASSERT_EQ(left.all.size(), 1u);
  EXPECT_EQ(left.last().bytes, taken);
  EXPECT_TRUE(left.last().source);
  ASSERT_EQ(now.arrived.all.size(), into == Into::kNowhere ? 0u : 1u);
  if (into != Into::kNowhere) {
    EXPECT_EQ(now.arrived.last().bytes, taken);
    EXPECT_EQ(now.arrived.last().buffer.reference, 5u);
    EXPECT_FALSE(now.arrived.last().source);
  }
  if (into == Into::kEach && !sizes.empty()) {
    EXPECT_EQ(now.arrived.last().data().data(), each.front().data());
    EXPECT_EQ(now.arrived.last().data().size(), std::min(taken, each.front().size()));
  }
  if (into == Into::kOne || into == Into::kPosted) {
    EXPECT_EQ(now.arrived.last().data().data(), one.bytes().data());
    std::vector<std::byte> wanted;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      Memory sent(zero, Place::kHeap, sizes[i]);
      sent.fill(before(1) * 1000 + i);
      wanted.insert(wanted.end(), sent.bytes().begin(), sent.bytes().end());
    }
    EXPECT_TRUE(std::ranges::equal(one.bytes(), std::span(wanted).first(one.bytes().size())));
  } else {
    EXPECT_TRUE(one.holds(0, 0)) << "guards, and what nobody writes";
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const bool is_taken = into != Into::kNowhere && i < first;
      EXPECT_TRUE(to[i]->holds(before(1) * 1000 + i, is_taken ? sizes[i] : 0)) << i;
    }
  }
  barrier();
}

TEST(Requests, several_payloads_arrive_each_in_its_memory_or_all_in_one) {
  ZeroCopy zero(job(), bundle());
  zero.add_handlers<&on_several>();
  for (const Into into : {Into::kEach, Into::kOne, Into::kTooFew, Into::kPosted, Into::kNowhere}) {
    for (const auto& sizes : kLists) {
      send_several(zero, into, sizes);
      if (HasFailure()) return;
    }
  }
  const std::vector<std::span<const std::byte>> too_many(129);
  EXPECT_THROW(zero.request_zero_copy<&on_several>(after(1), too_many, {}, 5u), Error);
  EXPECT_TRUE(zero.idle());
  barrier();
}

std::vector<std::byte> gathered;

void on_gathered(ZeroCopyRequest& request) {
  request.receive(gathered, [](const ZeroCopyDone&) { ++landings; });
}

TEST(Requests, several_payloads_reach_all_and_their_sender_hears_once) {
  ZeroCopy zero(job(), bundle());
  zero.add_handlers<&on_gathered>();
  std::vector<Rank> everybody(job().size());
  std::iota(everybody.begin(), everybody.end(), Rank{0});
  Memory small(zero, Place::kHeap, 100), large(zero, Place::kHeap, 50'000);
  small.fill(1);
  large.fill(2);
  landings = 0;
  gathered.assign(50'100, {});
  barrier();
  Notes left;
  if (me() == 0) {
    const std::span<const std::byte> payloads[] = {small.bytes(), large.bytes()};
    zero.request_zero_copy<&on_gathered>(everybody, payloads, left.callback());
    zero.request_zero_copy<&on_gathered>(std::span<const Rank>(), payloads, left.callback());
  }
  bundle().wait_until([] { return landings == 1; });
  settle(zero);
  EXPECT_TRUE(std::ranges::equal(std::span(gathered).first(100), small.bytes()));
  EXPECT_TRUE(std::ranges::equal(std::span(gathered).subspan(100), large.bytes()));
  ASSERT_EQ(left.all.size(), me() == 0 ? 2u : 0u);
  if (me() == 0) {
    EXPECT_EQ(left.last().bytes + left.all.front().bytes, 50'100u);
  }
  barrier();
}

// --- Many

std::vector<std::byte> heap_of_many;

void on_one_of_many(ZeroCopyRequest& request, std::uint64_t number) {
  request.receive(std::span(heap_of_many).subspan(number % 7, request.bytes()),
                  [](const ZeroCopyDone&) { ++landings; });
}

// Were all looked at by every poll, the time would grow with the square of their number.
TEST(Requests, tens_of_thousands_are_under_way_at_a_time) {
  constexpr int kMany = 20'000;
  ZeroCopy zero(job(), bundle());
  zero.add_handlers<&on_one_of_many>();
  Memory small(zero, Place::kHeap, 64), large(zero, Place::kHeap, 5000);
  heap_of_many.assign(6000, {});
  landings = 0;
  barrier();
  int left = 0;
  for (std::uint64_t i = 0; i < kMany; ++i) {
    const Rank to = after(1 + static_cast<std::uint32_t>(i % (job().size() - 1)));
    const auto payload = i % 100 == 0 ? large.bytes() : small.bytes();
    zero.request_zero_copy<&on_one_of_many>(
        to, payload, [&](const ZeroCopyDone&) { ++left; }, i);
  }
  EXPECT_FALSE(zero.idle());
  bundle().wait_until([&] { return left == kMany && landings == kMany; });
  settle(zero);
  EXPECT_EQ(left, kMany);
  EXPECT_EQ(landings, kMany);
  barrier();
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

// --- Memory that cannot be reached

// Pages that nobody may touch.
class Closed {
 public:
  explicit Closed(std::size_t bytes)
      : at_(mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)), size_(bytes) {
    EXPECT_NE(at_, MAP_FAILED);
  }
  Closed(const Closed&) = delete;
  Closed& operator=(const Closed&) = delete;
  ~Closed() { munmap(at_, size_); }
  std::span<std::byte> bytes() const { return {static_cast<std::byte*>(at_), size_}; }

 private:
  void* const at_;
  const std::size_t size_;
};

struct Attempt {
  std::vector<std::span<std::byte>> memory;
  Notes arrived;
  std::string said;  // by receive()
};
Attempt* attempt = nullptr;

void on_attempt(ZeroCopyRequest& request) {
  try {
    request.receive(attempt->memory, attempt->arrived.callback());
  } catch (const Error& error) {
    attempt->said = error.what();
  }
}

// Sends `payloads` to the next process, which has `now.memory` for them, and returns what the
// sender's callback was given. Collective.
ZeroCopyDone attempt_to_send(ZeroCopy& zero, std::vector<std::span<const std::byte>> payloads,
                             Attempt& now) {
  attempt = &now;
  barrier();
  Notes left;
  zero.request_zero_copy<&on_attempt>(after(1), payloads, left.callback());
  bundle().wait_until([&] { return left.all.size() == 1 && now.arrived.all.size() == 1; });
  settle(zero);
  EXPECT_EQ(left.all.size(), 1u);
  EXPECT_EQ(now.arrived.all.size(), 1u);
  EXPECT_TRUE(zero.idle());
  return left.last();
}

// The kernel, which copies within a node, sees what no process may touch.
TEST(Requests, end_at_both_ends_though_a_handler_catches_what_receive_throws) {
  constexpr std::size_t kBytes = 100'000;
  ZeroCopy zero(job(), bundle());
  zero.add_handlers<&on_attempt>();
  std::vector<std::byte> from(kBytes, std::byte{5}), to(kBytes), small(10, std::byte{7}), few(10);
  const Closed closed(kBytes);
  Attempt works{{to}, {}, ""};
  EXPECT_EQ(attempt_to_send(zero, {from}, works).bytes, kBytes);
  EXPECT_EQ(works.said, "");
  const auto crossed = job().exchange(zero.stats().cross_memory);
  if (std::ranges::count(crossed, 0u) != 0) GTEST_SKIP() << "not all bytes go by the kernel";

  Attempt one{{closed.bytes()}, {}, ""};
  EXPECT_EQ(attempt_to_send(zero, {from}, one).bytes, 0u);
  EXPECT_NE(one.said.find("ZeroCopyRequest::receive: the memory of the payload of rank "),
            std::string::npos)
      << one.said;
  EXPECT_EQ(one.arrived.last().bytes, 0u);

  std::ranges::fill(to, std::byte{});
  Attempt among_others{{closed.bytes(), few, to}, {}, ""};
  EXPECT_EQ(attempt_to_send(zero, {from, small, from}, among_others).bytes, kBytes + 10);
  EXPECT_NE(among_others.said, "");
  EXPECT_EQ(among_others.arrived.last().bytes, kBytes + 10);
  EXPECT_EQ(to, from);
  EXPECT_EQ(few, small);
  barrier();
}

}  // namespace
}  // namespace am::zero_copy_test
