// One operation at a time between two processes, each beside what the same pair does by hand.

#include "benchmarks/latency.h"

int main(int argc, char** argv) {
  using namespace latency;
  return bench::run_program(
      argc, argv,
      {.name = "latency",
       .what = "one operation at a time between two processes, beside the limit",
       .measurements = {
           {"access", "x = *p, x = p[i], *p = x, p[i] = x of 8 bytes; the same by raw pointer",
            reads_and_writes},
           {"split_phase", "get and put of 8 bytes with one sync per 64", gets_and_puts},
           {"store", "store of 8 bytes; two raw stores", stores},
           {"atomic", "fetch_and_add of 8 bytes", atomics},
           {"bulk", "bulk_read, write, get, put, store, one sync per 64; memcpy", bulk},
           {"short", "request and reply, 8 bytes each; both directions in one cache line",
            short_messages},
           {"parallel", "a short round trip in a parallel bundle; in a sequential one",
            parallel_bundles},
           {"medium", "request and reply, 4 KiB each; copy and flag, nobody looks at the bytes",
            medium_messages},
           {"long", "the same into the segment", long_messages},
           {"barrier", "two processes; two flags", barriers},
           {"barrier_of_all", "all processes of the job, if there are more", barriers_of_all, true},
       }});
}
