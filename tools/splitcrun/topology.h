// The processors of this machine, as hwloc knows them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace am::launcher {

// By the numbers that the system gives them; ascending.
using Processors = std::vector<int>;

// What processors may share.
enum class Domain { kCore, kL3, kNuma, kSocket };

// For each domain of that kind those of `allowed` that are in it, unless it has none; neighbours in
// the machine are neighbours here. Empty: hwloc knows no domains of that kind here. None: there is
// no hwloc (libhwloc.so.15), or it fails. Takes some milliseconds.
std::optional<std::vector<Processors>> find_domains(Domain kind, const Processors& allowed);

// `threads` processors for each of `processes`, next to each other: whole cores with all their
// hardware threads if those suffice, else single hardware threads, the first of each core before
// the second. Empty: there are not so many.
std::vector<Processors> give_cores(const std::vector<Processors>& cores, std::uint32_t processes,
                                   std::uint32_t threads);

// One of `domains` for each of `processes`, in blocks of neighbours that are equally long, or as
// good as: 4 processes get the domains 0 0 1 1 of two, and 0 2 4 6 of eight.
std::vector<Processors> spread(const std::vector<Processors>& domains, std::uint32_t processes);

}  // namespace am::launcher
