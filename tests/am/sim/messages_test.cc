// Active Messages on a network that delays, reorders and refuses what it may.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "am/core/endpoint.h"
#include "tests/am/sim/simulated.h"

namespace am::sim {
namespace messages_test {

constexpr std::uint64_t kEach = 60;     // messages of each process
constexpr std::size_t kLongest = 9000;  // bytes, of a long message: more than one packet takes

bool is_content(std::span<const std::byte> bytes, std::uint64_t key) {
  return soak::difference(bytes, key).empty();
}

// What has come to the endpoint of this process.
struct Log {
  std::map<std::uint64_t, int> requests, answers;
  int damaged = 0;
  std::vector<Status> returned;
};
thread_local Log seen;

void on_answer(Reply, std::uint64_t id) { ++seen.answers[id]; }
void on_medium_answer(Reply, std::span<const std::byte> bytes, std::uint64_t id) {
  ++seen.answers[id];
  seen.damaged += !is_content(bytes, id + 1);
}
void on_long_answer(Reply, std::span<std::byte> bytes, std::uint64_t id) {
  ++seen.answers[id];
  seen.damaged += !is_content(bytes, id + 2);
}
void on_short(Request request, std::uint64_t id) {
  ++seen.requests[id];
  if (id % 3 != 0) std::move(request).reply<&on_answer>(id);  // else the empty reply
}
void on_one_way(OneWay, std::uint64_t id) { ++seen.requests[id]; }
void on_medium(Request request, std::span<const std::byte> bytes, std::uint64_t id) {
  ++seen.requests[id];
  seen.damaged += !is_content(bytes, id);
  std::move(request).reply_medium<&on_medium_answer>(content(id + 1, bytes.size()), id);
}
// The answer goes to where the requester said.
void on_long(Request request, std::span<std::byte> bytes, std::uint64_t id, std::uint64_t back) {
  ++seen.requests[id];
  seen.damaged += !is_content(bytes, id);
  std::move(request).reply_long<&on_long_answer>(back, content(id + 2, bytes.size()), id);
}

void on_long_one_way(OneWay, std::span<std::byte> bytes, std::uint64_t id) {
  ++seen.requests[id];
  seen.damaged += !is_content(bytes, id);
}

void on_bad(Request, std::uint64_t id) {
  ++seen.requests[id];
  if (id % 3 == 0) throw std::runtime_error("on purpose");
}
void on_bad_one_way(OneWay, std::uint64_t id) {
  ++seen.requests[id];
  if (id % 3 == 0) throw std::runtime_error("on purpose");
}

class Messages : public Simulated {};

// Each process sends to all others, and waits for room as programs do.
void send_all_kinds(Process& process) {
  seen = {};
  Endpoint endpoint(process.bundle());
  endpoint.add_handlers<&on_answer, &on_medium_answer, &on_long_answer, &on_short, &on_one_way,
                        &on_medium, &on_long>();
  process.connect(endpoint);
  // Of each process's segment the one half is for requests, a part for each source, and the other
  // for answers.
  const std::uint64_t part = Process::kSegment / 2 / kProcesses;
  std::uint64_t answers = 0;
  for (std::uint64_t n = 0; n < kEach; ++n) {
    const Rank to = (process.rank() + 1 + process.any(kProcesses - 1)) % kProcesses;
    const std::uint64_t id = (process.rank() + 1) * 1000 + n;
    switch (process.any(4)) {
      case 0:
        endpoint.request<&on_short>(to, id);
        answers += id % 3 != 0;
        break;
      case 1: endpoint.request<&on_one_way>(to, id); break;
      case 2:
        endpoint.request_medium<&on_medium>(to, content(id, process.any(max_medium() + 1)), id);
        ++answers;
        break;
      case 3: {
        // One at a time, as the next has the same place.
        const std::uint64_t offset = process.rank() * part;
        const std::uint64_t back = Process::kSegment / 2;
        const std::size_t bytes = 1 + process.any(kLongest);
        const auto before = seen.answers[id];
        endpoint.request_long<&on_long>(to, offset, content(id, bytes), id, back);
        process.bundle().wait_until([&] { return seen.answers[id] != before; });
        ++answers;
      }
    }
  }
  endpoint.flush();
  EXPECT_EQ(seen.answers.size(), answers) << "flush() has returned before an answer";
  process.barrier();  // what others have flushed has been handled here
  for (const auto& [id, count] : seen.requests) EXPECT_EQ(count, 1) << id;
  for (const auto& [id, count] : seen.answers) EXPECT_EQ(count, 1) << id;
  EXPECT_EQ(seen.damaged, 0);
  const auto received = process.exchange(static_cast<std::uint64_t>(seen.requests.size()));
  EXPECT_EQ(std::accumulate(received.begin(), received.end(), std::uint64_t{0}),
            kEach * kProcesses);
  process.barrier();
}

TEST_P(Messages, arrive_once_and_whole_and_flush_waits_for_all) { run_all(send_all_kinds); }

TEST_P(Messages, that_nobody_takes_come_back_with_the_reason) {
  run_all([](Process& process) {
    seen = {};
    Endpoint endpoint(process.bundle());
    endpoint.on_returned([](const Returned& r) { seen.returned.push_back(r.status); });
    process.connect(endpoint);
    constexpr std::uint32_t kNothing[] = {1};
    for (int i = 0; i < 20; ++i) endpoint.request_index(process.right(), 200, kNothing);
    endpoint.flush();
    EXPECT_EQ(seen.returned, std::vector(20, Status::kBadHandler));
    process.barrier();
  });
}

// More than there are credits: each comes back although its handler has thrown.
TEST_P(Messages, whose_handlers_throw_lose_no_credit) {
  run_all([](Process& process) {
    constexpr std::uint64_t kSent = 300;
    seen = {};
    Endpoint endpoint(process.bundle());
    endpoint.add_handlers<&on_bad, &on_bad_one_way>();
    process.connect(endpoint);
    if (process.rank() == 0) {
      std::uint64_t thrown = 0;
      const auto all = [] { return seen.requests.size() == kSent * (kProcesses - 1); };
      while (!all()) {
        try {
          process.bundle().wait_until(all);
        } catch (const std::runtime_error&) {
          ++thrown;
        }
      }
      EXPECT_EQ(thrown, kSent / 3 * (kProcesses - 1));
    } else {
      for (std::uint64_t n = 0; n < kSent; ++n) {
        const std::uint64_t id = process.rank() * 3 * kSent + n;
        if (process.any(2) == 0) {
          endpoint.request<&on_bad>(0, id);
        } else {
          endpoint.request<&on_bad_one_way>(0, id);
        }
      }
      endpoint.flush();
    }
    process.barrier();
  });
}

// One endpoint ends in the middle of what others send to it: each message is handled or comes back.
TEST_P(Messages, to_an_endpoint_that_ends_are_handled_or_come_back) {
  run_all([](Process& process) {
    seen = {};
    std::uint64_t sent = 0;
    std::array<std::uint64_t, kProcesses> handled{};  // here, by source
    auto endpoint = std::make_unique<Endpoint>(process.bundle());
    endpoint->add_handlers<&on_answer, &on_short, &on_one_way>();
    endpoint->on_returned([](const Returned& r) { seen.returned.push_back(r.status); });
    process.connect(*endpoint);
    if (process.rank() == 0) {
      const std::uint64_t until = process.any(40);
      process.bundle().wait_until([&] { return seen.requests.size() >= until; });
      endpoint.reset();
      for (const auto& [id, count] : seen.requests) {
        EXPECT_EQ(count, 1) << id;
        ++handled.at(id / 3000);
      }
    } else {
      for (std::uint64_t n = 0; n < kEach; ++n, ++sent) {
        const std::uint64_t id = 3 * (process.rank() * 1000 + n);  // without an answer
        if (n % 2 == 0) {
          endpoint->request<&on_short>(0, id);
        } else {
          endpoint->request<&on_one_way>(0, id);
        }
      }
      endpoint->flush();
    }
    process.barrier();
    const std::uint64_t of_mine = process.exchange(handled)[0][process.rank()];
    EXPECT_EQ(of_mine + seen.returned.size(), sent);
    EXPECT_TRUE(std::ranges::all_of(seen.returned,
                                    [](Status status) { return status == Status::kBadEndpoint; }));
    process.barrier();
  });
}

// ... and one that ends just after it has sent: what has to leave before, does.
TEST_P(Messages, of_an_endpoint_that_ends_arrive_all_the_same) {
  run_all([](Process& process) {
    seen = {};
    auto endpoint = std::make_unique<Endpoint>(process.bundle());
    endpoint->add_handlers<&on_one_way, &on_long_one_way>();
    process.connect(*endpoint);
    constexpr std::uint64_t kSent = 6;
    if (process.rank() != 0) {
      for (std::uint64_t n = 0; n < kSent; ++n) {
        const std::uint64_t id = process.rank() * 1000 + n;
        const std::uint64_t offset = (process.rank() * kSent + n) * kLongest;
        if (process.any(2) == 0) {
          endpoint->request<&on_one_way>(0, id);
        } else {
          endpoint->request_long<&on_long_one_way>(0, offset,
                                                   content(id, 1 + process.any(kLongest)), id);
        }
      }
      endpoint.reset();
    } else {
      constexpr std::uint64_t kAll = kSent * (kProcesses - 1);
      process.bundle().wait_until([&] { return seen.requests.size() == kAll; });
      EXPECT_EQ(seen.damaged, 0);
    }
    process.barrier();
  });
}

INSTANTIATE_TEST_SUITE_P(Over, Messages, testing::ValuesIn(kKinds), Kind::name_of);

}  // namespace messages_test
}  // namespace am::sim
