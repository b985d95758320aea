// A put and a message behind it. Off node they keep no order. On a node the data is there when the
// message is handled; the callback may come before or after.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "tests/support/job_main.h"

namespace am {
namespace order_test {

using ::test::barrier;
using ::test::bundle;
using ::test::job;
using ::test::rank;

constexpr std::uint64_t kBytes = (4 << 20) + 8;
constexpr std::uint64_t kWords = kBytes / 8;

std::uint64_t* buffer() { return reinterpret_cast<std::uint64_t*>(job().router().segment()); }

// The words that are those of that put.
std::uint64_t right_words(std::uint64_t put) {
  std::uint64_t count = 0;
  for (std::uint64_t i = 0; i < kWords; ++i) count += buffer()[i] == put * kWords + i;
  return count;
}

std::uint64_t messages = 0;
std::uint64_t right_at_message = 0;
void on_message(OneWay, std::uint64_t put) {
  ++messages;
  right_at_message = right_words(put);
}

TEST(Order, of_a_put_and_a_message_behind_it) {
  Endpoint endpoint(bundle());
  endpoint.add_handlers<&on_message>();
  job().connect(endpoint);
  const Rank right = (rank() + 1) % job().size();
  const Rank left = (rank() + job().size() - 1) % job().size();
  std::uint64_t told = 0;
  std::uint64_t right_at_callback = 0;
  ReceiveChannel in(bundle(), std::as_writable_bytes(std::span(buffer(), kWords)),
                    [&] { right_at_callback = right_words(++told); });
  SendChannel out(bundle(), job().exchange(in.handle())[right]);
  std::vector<std::uint64_t> source(kWords);
  out.associate(std::as_bytes(std::span(source)));
  messages = 0;
  for (std::uint64_t put = 1; put <= 5; ++put) {
    for (std::uint64_t i = 0; i < kWords; ++i) source[i] = put * kWords + i;
    out.put();
    endpoint.request<&on_message>(right, put);
    bundle().wait_until([&] { return told == put && messages == put && out.reusable(); });
    EXPECT_EQ(right_at_callback, kWords);
    if (job().router().is_near(left)) {
      EXPECT_EQ(right_at_message, kWords);
    }
    in.ready();
    barrier();
  }
  out.close();
  barrier();
}

}  // namespace order_test
}  // namespace am
