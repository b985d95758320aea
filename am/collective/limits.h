#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace am::schedule {

// Up to which size collective calls take one algorithm between members that send messages; beyond
// it they take another. The same at all processes of a job (SPLITC_COLLECTIVES); the defaults are
// for any network, and splitc-doctor --tune measures those of one.
struct Limits {
  // Bytes.
  std::uint64_t broadcast_tree = 512 * 1024;  // down a tree; beyond, in blocks around a ring
  std::uint64_t reduce_tree = 16 * 1024;      // up a tree; beyond, by halves
  // All of it in each hop, of two members twice as much; beyond, by halves.
  std::uint64_t all_reduce_doubling = 32 * 1024;
  // A block of more than 8 members: up a tree; beyond, each to the root.
  std::uint64_t gather_tree = 4 * 1024;
  std::uint64_t all_gather_bruck = 512 * 1024;  // of all members; beyond, around a ring
  std::uint64_t all_to_all_bruck = 2 * 1024;    // a block; beyond, pairwise
  // Members.
  std::uint64_t scan_chain = 8;  // from each to the next; beyond, by doubling

  bool operator==(const Limits&) const = default;
};

// By which name each is known.
struct Limit {
  std::string_view name;
  std::uint64_t Limits::*value;
};
inline constexpr std::array<Limit, 7> kLimits{{
    {"broadcast_tree", &Limits::broadcast_tree},
    {"reduce_tree", &Limits::reduce_tree},
    {"all_reduce_doubling", &Limits::all_reduce_doubling},
    {"gather_tree", &Limits::gather_tree},
    {"all_gather_bruck", &Limits::all_gather_bruck},
    {"all_to_all_bruck", &Limits::all_to_all_bruck},
    {"scan_chain", &Limits::scan_chain},
}};

}  // namespace am::schedule
