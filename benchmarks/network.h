#pragma once

#include <cstddef>
#include <string>

#include "benchmarks/support/network_program.h"

// The measurements of `network`. Each has libfabric by hand beside it, in turn in the same two
// processes; if the two are on one node, libfabric by hand alone.

namespace network {

enum class Kind { kTime, kBandwidth, kRate };

// What is compared: `bytes` names the size, and is what Kind::kBandwidth is of.
struct Case {
  std::string name;
  std::size_t bytes;
  Kind kind = Kind::kTime;
};

// Measures both in turn and reports their ratio.
void beside(bench::Bench& b, const Case& figure, int reps, const bench::Pair::Contender& ours,
            const std::string& raw_name, const bench::Pair::Contender& raw);

// network_messages.cc
void short_messages(bench::Bench& b);
void medium_messages(bench::Bench& b);
void long_messages(bench::Bench& b);
void long_streams(bench::Bench& b);
void floods(bench::Bench& b);
void barriers(bench::Bench& b);

// network_faces.cc: beside packing by hand.
void faces(bench::Bench& b);

// network_memory.cc: alone.
void registrations(bench::Bench& b);

// network_access.cc: through global pointers.
void reads_and_writes(bench::Bench& b);
void atomics(bench::Bench& b);
void bulk(bench::Bench& b);
void apart(bench::Bench& b);
void stores(bench::Bench& b);

}  // namespace network
