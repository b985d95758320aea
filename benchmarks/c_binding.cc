// A short request and its reply, 8 bytes of arguments both ways, by the C binding beside the same
// in C++, typed and by index. All in turn in one run, in the same two processes.
//
//   ./run -n 2 c_binding

#include <array>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "am/am.h"
#include "am/c/am2.h"
#include "am/c/binding/handles.h"
#include "am/c/spmd.h"
#include "benchmarks/support/clock.h"
#include "benchmarks/support/options.h"
#include "benchmarks/support/report.h"
#include "benchmarks/support/samples.h"

namespace {

int trips = 1000;  // in a sample

const std::vector<bench::Entry> kEntries{
    {"round_trip", "a short request and its reply: in C, by index, typed"}};

struct Counts {
  int requests = 0;
  int replies = 0;
} counts;

// --- In C: handlers 1 and 2.
void on_c_pong(void*, std::int32_t, std::int32_t) { ++counts.replies; }
void on_c_ping(void* token, std::int32_t low, std::int32_t high) {
  ++counts.requests;
  AM_Reply2(token, 2, low, high);
}

// --- Typed.
void on_pong(am::Reply, std::uint64_t) { ++counts.replies; }
void on_ping(am::Request request, std::uint64_t n) {
  ++counts.requests;
  std::move(request).reply<&on_pong>(n);
}

// --- By index.
constexpr am::HandlerIndex kPing = 100;
constexpr am::HandlerIndex kPong = 101;
void on_untyped_pong(am::UntypedMessage, void*) { ++counts.replies; }
void on_untyped_ping(am::UntypedMessage message, void*) {
  ++counts.requests;
  const std::span<const std::uint32_t> words = message.arguments();
  std::move(message).reply_index(kPong, words);
}

void check(int code) {
  if (code == AM_OK) return;
  std::fprintf(stderr, "%s\n", AM_ErrorSentence());
  std::exit(1);
}

// `request()` and `poll()` as each of the three spells them. Returns ns each, at rank 0.
template <class Request, class Poll>
double round_trips(Request&& request, Poll&& poll) {
  counts = {};
  check(AMX_SPMDBarrier());
  const bench::Stopwatch watch;
  if (AMX_SPMDMyProc() != 0) {
    while (counts.requests < trips) poll();
  } else {
    for (int n = 0; n < trips; ++n) {
      request(static_cast<std::uint64_t>(n));
      while (counts.replies <= n) poll();
    }
  }
  const double ns = watch.ns() / trips;
  check(AMX_SPMDBarrier());
  return ns;
}

void measure(eb_t c_bundle, ep_t c_endpoint, const bench::Options& options) {
  // The same endpoint for all: where its memory lies makes more of a difference than the calls.
  am::Bundle& bundle = *c_bundle->core;
  am::Endpoint& endpoint = *c_endpoint->core;
  endpoint.add_handlers<&on_ping, &on_pong>();
  endpoint.set_untyped_handler(kPing, &on_untyped_ping);
  endpoint.set_untyped_handler(kPong, &on_untyped_pong);
  check(AMX_SPMDBarrier());

  const std::vector<std::function<double()>> contenders{
      [&] {
        return round_trips(
            [&](std::uint64_t n) {
              check(AM_Request2(c_endpoint, 1, 1, static_cast<std::int32_t>(n),
                                static_cast<std::int32_t>(n >> 32)));
            },
            [&] { check(AM_Poll(c_bundle)); });
      },
      [&] {
        return round_trips([&](std::uint64_t n) { endpoint.request<&on_ping>(1, n); },
                           [&] { bundle.poll(); });
      },
      [&] {
        return round_trips(
            [&](std::uint64_t n) {
              const std::array words{static_cast<std::uint32_t>(n),
                                     static_cast<std::uint32_t>(n >> 32)};
              endpoint.request_index(1, kPing, words);
            },
            [&] { bundle.poll(); });
      }};
  std::vector<bench::Samples> samples(contenders.size());
  const int reps = options.quick ? 2 : options.reps != 0 ? options.reps : 400;
  for (int i = 0; i < reps; ++i) {
    for (std::size_t one = 0; one < contenders.size(); ++one) {
      samples[one].add(contenders[one]());
    }
  }
  const bench::Report report(options.csv, AMX_SPMDMyProc() == 0);
  report.say("c_binding: Active Messages in C beside the same in C++. It can measure:");
  report.say(bench::list_of(kEntries) + "2 processes\n");
  report.begin();
  report.add_time("c_round_trip", 8, samples[0], "typed C++", samples[1]);
  report.add_time("index_round_trip", 8, samples[2], "typed C++", samples[1]);
  check(AMX_SPMDBarrier());
}

}  // namespace

int main(int argc, char** argv) {
  eb_t bundle;
  ep_t endpoint;
  int exit_code = 0;
  const auto options = bench::parse_options(
      argc, argv, {"c_binding", "Active Messages in C beside the same in C++"}, kEntries,
      /*speak=*/true, exit_code);
  if (!options) return exit_code;
  if (options->quick) trips = 20;
  check(AMX_SPMDStartup(&argc, &argv, 0, nullptr, &bundle, &endpoint));
  if (AMX_SPMDNumProcs() != 2) {
    if (AMX_SPMDMyProc() == 0) std::fprintf(stderr, "c_binding: write ./run -n 2 c_binding\n");
    AMX_SPMDBarrier();
    AMX_SPMDExit(2);
  }
  check(AM_SetHandler(endpoint, 1, reinterpret_cast<AM_handler_fn_t>(&on_c_ping)));
  check(AM_SetHandler(endpoint, 2, reinterpret_cast<AM_handler_fn_t>(&on_c_pong)));
  measure(bundle, endpoint, *options);
  return 0;
}
