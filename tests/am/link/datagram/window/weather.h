#pragma once

#include <cstddef>
#include <cstdint>

#include "tests/am/link/datagram/window/random.h"

namespace am::link::window {

// What the network and the processes of one run do to datagrams, as its seed decides. Chances are
// in percent, times in nanoseconds of the virtual clock.
struct Weather {
  explicit Weather(Random& random);

  std::uint32_t processes;
  std::size_t datagram_bytes;
  std::uint64_t packets;       // to each of the others, at most
  std::size_t early_slots;     // of each process
  std::uint32_t room;          // Shared::room
  std::size_t socket;          // datagrams that wait for a process at most
  std::uint64_t first_number;  // near the wrap of its 32 bits, often
  unsigned lost, doubled, damaged, cut, replayed, strange, impossible;
  unsigned blocked;     // a process cannot deliver, one poll in a hundred times that
  unsigned in_network;  // the network reads a slot for a while
  std::int64_t delay_ns, jitter_ns;
  std::int64_t poll_ns;   // a process polls as seldom as that
  unsigned pauses;        // how often a process does nothing for long
  unsigned partitions;    // how often two processes cannot reach one another
  unsigned restarts;      // how often a process starts again
  bool dies;              // one process is gone for good
  std::int64_t heals_ns;  // from then on everything works
  std::int64_t quiet_ns;  // so long nothing happens in the end: nobody may be given up meanwhile
};

inline Weather::Weather(Random& random) {
  const auto sometimes = [&random](unsigned most) {
    return random.percent(50) ? static_cast<unsigned>(random.below(most + 1)) : 0U;
  };
  constexpr std::size_t kDatagrams[] = {128, 192, 576, 1472, 8968};
  processes = static_cast<std::uint32_t>(random.between(2, 3));
  datagram_bytes = kDatagrams[random.below(5)];
  packets = random.below(random.percent(10) ? 200 : 40) + 1;
  early_slots = random.percent(50) ? 512 : 16 * random.below(5);
  room = static_cast<std::uint32_t>(random.percent(50) ? 1 << 20 : random.between(0, 200'000));
  socket = random.percent(50) ? 1000 : random.below(30) + 2;
  first_number = random.percent(50) ? (std::uint64_t{1} << 32) - random.below(100) : 1;
  lost = sometimes(40);
  doubled = sometimes(20);
  damaged = sometimes(10);
  cut = sometimes(10);
  replayed = sometimes(20);
  strange = sometimes(10);
  impossible = sometimes(10);
  blocked = sometimes(30);
  in_network = sometimes(60);
  delay_ns = random.between(2'000, random.percent(50) ? 20'000 : 2'000'000);
  jitter_ns = random.percent(50) ? 0 : random.between(1, 4 * delay_ns);
  poll_ns = random.between(1'000, 300'000);
  pauses = sometimes(3);
  partitions = sometimes(3);
  restarts = random.percent(25) ? 1 + static_cast<unsigned>(random.below(2)) : 0;
  dies = random.percent(10);
  heals_ns = random.between(1'000'000, 200'000'000);
  quiet_ns = random.percent(3) ? 8'000'000'000 : 0;
}

}  // namespace am::link::window
