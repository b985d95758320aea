// Channels of one sender to many receivers, and of many senders to one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "tests/support/job_main.h"

namespace am {
namespace many_test {

using ::test::barrier;
using ::test::bundle;
using ::test::job;
using ::test::rank;
using ::test::size;

std::byte* segment() { return job().router().segment(); }

// `root` puts `times` times to the processes in `to`, which see every one.
void multicast(Rank root, std::vector<Rank> to, std::size_t words, int times) {
  SCOPED_TRACE("root " + std::to_string(root) + ", " + std::to_string(words) + " words");
  const bool receives = std::ranges::find(to, rank()) != to.end();
  const std::span room(reinterpret_cast<std::uint64_t*>(segment()), words);
  std::ranges::fill(room, 0);
  int arrived = 0;
  ReceiveChannel in(bundle(), std::as_writable_bytes(room), [&] { ++arrived; });
  const std::vector<ChannelHandle> all = job().exchange(in.handle());
  std::vector<ChannelHandle> receivers;
  for (const Rank one : to) receivers.push_back(all[one]);
  std::vector<std::uint64_t> source(words);
  std::optional<MulticastChannel> out;
  if (rank() == root) {
    out.emplace(bundle(), receivers);
    out->associate(std::as_bytes(std::span(source)));
  }
  barrier();
  for (int time = 1; time <= times; ++time) {
    if (rank() == root) {
      std::iota(source.begin(), source.end(), time * 1000);
      out->put();
      bundle().wait_until([&] { return out->reusable(); });
      std::ranges::fill(source, 7);  // reusable is reusable
    }
    if (receives) {
      bundle().wait_until([&] { return arrived == time; });
      for (std::size_t i = 0; i < words; ++i) ASSERT_EQ(room[i], time * 1000 + i);
      in.ready();
    }
    barrier();
  }
  EXPECT_EQ(arrived, receives ? times : 0);
  out.reset();
  barrier();
}

TEST(Multicast, reaches_everybody_from_anybody) {
  std::vector<Rank> all(size());
  std::iota(all.begin(), all.end(), 0u);
  for (Rank root = 0; root < size(); ++root) {
    for (const std::size_t words : {1u, 600u, 40'000u}) multicast(root, all, words, 3);
  }
}

TEST(Multicast, reaches_those_named_and_nobody_else) {
  std::vector<Rank> all(size());
  std::iota(all.begin(), all.end(), 0u);
  std::mt19937_64 random(::test::seed());  // the same in all processes
  for (int i = 0; i < 10; ++i) {
    std::ranges::shuffle(all, random);
    const std::vector<Rank> some(all.begin(), all.begin() + 1 + random() % all.size());
    multicast(random() % size(), some, 1 + random() % 1000, 2);
  }
}

TEST(Multicast, refuses_receivers_of_different_sizes) {
  ReceiveChannel one(bundle(), {segment(), 8}, [] {});
  ReceiveChannel other(bundle(), {segment(), 16}, [] {});
  const std::vector<ChannelHandle> receivers{one.handle(), other.handle()};
  EXPECT_THROW(MulticastChannel(bundle(), receivers), Error);
}

// Everybody sends `count` elements to process 0, several times.
template <class T, class Op>
void reduce(std::size_t count, Op op) {
  const auto element = [](Rank from, int time, std::size_t i) {
    return static_cast<T>(static_cast<T>(from + 1) / static_cast<T>(3) +
                          static_cast<T>((time * 7 + i * from) % 100));
  };
  const std::span room(reinterpret_cast<T*>(segment()), count * size());
  std::vector<T> result(count);
  int arrived = 0;
  std::optional<ReduceChannel<T, Op>> in;
  std::vector<ChannelHandle> handles(size());
  if (rank() == 0) {
    in.emplace(
        bundle(), std::span(result), room, size(), [&] { ++arrived; }, op);
    for (Rank from = 0; from < size(); ++from) handles[from] = in->handle(from);
  }
  ChannelHandle mine;
  for (Rank from = 0; from < size(); ++from) {
    const ChannelHandle handle = job().exchange(handles[from])[0];
    if (from == rank()) mine = handle;
  }
  std::vector<T> source(count);
  SendChannel out(bundle(), mine);
  out.associate(std::as_bytes(std::span(source)));
  for (int time = 1; time <= 5; ++time) {
    for (std::size_t i = 0; i < count; ++i) source[i] = element(rank(), time, i);
    out.put();
    if (rank() == 0) {
      bundle().wait_until([&] { return arrived == time; });
      for (std::size_t i = 0; i < count; ++i) {
        T expected = element(0, time, i);
        for (Rank from = 1; from < size(); ++from) expected = op(expected, element(from, time, i));
        ASSERT_EQ(result[i], expected) << "element " << i << " of time " << time;
      }
      in->ready();
    }
    bundle().wait_until([&] { return out.reusable(); });
    barrier();
  }
}

TEST(Reduce, adds_in_the_order_of_the_senders) { reduce<double>(1000, Add()); }
TEST(Reduce, finds_the_least) { reduce<std::int32_t>(17, Min()); }
TEST(Reduce, finds_the_greatest) { reduce<float>(1, Max()); }

TEST(Reduce, refuses_room_of_another_size) {
  std::vector<double> result(10);
  const std::span room(reinterpret_cast<double*>(segment()), 29);
  EXPECT_THROW(ReduceChannel<double>(bundle(), std::span(result), room, 3, [] {}), Error);
}

}  // namespace many_test
}  // namespace am
