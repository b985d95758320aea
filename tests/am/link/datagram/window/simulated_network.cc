// What the network does to datagrams on their way.
#include <algorithm>
#include <cstring>

#include "tests/am/link/datagram/window/simulation.h"
#include "tests/am/link/datagram/window/test_seal.h"

namespace am::link::window {

std::uint32_t Simulation::take_carried() {
  if (free_.empty()) {
    carried_.emplace_back();
    return static_cast<std::uint32_t>(carried_.size() - 1);
  }
  const std::uint32_t taken = free_.back();
  free_.pop_back();
  return taken;
}

bool Simulation::cut_off(std::uint32_t one, std::uint32_t other) const {
  return now_ns_ < cut_until_ns_[one * weather_.processes + other];
}

void Simulation::launch(std::uint32_t carried, std::int64_t after_ns) {
  const std::int64_t jitter_ns = healed() ? 0 : random_.between(0, weather_.jitter_ns);
  const std::int64_t delay_ns =
      std::min<std::int64_t>(weather_.delay_ns, healed() ? 50'000 : weather_.delay_ns);
  schedule({.at_ns = now_ns_ + after_ns + delay_ns + jitter_ns,
            .serial = 0,
            .kind = Event::kArrival,
            .which = carried});
}

// A process sends a datagram: none, one or more of it arrive.
void Simulation::carry(const Process& process, std::uint32_t to, std::span<const std::byte> bytes) {
  const auto copy = [&] {
    const std::uint32_t taken = take_carried();
    Carried& one = carried_[taken];
    one.bytes.assign(bytes.begin(), bytes.end());
    one.to = to;
    one.from = process.rank;
    one.from_incarnation = process.options.incarnation;
    one.key = processes_[to]->key;
    one.damaged = one.impossible = false;
    return taken;
  };
  if (healed()) return launch(copy(), 0);
  if (recorded_.size() < 64 && weather_.replayed != 0) {
    const std::uint32_t taken = copy();
    recorded_.push_back(carried_[taken]);
    free_.push_back(taken);
  }
  if (random_.percent(weather_.replayed)) replay();
  if (random_.percent(weather_.strange)) forge(process, to);
  if (cut_off(process.rank, to) || random_.percent(weather_.lost)) {
    ++result_.lost;
    return;
  }
  const bool twice = random_.percent(weather_.doubled);
  for (int i = 0; i < (twice ? 2 : 1); ++i) {
    const std::uint32_t taken = copy();
    disturb(carried_[taken]);
    launch(taken, i * random_.between(0, 3'000'000));
  }
}

// Changes a datagram by what happens to bits, and by what a stranger does who sees it.
void Simulation::disturb(Carried& carried) {
  if (random_.percent(weather_.damaged)) {
    const std::size_t at = random_.below(carried.bytes.size());
    carried.bytes[at] ^= static_cast<std::byte>(1 + random_.below(255));
    carried.damaged = true;
  }
  if (random_.percent(weather_.cut)) {
    carried.bytes.resize(random_.below(carried.bytes.size()));
    carried.damaged = true;
  }
  if (!carried.damaged && random_.percent(weather_.impossible)) {
    // A process of the job that is wrong: it acknowledges what was never sent.
    DatagramHeader header{};
    std::memcpy(&header, carried.bytes.data(), sizeof header);
    header.ack += 1 << 20;
    encode(carried.bytes, header, test_seal(carried.key));
    carried.impossible = true;
  }
}

// Bytes that nobody of the job has sent.
void Simulation::forge(const Process& process, std::uint32_t to) {
  const std::uint32_t taken = take_carried();
  Carried& one = carried_[taken];
  one.bytes.assign(random_.below(weather_.datagram_bytes + 1), std::byte{});
  for (std::byte& byte : one.bytes) byte = static_cast<std::byte>(random_.next());
  one.to = to;
  one.from = process.rank;
  one.damaged = true;
  one.impossible = false;
  launch(taken, 0);
}

// Something that was sent long ago, to whom it was sent, comes once more.
void Simulation::replay() {
  if (recorded_.empty()) return;
  const std::uint32_t taken = take_carried();
  carried_[taken] = recorded_[random_.below(recorded_.size())];
  launch(taken, random_.between(0, 50'000'000));
}

}  // namespace am::link::window
