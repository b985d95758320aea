#include "tests/am/link/datagram/window/simulation.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "tests/am/link/datagram/window/test_seal.h"

namespace am::link::window {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;
constexpr std::uint64_t kMostQueued = 32;  // datagrams, before a process submits no more

std::uint64_t mixed(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  return Random(a ^ b * 0x9e3779b97f4a7c15 ^ c * 0xc2b2ae3d27d4eb4f).next();
}

// The packet `index` of the conversation `name`, where datagrams have `payload` bytes for them.
std::size_t size_of(std::uint64_t name, std::uint64_t index, std::size_t payload) {
  const std::uint64_t dice = mixed(name, index, ~std::uint64_t{0});
  std::size_t bytes = 8 * (1 + dice % 16);                // small
  if (dice >> 32 & 1) bytes = 8 + (dice >> 8) % payload;  // as a datagram
  if ((dice >> 33 & 7) == 0)
    bytes = 8 + (dice >> 8) % std::min<std::size_t>(kMaxPacket, 8 * payload);
  return std::min<std::size_t>(bytes, kMaxPacket) & ~std::size_t{7};
}

void write_packet(std::byte* to, std::size_t bytes, std::uint64_t name, std::uint64_t index) {
  const PacketHeader head = make_header(Type::kBarrier, bytes);
  std::memcpy(to, &head, sizeof head);
  std::uint64_t word = mixed(name, index, 0);
  for (std::size_t at = 8; at != bytes; at += 8, ++word) std::memcpy(to + at, &word, 8);
}

bool is_packet(const PacketHeader& packet, std::size_t bytes, std::uint64_t name,
               std::uint64_t index) {
  if (packet.bytes != bytes || packet.type != Type::kBarrier) return false;
  const auto* const from = reinterpret_cast<const std::byte*>(&packet);
  std::uint64_t word = mixed(name, index, 0);
  for (std::size_t at = 8; at != bytes; at += 8, ++word) {
    if (std::memcmp(from + at, &word, 8) != 0) return false;
  }
  return true;
}

std::uint64_t digest(std::span<const std::byte> bytes) { return test_seal(0)(bytes); }

}  // namespace

Simulation::Simulation(std::uint64_t seed) : random_(seed), weather_(random_) {}
Simulation::~Simulation() = default;

void Simulation::fail(const std::string& sentence) {
  if (result_.failure.empty()) {
    result_.failure = sentence + " (at " + std::to_string(now_ns_) + " ns)";
  }
}

void Simulation::schedule(Event event) {
  event.serial = serial_++;
  events_.push(event);
}

void Simulation::schedule_poll(Process& process, std::int64_t at_ns) {
  at_ns = std::max({at_ns, process.paused_until_ns, now_ns_});
  if (process.next_poll_ns >= now_ns_ && process.next_poll_ns <= at_ns) return;
  process.next_poll_ns = at_ns;
  schedule({.at_ns = at_ns, .serial = 0, .kind = Event::kPoll, .which = process.rank});
}

// A new incarnation, which knows nobody.
void Simulation::start(Process& process) {
  process.key = random_.next();
  process.options = {.rank = process.rank,
                     .incarnation = ++incarnations_,
                     .ack_delay_ns = 200'000,
                     .keep_alive_ns = 20 * kMillisecond,
                     .most_questions = 100,
                     .stale_ns = 40 * kMillisecond,
                     .round_trip = {.initial_ns = 5 * kMillisecond,
                                    .variance_ns = 250'000,
                                    .longest_ns = 50 * kMillisecond},
                     .first_number = weather_.first_number};
  process.peers.clear();
  process.peers.resize(weather_.processes);
  const auto source = [](std::size_t bytes) {
    const auto made = std::make_shared<std::vector<std::byte>>(bytes);
    return SlotPool::Slab{*made, nullptr, made};
  };
  process.outgoing = std::make_unique<SlotPool>(source, weather_.datagram_bytes);
  process.early = std::make_unique<SlotPool>(source, weather_.datagram_bytes,
                                             weather_.early_slots * weather_.datagram_bytes);
  process.shared =
      std::make_unique<Shared>(Shared{process.options, *process.outgoing, *process.early,
                                      process.staging, process.counters, weather_.room});
  process.clock_ns = random_.between(0, 1'000'000'000'000);
}

// The two are introduced: from now on they talk, and have never talked before.
void Simulation::meet(std::uint32_t one, std::uint32_t other) {
  for (const auto& [from, to] : {std::pair{one, other}, std::pair{other, one}}) {
    Process& process = *processes_[from];
    const Process& peer = *processes_[to];
    process.peers[to] =
        std::make_unique<Peer>(*process.shared, peer.options.incarnation, test_seal(peer.key));
    conversation(from, to) = {.name = ++names_,
                              .total = random_.below(weather_.packets + 1),
                              .room = std::max(Peer::kRoomUnasked, charge_of_one())};
    schedule_poll(process, now_ns_);
  }
}

void Simulation::plan() {
  for (std::uint32_t rank = 0; rank < weather_.processes; ++rank) {
    processes_.push_back(std::make_unique<Process>());
    processes_.back()->rank = rank;
    start(*processes_.back());
  }
  conversations_.resize(weather_.processes * weather_.processes);
  cut_until_ns_.resize(weather_.processes * weather_.processes);
  for (std::uint32_t one = 0; one < weather_.processes; ++one) {
    for (std::uint32_t other = 0; other < one; ++other) meet(one, other);
  }
  const auto some_day = [this](unsigned count, Event::Kind kind) {
    for (; count != 0; --count) {
      schedule({.at_ns = random_.between(0, weather_.heals_ns),
                .serial = 0,
                .kind = kind,
                .which = static_cast<std::uint32_t>(random_.below(weather_.processes)),
                .peer = static_cast<std::uint32_t>(random_.below(weather_.processes))});
    }
  };
  some_day(weather_.pauses, Event::kPause);
  some_day(weather_.partitions, Event::kPartition);
  some_day(weather_.restarts, Event::kRestart);
  if (weather_.dies) some_day(1, Event::kDeath);
}

Simulation::Result Simulation::run() {
  plan();
  constexpr std::uint64_t kMostEvents = 3'000'000;
  std::uint64_t datagrams = 0;
  for (const Conversation& one : conversations_) datagrams += one.total * 9;
  const std::int64_t end_ns = weather_.heals_ns + weather_.quiet_ns + 10'000 * kMillisecond +
                              static_cast<std::int64_t>(datagrams) * 4 * kMillisecond;
  for (std::uint64_t count = 0; result_.failure.empty() && !finished(); ++count) {
    if (events_.empty() || count == kMostEvents || events_.top().at_ns > end_ns) {
      fail("not all has come to its end though the network has healed");
      break;
    }
    const Event event = events_.top();
    events_.pop();
    now_ns_ = event.at_ns;
    handle(event);
  }
  for (const auto& process : processes_) {
    const Counters& c = process->counters;
    Counters& all = result_.counters;
    all.data += c.data;
    all.repeated += c.repeated;
    all.acks += c.acks;
    all.probes += c.probes;
    all.timeouts += c.timeouts;
    all.received += c.received;
    all.duplicates += c.duplicates;
    all.early += c.early;
    all.no_room += c.no_room;
    all.old += c.old;
    all.stale += c.stale;
    all.malformed += c.malformed;
    all.forged += process->damaged;
  }
  return result_;
}

void Simulation::handle(const Event& event) {
  Process& process = *processes_[event.kind == Event::kArrival ? 0 : event.which];
  switch (event.kind) {
    case Event::kArrival: {
      Process& receiver = *processes_[carried_[event.which].to];
      if (!receiver.alive || receiver.socket.size() >= weather_.socket) {
        ++result_.lost;
        free_.push_back(event.which);
        return;
      }
      receiver.socket.push_back(event.which);
      schedule_poll(receiver, now_ns_ + random_.between(0, weather_.poll_ns));
      return;
    }
    case Event::kPoll:
      if (process.alive && process.next_poll_ns == now_ns_) poll(process);
      return;
    case Event::kRead: {
      const bool same = process.alive && process.options.incarnation == event.incarnation &&
                        processes_[event.peer]->options.incarnation == event.peer_incarnation;
      if (!same) return;
      if (digest(event.slot->memory.first(event.slot->bytes)) != event.digest) {
        fail("a datagram has changed while the network read it");
      }
      process.peers[event.peer]->completed(*event.slot);
      schedule_poll(process, now_ns_);
      return;
    }
    case Event::kPause:
      process.paused_until_ns = now_ns_ + random_.between(0, 100 * kMillisecond);
      process.next_poll_ns = -1;
      schedule_poll(process, process.paused_until_ns);
      return;
    case Event::kPartition: {
      const std::int64_t until = now_ns_ + random_.between(0, 200 * kMillisecond);
      cut_until_ns_[event.which * weather_.processes + event.peer] = until;
      if (random_.percent(50)) cut_until_ns_[event.peer * weather_.processes + event.which] = until;
      return;
    }
    case Event::kRestart:
      if (process.alive) restart(process);
      return;
    case Event::kDeath:
      process.alive = false;
      dead_ = event.which;
      return;
  }
}

void Simulation::restart(Process& process) {
  for (const std::uint32_t one : process.socket) free_.push_back(one);
  process.socket.clear();
  for (const auto& other : processes_) {  // who holds memory of the process that ends
    if (other->rank != process.rank) other->peers[process.rank].reset();
  }
  process.counters = {};
  process.damaged = process.impossible = process.old = 0;
  start(process);
  for (std::uint32_t other = 0; other < weather_.processes; ++other) {
    if (other != process.rank) meet(process.rank, other);
  }
}

// Whether all is done, and has been for as long as it shall be quiet then.
bool Simulation::finished() {
  if (!complete_ns_ && complete()) complete_ns_ = now_ns_;
  return complete_ns_ && now_ns_ >= *complete_ns_ + weather_.quiet_ns;
}

// Everything has been delivered and acknowledged, and who is dead is known to be.
bool Simulation::complete() const {
  for (const auto& process : processes_) {
    if (!process->alive) continue;
    for (std::uint32_t to = 0; to < weather_.processes; ++to) {
      if (to == process->rank) continue;
      const Conversation& sent = conversations_[process->rank * weather_.processes + to];
      const Conversation& back = conversations_[to * weather_.processes + process->rank];
      const Peer& peer = *process->peers[to];
      if (dead_ == to) {
        const bool talked = sent.committed != 0 || back.delivered != 0;
        if (talked && !peer.dead()) return false;
      } else if (sent.delivered != sent.total || peer.unacknowledged()) {
        return false;
      }
    }
  }
  return true;
}

void Simulation::poll(Process& process) {
  const bool may_deliver = healed() || !random_.percent(weather_.blocked);
  std::int64_t wake_ns = now_ns_ + 20 * kMillisecond;  // keep-alive
  process.next_poll_ns = -1;
  if (now_ns_ - std::exchange(process.polled_ns, now_ns_) > kMillisecond) {
    process.shared->resumed_ns = now_ns_ + process.clock_ns;
  }
  for (std::uint32_t from = 0; may_deliver && from < weather_.processes; ++from) {
    if (from == process.rank) continue;
    while (Slot* const slot = process.peers[from]->next_kept()) {
      read_stream(process, from, slot->payload());
      process.early->give_back(*slot);
    }
  }
  for (std::uint64_t some = 1 + random_.below(40); some != 0 && !process.socket.empty(); --some) {
    const std::uint32_t next = process.socket.front();
    process.socket.pop_front();
    Carried carried = std::move(carried_[next]);
    read(process, carried, may_deliver);
    carried_[next] = std::move(carried);
    free_.push_back(next);
  }
  submit(process);
  const std::int64_t own_ns = now_ns_ + process.clock_ns;
  for (std::uint32_t to = 0; to < weather_.processes; ++to) {
    if (to == process.rank) continue;
    Peer& peer = *process.peers[to];
    peer.keep_alive(own_ns);
    send_all(process, to);
    const std::int64_t due_ns = peer.deadline_ns();
    if (due_ns != Peer::kNever) wake_ns = std::min(wake_ns, due_ns - process.clock_ns);
    const Conversation& mine = conversation(process.rank, to);
    if (mine.committed != mine.total && peer.queued() < kMostQueued && !peer.dead()) {
      wake_ns = std::min(wake_ns, now_ns_ + random_.between(1'000, weather_.poll_ns));
    }
    if (peer.dead() && dead_ != to) fail("a process that lives was given up");
  }
  if (!may_deliver || !process.socket.empty()) wake_ns = now_ns_;
  check_bounds(process);
  process.outgoing->trim(0);
  process.early->trim(0);
  schedule_poll(process, std::max(wake_ns, now_ns_ + 500));
}

void Simulation::read(Process& process, const Carried& carried, bool may_deliver) {
  Datagram datagram{};
  // With memory of its own, so that a sanitizer sees what lies beside it.
  const std::span<const std::byte> bytes(carried.bytes);
  const Decoded how = decode(bytes, test_seal(process.key), datagram);
  const bool genuine = !carried.damaged && carried.key == process.key;
  if (genuine != (how == Decoded::kGood)) {
    return fail(genuine ? "a good datagram was refused" : "a damaged datagram was taken");
  }
  if (!genuine) {
    ++process.damaged;
    return;
  }
  const std::uint32_t from = carried.from;
  if (carried.from_incarnation != processes_[from]->options.incarnation) {
    ++process.old;
  } else if (carried.impossible) {
    ++process.impossible;
  }
  Peer& peer = *process.peers[from];
  if (!carried.impossible && carried.from_incarnation == processes_[from]->options.incarnation) {
    Conversation& mine = conversation(process.rank, from);
    const DatagramHeader& header = datagram.header;
    mine.room = std::max(mine.room, header.room * DatagramHeader::kRoomUnit);
  }
  const auto received = peer.receive(datagram, now_ns_ + process.clock_ns, may_deliver);
  if (process.counters.old != process.old) return fail("a datagram of an earlier life was taken");
  if (process.counters.malformed != process.impossible) {
    return fail("an acknowledgement of what was never sent was taken, or a good one was not");
  }
  if (received == Peer::Received::kDeliver) read_stream(process, from, datagram.payload);
  while (may_deliver) {
    Slot* const slot = peer.next_kept();
    if (slot == nullptr) return;
    read_stream(process, from, slot->payload());
    process.early->give_back(*slot);
  }
}

void Simulation::read_stream(Process& process, std::uint32_t from,
                             std::span<const std::byte> payload) {
  Stream& stream = process.peers[from]->stream();
  Conversation& talk = conversation(from, process.rank);
  stream.open(payload);
  for (;;) {
    const Stream::Next next = stream.next();
    if (next == Stream::Next::kEnd) return;
    if (next == Stream::Next::kDamaged) return fail("the stream is damaged");
    const std::size_t bytes =
        size_of(talk.name, talk.delivered, weather_.datagram_bytes - sizeof(DatagramHeader));
    if (talk.delivered == talk.committed ||
        !is_packet(stream.packet(), bytes, talk.name, talk.delivered)) {
      return fail("packet " + std::to_string(talk.delivered) + " from " + std::to_string(from) +
                  " to " + std::to_string(process.rank) + " is not the one that is next");
    }
    stream.skip();
    ++talk.delivered;
    ++result_.packets;
    result_.order = mixed(result_.order, static_cast<std::uint64_t>(now_ns_), talk.name);
  }
}

void Simulation::submit(Process& process) {
  const std::size_t payload = weather_.datagram_bytes - sizeof(DatagramHeader);
  for (std::uint32_t to = 0; to < weather_.processes; ++to) {
    if (to == process.rank) continue;
    Conversation& talk = conversation(process.rank, to);
    Peer& peer = *process.peers[to];
    for (std::uint64_t some = random_.below(12);
         some != 0 && talk.committed != talk.total && peer.queued() < kMostQueued && !peer.dead();
         --some) {
      const std::size_t bytes = size_of(talk.name, talk.committed, payload);
      write_packet(peer.claim(static_cast<std::uint32_t>(bytes)), bytes, talk.name, talk.committed);
      peer.commit();
      ++talk.committed;
      if (random_.percent(30)) send_all(process, to);
    }
  }
}

void Simulation::send_all(Process& process, std::uint32_t to) {
  Peer& peer = *process.peers[to];
  while (const Outgoing next = peer.prepare(now_ns_ + process.clock_ns)) {
    if (!healed() && random_.percent(10)) return;  // the network has no room now
    const bool in_network =
        next.slot != nullptr && !healed() && random_.percent(weather_.in_network);
    carry(process, to, next.bytes);
    if (in_network) {
      schedule({.at_ns = now_ns_ + random_.between(0, 5 * kMillisecond),
                .serial = 0,
                .kind = Event::kRead,
                .which = process.rank,
                .peer = to,
                .incarnation = process.options.incarnation,
                .peer_incarnation = processes_[to]->options.incarnation,
                .slot = next.slot,
                .digest = digest(next.bytes)});
    }
    peer.sent(next, in_network);
  }
}

void Simulation::check_bounds(const Process& process) {
  for (std::uint32_t to = 0; to < weather_.processes; ++to) {
    if (to == process.rank) continue;
    const Peer& peer = *process.peers[to];
    if (peer.in_flight() > kWindow || peer.kept() > kWindow) fail("a window is too full");
    if (peer.charged() > conversations_[process.rank * weather_.processes + to].room) {
      fail("more bytes were sent than the receiver has room for");
    }
    if (peer.congestion().window() < 1 || peer.congestion().window() > kWindow) {
      fail("a congestion window is out of its bounds");
    }
  }
  // (Short ones take less each, so there may be more of them.)
  if (process.early->bytes() > weather_.early_slots * weather_.datagram_bytes) {
    fail("too much is kept that came early");
  }
  if (process.counters.beyond != 0) fail("more was sent than the receiver has room for");
}

}  // namespace am::link::window
