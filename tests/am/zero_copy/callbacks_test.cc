// When callbacks run, how often, and what they may do.

#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>

#include "tests/am/zero_copy/support.h"
#include "tests/support/seed.h"

namespace am::zero_copy_test {
namespace {

TEST(Callbacks, may_start_transfers_without_end) {
  constexpr std::uint64_t kHops = 300;
  for (const std::size_t bytes : {8, 20'000}) {
    ZeroCopy zero(job(), bundle());
    std::vector<std::byte> in(bytes), out(bytes);
    std::optional<ZeroCopyBuffer> source;
    std::vector<ZeroCopyInfo> all;
    std::uint64_t arrivals = 0;
    bool inside = false;
    source.emplace(zero, out);
    ZeroCopyBuffer destination(zero, in, [&](const ZeroCopyDone&) {
      EXPECT_FALSE(inside) << "a callback ran inside a callback";
      inside = true;
      if (++arrivals < kHops) source->put(all[after(1)]);
      inside = false;
    });
    all = show(destination.info());
    barrier();  // the others' callbacks need it
    const std::uint64_t before = arrivals;
    source->put(all[after(1)]);
    EXPECT_EQ(arrivals, before) << "a callback ran inside put()";
    bundle().wait_until([&] { return arrivals == kHops; });
    settle(zero);
    EXPECT_EQ(arrivals, kHops);
  }
}

TEST(Callbacks, run_once_for_each_of_many_at_a_time) {
  constexpr std::uint32_t kEach = 150;
  ZeroCopy zero(job(), bundle());
  std::mt19937_64 random(::test::seed() + me());
  std::vector<std::byte> in(9000), out(9000);
  Notes arrived, left;
  ZeroCopyBuffer destination(zero, in, arrived.callback());
  const auto all = show(destination.info());
  std::vector<std::unique_ptr<ZeroCopyBuffer>> sources;
  for (std::uint32_t i = 0; i < kEach; ++i) {
    const std::size_t bytes = random() % 2 == 0 ? random() % 64 : random() % out.size();
    sources.push_back(
        std::make_unique<ZeroCopyBuffer>(zero, std::span(out).first(bytes), left.callback(),
                                         i % 2 == 0 ? ZeroCopyMode::kUnreg : ZeroCopyMode::kReg));
    sources.back()->set_reference(i);
  }
  for (std::uint32_t steps = 0; steps < job().size(); ++steps) {
    for (const auto& source : sources) source->put(all[after(steps)]);
  }
  const std::size_t expected = std::size_t{kEach} * job().size();
  bundle().wait_until(
      [&] { return left.all.size() == expected && arrived.all.size() == expected; });
  settle(zero);
  EXPECT_EQ(left.all.size(), expected);
  EXPECT_EQ(arrived.all.size(), expected);
  std::vector<std::uint32_t> times(kEach);
  for (const ZeroCopyDone& done : left.all) {
    ++times[done.buffer.reference];
    EXPECT_EQ(done.bytes, sources[done.buffer.reference]->memory().size());
  }
  EXPECT_EQ(std::ranges::count(times, job().size()), kEach);
}

TEST(Callbacks, may_initialise_and_end_their_buffers) {
  ZeroCopy zero(job(), bundle());
  std::vector<std::byte> in(100), out(100, std::byte{7});
  Notes arrived;
  ZeroCopyBuffer destination(zero, in, arrived.callback());
  const auto all = show(destination.info());
  int first = 0, second = 0;
  std::unique_ptr<ZeroCopyBuffer> source;
  const auto last = [&](const ZeroCopyDone&) {
    ++second;
    source.reset();
  };
  source = std::make_unique<ZeroCopyBuffer>(zero, out, [&](const ZeroCopyDone&) {
    ++first;
    source->init(std::span(out).first(50), last, ZeroCopyMode::kReg);
    source->put(all[after(1)]);
  });
  source->put(all[after(1)]);
  bundle().wait_until([&] { return second == 1 && arrived.all.size() == 2; });
  settle(zero);
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 1);
  EXPECT_EQ(source, nullptr);
  EXPECT_EQ(arrived.all.size(), 2u);
}

TEST(Callbacks, are_not_called_when_empty_or_when_the_buffer_has_ended) {
  ZeroCopy zero(job(), bundle());
  std::vector<std::byte> in(100), out(100, std::byte{7});
  int calls = 0;
  ZeroCopyBuffer destination(zero, in);
  const auto all = show(destination.info());
  ZeroCopyBuffer quiet(zero, out);
  quiet.put(all[after(1)]);
  bundle().wait_until([&] { return in == out; }, Wake::kMemory);
  settle(zero);
  EXPECT_EQ(quiet.under_way() + destination.under_way(), 0u);
  {
    ZeroCopyBuffer ended(zero, out, [&](const ZeroCopyDone&) { ++calls; });
    ended.put(all[after(1)]);
  }
  settle(zero);
  EXPECT_EQ(calls, 0);
}

TEST(Callbacks, may_throw_and_what_they_throw_leaves_poll) {
  ZeroCopy zero(job(), bundle());
  std::vector<std::byte> in(100), out(100);
  Notes left;
  ZeroCopyBuffer destination(zero, in, [](const ZeroCopyDone&) { throw std::logic_error("no"); });
  ZeroCopyBuffer source(zero, out, left.callback());
  source.put(destination.info());
  EXPECT_THROW(zero.wait(), std::logic_error);
  EXPECT_NO_THROW(zero.wait());
  EXPECT_EQ(left.all.size(), 1u);
  barrier();
}

TEST(Callbacks, run_for_a_buffer_that_has_been_moved) {
  ZeroCopy zero(job(), bundle());
  std::vector<std::byte> in(100), out(100, std::byte{9});
  Notes arrived;
  ZeroCopyBuffer first(zero, in, arrived.callback());
  const ZeroCopyInfo info = first.info();
  ZeroCopyBuffer second(std::move(first));
  EXPECT_EQ(second.info(), info);
  ZeroCopyBuffer(zero, out).put(info);
  settle(zero);
  EXPECT_EQ(arrived.all.size(), 1u);
  EXPECT_EQ(in, out);
}

}  // namespace
}  // namespace am::zero_copy_test
