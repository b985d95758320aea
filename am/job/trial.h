// Which processes are near one another: cards say which may be, and a trial which are.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "am/job/card.h"
#include "shmem/region.h"

namespace am {

// What one process has found out about the others of its place.
struct Trial {
  std::vector<std::pair<Rank, shmem::Region>> opened;  // their segments, by rank
  std::vector<Rank> refused;                           // those that it may not open
  std::string cause;                                   // of the first; "": none
};

// Tries to open the segment of each process whose card is near `me`. Not collective. Throws Error
// if there is no room for one; that the system keeps one closed is no error.
Trial try_neighbours(const std::vector<Card>& cards, Rank me);

// That the first of those that `me` may not open is far, and why, in one sentence.
std::string sentence_of(const Trial& trial, Rank me);

// Gives processes that cannot open each other's segments a different Card::part, in `cards` of
// every process alike; near are only processes of which each can open each. Collective: no process
// returns before all have tried.
void settle_parts(Bootstrap& bootstrap, std::vector<Card>& cards, const Trial& mine);

// In the order of the processes of one place, which part each is in: the first whose members it
// gets on with. refused[i] has a bit for each that i may not open, from the lowest of a byte; bits
// that are not there are 0.
std::vector<std::uint32_t> parts_of(std::span<const std::vector<std::byte>> refused);

}  // namespace am
