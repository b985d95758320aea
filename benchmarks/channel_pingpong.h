#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "am/am.h"
#include "benchmarks/support/network_program.h"

// The ways of `channel_pingpong` to take bytes from rank 0 to rank 1 and as many back.

namespace channel_pingpong {

// Makes round trips, `times` of them; returns nanoseconds each at rank 0. Both ranks call it, and
// destroy it when none is under way.
struct Way {
  std::string name;
  std::function<double(int times)> run;
};

// By hand, without the library. The first one is the limit of all others.
void add_raw(std::vector<Way>& ways, bench::Bench& b, std::size_t bytes);
void add_messages(std::vector<Way>& ways, bench::Bench& b, std::size_t bytes);
void add_stores(std::vector<Way>& ways, bench::Bench& b, std::size_t bytes);
void add_channel(std::vector<Way>& ways, bench::Bench& b, std::size_t bytes);
void add_zero_copies(std::vector<Way>& ways, bench::Bench& b, am::ZeroCopy& zero,
                     std::size_t bytes);

}  // namespace channel_pingpong
