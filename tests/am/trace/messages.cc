// Sends messages of every kind, for job_trace_test, and says how many: lines "<rank> <what>
// <count>".
#include <array>
#include <cstdio>
#include <exception>
#include <span>
#include <utility>
#include <vector>

#include "am/am.h"
#include "am/channel/channel.h"

namespace {

constexpr int kRounds = 20;
constexpr std::size_t kLarge = 10'000;  // between nodes it goes before its message

struct Counts {
  int on_short = 0, on_medium = 0, on_long = 0, on_tell = 0;  // handlers of requests
  int on_answer = 0, on_more = 0;                             // of replies
  int requests = 0, one_way = 0;
} counts;

void on_answer(am::Reply, int) { ++counts.on_answer; }
void on_more(am::Reply, std::span<std::byte>) { ++counts.on_more; }
void on_short(am::Request request, int x) {
  ++counts.on_short;
  std::move(request).reply<&on_answer>(x);
}
void on_medium(am::Request request, std::span<const std::byte> payload) {
  ++counts.on_medium;
  std::move(request).reply_long<&on_more>(0, payload);
}
void on_long(am::Request request, std::span<std::byte>) {
  ++counts.on_long;
  std::move(request).reply<&on_answer>(0);
}
void on_tell(am::OneWay, int, std::array<int, 12>) { ++counts.on_tell; }

void send_to(am::Endpoint& endpoint, am::Rank to) {
  const std::vector<std::byte> medium(100), large(kLarge);
  for (int round = 0; round < kRounds; ++round) {
    endpoint.request<&on_short>(to, round);
    endpoint.request_medium<&on_medium>(to, medium);
    endpoint.request<&on_tell>(to, round, std::array<int, 12>{});
    endpoint.request_long<&on_long>(to, 4096 + kLarge * (endpoint.name().rank % 64), large);
    counts.requests += 3;
    counts.one_way += 1;
  }
}

// Everybody puts to the next.
void use_channel(am::Job& job, am::Bundle& bundle) {
  std::vector<std::byte> here(64), there(64);
  std::byte* const buffer = job.router().segment() + 2'000'000;
  int arrived = 0;
  am::ReceiveChannel receive(bundle, std::span(buffer, 64), [&] { ++arrived; });
  const auto handles = job.exchange(receive.handle());
  am::SendChannel send(bundle, handles[(job.rank() + 1) % job.size()]);
  send.associate(here);
  for (int round = 1; round <= kRounds; ++round) {
    send.put();
    bundle.wait_until([&] { return arrived == round; });
    receive.ready();
    job.barrier(bundle);
  }
}

}  // namespace

int main() try {
  am::Job job;
  am::Bundle bundle(job);
  {
    am::Endpoint endpoint(bundle);
    endpoint.add_handlers<&on_short, &on_medium, &on_long, &on_tell, &on_answer, &on_more>();
    job.connect(endpoint);
    for (am::Rank to = 0; to < job.size(); ++to) send_to(endpoint, to);
    job.quiesce(bundle);
  }
  use_channel(job, bundle);
  const auto say = [&](const char* what, int count) {
    std::printf("%u %s %d\n", job.rank(), what, count);
  };
  say("on_short", counts.on_short);
  say("on_medium", counts.on_medium);
  say("on_long", counts.on_long);
  say("on_tell", counts.on_tell);
  say("reply on_answer", counts.on_answer);
  say("reply on_more", counts.on_more);
  say("category request", counts.requests + counts.one_way);
  say("channel put", kRounds);
  say("callback of a channel", kRounds);
  std::fflush(stdout);
  job.finish(bundle);
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
