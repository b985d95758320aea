// How many small messages a second: credit, not waiting for answers, is what bounds them.

#include "benchmarks/support/program.h"

namespace {

using bench::Bench;

void pairs(Bench& b) {
  const int n = b.count(4000);
  const auto samples = b.pair.interleave(
      b.reps(300), {[&] { return b.messages.flood(n); }, [&] { return b.raw.ring(n); }});
  b.report.add_time("request_reply_pair", 8, samples[0], "ring", samples[1]);
}

void one_way(Bench& b) {
  const int n = b.count(4000);
  const auto samples = b.pair.interleave(
      b.reps(300), {[&] { return b.messages.one_way(n); }, [&] { return b.raw.ring(n); }});
  b.report.add_rate("one_way", 8, samples[0], "ring", samples[1]);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_program(
      argc, argv,
      {.name = "message_rate",
       .what = "how many small messages a second pass between two processes",
       .measurements = {
           {"pairs", "short requests and replies, ns a pair, beside a ring of 64 cache lines", pairs},
           {"one_way", "short requests that nobody answers, beside the same ring", one_way},
       }});
}
