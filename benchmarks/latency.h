#pragma once

#include "benchmarks/support/program.h"

// The measurements of `latency`, by what they go through.

namespace latency {

// latency_access.cc: single words through global pointers.
void reads_and_writes(bench::Bench& b);
void gets_and_puts(bench::Bench& b);
void stores(bench::Bench& b);
void atomics(bench::Bench& b);

// latency_bulk.cc: ranges of bytes.
void bulk(bench::Bench& b);

// latency_messages.cc
void short_messages(bench::Bench& b);
void parallel_bundles(bench::Bench& b);
void medium_messages(bench::Bench& b);
void long_messages(bench::Bench& b);
void barriers(bench::Bench& b);  // two processes
void barriers_of_all(bench::Bench& b);

}  // namespace latency
