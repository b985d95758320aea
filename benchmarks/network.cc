// What one operation costs between two nodes, and how many fit into a second, beside the same by
// libfabric alone: splitcrun -n 2 --nodes 2 network. SPLITC_PROVIDER names the provider for both.
// On one node the library uses no network: there, libfabric alone is measured.

#include "benchmarks/network.h"

namespace network {

void beside(bench::Bench& b, const Case& figure, int reps, const bench::Pair::Contender& ours,
            const std::string& raw_name, const bench::Pair::Contender& raw) {
  std::vector<bench::Pair::Contender> contenders{raw};
  if (!b.pair.near()) contenders.push_back(ours);
  const auto samples = b.pair.interleave(b.reps(reps), contenders);
  const bool alone = samples.size() == 1;
  const auto& [name, bytes, kind] = figure;
  if (kind == Kind::kTime) {
    if (alone) return b.report.add_time(name + ":limit", bytes, samples[0]);
    b.report.add_time(name, bytes, samples[1], raw_name, samples[0]);
  } else if (kind == Kind::kBandwidth) {
    if (alone) return b.report.add_bandwidth(name + ":limit", bytes, samples[0]);
    b.report.add_bandwidth(name, bytes, samples[1], raw_name, samples[0]);
  } else {
    if (alone) return b.report.add_rate(name + ":limit", bytes, samples[0]);
    b.report.add_rate(name, bytes, samples[1], raw_name, samples[0]);
  }
}

}  // namespace network

int main(int argc, char** argv) {
  using namespace network;
  return bench::run_network_program(
      argc, argv,
      {.name = "network",
       .what = "operations between two nodes, beside libfabric alone; on one node that only",
       .measurements =
           {
               {"short", "request and reply, 8 bytes each; fi_send and fi_recv", short_messages},
               {"medium", "the same with 1 KiB and 4 KiB", medium_messages},
               {"long", "the same into the segment; fi_writedata", long_messages},
               {"stream", "bandwidth of long requests; fi_write", long_streams},
               {"flood", "how many short requests a second; fi_send", floods},
               {"access", "x = *p, *p = x of 8 bytes; fi_read, fi_write", reads_and_writes},
               {"atomic", "fetch_and_add of 8 bytes; fi_send and fi_recv", atomics},
               {"bulk", "bandwidth of bulk_get and bulk_put; fi_read, fi_write", bulk},
               {"apart", "1,000 words of a column, or in a list; bulk_get, bulk_put of as many",
                apart},
               {"faces", "faces of few long to many short rows, over channels; packed by hand",
                faces},
               {"store", "how many stores of 8 bytes a second; fi_inject_write", stores},
               {"memory", "registering memory for others, the first time and later", registrations},
               {"barrier", "two processes; a message each", barriers},
           },
       .route = "network",
       .anywhere = true});
}
