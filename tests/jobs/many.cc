// What many_test starts under splitcrun: a job of many processes on few cores. All meet, everybody
// sends one word to everybody, all meet 1000 times more, and rank 0 prints what arrived.
#include <cstdint>
#include <cstdio>
#include <vector>

#include "am/am.h"

namespace {

std::vector<std::uint64_t> words;
std::uint32_t arrived = 0;

void on_word(am::Request request, std::uint64_t word) {
  words[request.source()] += word;
  ++arrived;
}

std::uint64_t word_for(am::Rank from, am::Rank to) { return from * 1'000'003ull + to * 17 + 1; }

int run() {
  am::Job job;
  am::Bundle bundle(job);
  am::Endpoint endpoint(bundle);
  endpoint.add_handlers<&on_word>();
  words.resize(job.size());
  job.connect(endpoint);
  job.barrier(bundle);
  for (am::Rank i = 0; i < job.size(); ++i) {
    const am::Rank to = (job.rank() + i) % job.size();
    endpoint.request<&on_word>(to, word_for(job.rank(), to));
  }
  bundle.wait_until([&] { return arrived == job.size(); });
  std::uint32_t right = 0;
  for (am::Rank from = 0; from < job.size(); ++from) {
    right += words[from] == word_for(from, job.rank());
  }
  for (int i = 0; i < 1000; ++i) job.barrier(bundle);
  job.finish(bundle);
  if (right == job.size()) std::printf("rank %u has all words\n", job.rank());
  return right == job.size() && arrived == job.size() ? 0 : 1;
}

}  // namespace

int main() {
  try {
    return run();
  } catch (const am::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
