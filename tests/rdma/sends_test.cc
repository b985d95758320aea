// More sends than a provider has room for: each is refused, or arrives.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <set>
#include <string>

#include "rdma/endpoint.h"
#include "rdma/error.h"
#include "rdma/memory.h"
#include "rdma/open_fabric.h"
#include "tests/support/providers.h"

namespace rdma {
namespace sends_test {

constexpr std::uint32_t kSends = 3000;  // more than any provider here has places for
constexpr std::size_t kReceives = 256;
constexpr std::size_t kBytes = 64;

// One process's end, with a buffer an operation.
class End {
 public:
  explicit End(const std::string& provider)
      : fabric_({.provider = provider, .one_host = true}, way(provider)),
        endpoint_(fabric_, {.operations = kSends + kReceives}),
        outgoing_(fabric_, endpoint_, kSends, kBytes),
        incoming_(fabric_, endpoint_, kReceives, kBytes) {
    for (std::uint32_t i = 0; i < kSends; ++i) sends_.emplace_back(Op::Kind::kSend);
    for (std::size_t i = 0; i < kReceives; ++i) {
      receives_.emplace_back(Op::Kind::kReceive);
      waiting_.push_back(i);
    }
    post();
  }

  Endpoint& endpoint() { return endpoint_; }
  fi_addr_t reach(End& other) { return endpoint_.insert(other.endpoint_.address()); }

  bool try_send(fi_addr_t to, std::uint32_t number) {
    std::memcpy(outgoing_[number].data(), &number, sizeof number);
    return endpoint_.try_send(to, outgoing_[number], outgoing_.descriptor(), sends_[number]);
  }

  void poll() {
    std::array<fi_cq_data_entry, 16> events;
    Failure failure;
    const int count = endpoint_.poll(events, failure);
    ASSERT_GE(count, 0) << failure.text;
    for (int i = 0; i < count; ++i) take(Op::of(events[static_cast<std::size_t>(i)].op_context));
    post();
  }

  std::uint32_t sent() const { return sent_; }  // reported complete
  const std::multiset<std::uint32_t>& received() const { return received_; }

 private:
  static Way way(const std::string& provider) {
    return Fabric::candidates({.provider = provider, .one_host = true}).front().way;
  }

  void take(const Op& op) {
    if (op.kind == Op::Kind::kSend) {
      ++sent_;
      return;
    }
    const auto slot = static_cast<std::size_t>(
        std::ranges::find_if(receives_, [&](const Op& one) { return &one == &op; }) -
        receives_.begin());
    std::uint32_t number = 0;
    std::memcpy(&number, incoming_[slot].data(), sizeof number);
    received_.insert(number);
    waiting_.push_back(slot);
  }

  void post() {
    while (!waiting_.empty()) {
      const std::size_t slot = waiting_.back();
      if (!endpoint_.try_receive(incoming_[slot], incoming_.descriptor(), receives_[slot])) return;
      waiting_.pop_back();
    }
  }

  Fabric fabric_;
  Endpoint endpoint_;
  Buffers outgoing_;
  Buffers incoming_;
  std::deque<Op> sends_;
  std::deque<Op> receives_;
  std::deque<std::size_t> waiting_;  // to be posted
  std::uint32_t sent_ = 0;
  std::multiset<std::uint32_t> received_;
};

class Sends : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    try {
      Fabric::candidates({.provider = GetParam(), .one_host = true});
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }
};

TEST_P(Sends, beyond_the_room_there_is_are_refused_or_arrive) {
  End from(GetParam());
  End to(GetParam());
  const fi_addr_t there = from.reach(to);
  std::multiset<std::uint32_t> accepted;
  const auto send = [&](std::uint32_t number) {
    if (!from.try_send(there, number)) return false;
    accepted.insert(number);
    return true;
  };
  const auto all_arrive = [&] {
    while (from.sent() < accepted.size() || to.received().size() < accepted.size()) {
      ASSERT_NO_FATAL_FAILURE(from.poll());
      ASSERT_NO_FATAL_FAILURE(to.poll());
    }
  };
  while (!send(0)) {  // makes the connection
    ASSERT_NO_FATAL_FAILURE(from.poll());
    ASSERT_NO_FATAL_FAILURE(to.poll());
  }
  all_arrive();
  for (std::uint32_t number = 1; number < kSends; ++number) send(number);  // and nobody polls
  all_arrive();
  while (!send(0)) ASSERT_NO_FATAL_FAILURE(from.poll());  // there is room again
  all_arrive();
  EXPECT_EQ(to.received(), accepted);
}

INSTANTIATE_TEST_SUITE_P(Software, Sends, ::test::software_providers(), ::test::provider_name);

}  // namespace sends_test
}  // namespace rdma
