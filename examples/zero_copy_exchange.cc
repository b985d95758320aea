// Blocks of numbers go round: every process shows the next one where its block lies, and that one
// takes it from there to where it wants it, without a message to carry it, until all have seen all.
//
//   ./run zero_copy_exchange          4 processes
//   ./run -n 2 zero_copy_exchange     2 of them

#include <cstdint>
#include <cstdio>
#include <exception>
#include <numeric>
#include <vector>

#include "am/am.h"

namespace {

am::ZeroCopyInfo shown;  // by the process before this one
std::uint32_t shows = 0;

// An info is plain bytes: it travels in the arguments of any message.
void on_show(am::OneWay, am::ZeroCopyInfo block) {
  shown = block;
  ++shows;
}

void exchange() {
  constexpr std::size_t kNumbers = 100'000;
  am::Job job;
  am::Bundle bundle(job);
  am::Endpoint endpoint(bundle);
  endpoint.add_handlers<&on_show>();
  job.connect(endpoint);
  am::ZeroCopy zero(job, bundle);

  std::vector<std::uint64_t> mine(kNumbers), theirs(kNumbers), sum(kNumbers);
  std::iota(mine.begin(), mine.end(), job.rank());
  std::uint32_t taken = 0, given = 0;
  am::ZeroCopyBuffer source(zero, std::as_writable_bytes(std::span(mine)),
                            [&](const am::ZeroCopyDone&) { ++taken; });
  am::ZeroCopyBuffer destination(zero, std::as_writable_bytes(std::span(theirs)),
                                 [&](const am::ZeroCopyDone&) { ++given; });

  // One info is good for all rounds, as the buffer stays where it is.
  endpoint.request<&on_show>((job.rank() + 1) % job.size(), source.info());
  bundle.wait_until([] { return shows == 1; });
  for (std::uint32_t round = 1; round <= job.size(); ++round) {
    destination.get(shown);
    // Both ends hear when the bytes have moved: here they are, and there they may be replaced.
    bundle.wait_until([&] { return given == round && taken == round; });
    for (std::size_t i = 0; i < kNumbers; ++i) sum[i] += theirs[i];
    mine = theirs;
    job.barrier(bundle);  // before anybody takes the next one
  }
  const auto total = std::accumulate(sum.begin(), sum.end(), std::uint64_t{0});
  std::printf("rank %u has seen all blocks: %lu\n", job.rank(), total);
  job.barrier(bundle);  // nobody ends its buffers while another may use them
  job.finish(bundle);
}

}  // namespace

int main() {
  try {
    exchange();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "zero_copy_exchange: %s\n", error.what());
    return 1;
  }
}
