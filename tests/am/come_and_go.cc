// Endpoints, bundles and channels that are made and end while messages are sent to them, by them
// and around them. Every message is handled or comes back, once, and nothing runs out.
//
//   come_and_go [--times N] [--seed N]     N of them in each process
//
// What each process makes is drawn: a client that sends to somebody's steady endpoint and ends at
// once or later; a target whose name is offered to somebody, and which ends before, while or after
// that one sends to it; a channel for one put; a bundle with an endpoint for this process itself.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "am/am.h"

namespace {

using Bytes = std::span<const std::byte>;

constexpr std::size_t kMedium = 100;
constexpr std::size_t kLong = 10'000;  // more than a packet holds
constexpr std::size_t kTargets = 6;    // of a process at a time
constexpr std::size_t kChannels = 16;
constexpr std::uint64_t kPut = 64;  // bytes

struct ChannelOffer {
  am::Rank from;
  am::ChannelHandle handle;
};

struct Counts {
  std::uint64_t clients = 0;
  std::uint64_t targets = 0;
  std::uint64_t channels = 0;
  std::uint64_t bundles = 0;
  std::uint64_t answers = 0;
  std::uint64_t returned = 0;
  std::uint64_t returned_replies = 0;
};

class Process {
 public:
  Process(std::uint64_t times, std::uint64_t seed);
  int run();

  static void on_short(am::Request r, std::uint64_t n);
  static void on_short_one(am::OneWay m, std::uint64_t n);
  static void on_medium(am::Request r, Bytes bytes, std::uint64_t n);
  static void on_medium_one(am::OneWay m, Bytes bytes, std::uint64_t n);
  static void on_long(am::Request r, std::span<std::byte> bytes, std::uint64_t n);
  static void on_long_one(am::OneWay m, std::span<std::byte> bytes, std::uint64_t n);
  static void on_answer(am::Reply, std::uint64_t n);
  static void on_long_answer(am::Reply, std::span<std::byte> bytes, std::uint64_t n);
  static void on_target(am::OneWay m, Bytes name);
  static void on_channel(am::OneWay m, Bytes offer);
  static void on_quiet(am::OneWay m, std::uint64_t offers);
  static void on_done(am::OneWay m, std::uint64_t messages);

 private:
  // What this process counts of each other one, and of itself.
  struct Other {
    std::uint64_t sent = 0;      // to it, and not returned
    std::uint64_t handled = 0;   // of its messages
    std::uint64_t offers = 0;    // made to it
    std::uint64_t taken = 0;     // of its offers
    std::int64_t promised = -1;  // offers it has made here in all; -1: not known yet
    std::int64_t owed = -1;      // messages it has sent here in all
  };
  struct Slot {
    bool used = false;
    std::uint64_t put = 0;  // which is to come
    std::unique_ptr<am::ReceiveChannel> channel;
  };

  [[noreturn]] void fail(const std::string& what) const {
    throw am::Error("rank " + std::to_string(job_.rank()) + ": " + what);
  }
  void expect(bool so, const char* what) const {
    if (!so) fail(what);
  }
  am::Rank anybody() { return static_cast<am::Rank>(random_() % job_.size()); }
  bool one_of(std::uint64_t n) { return random_() % n == 0; }
  std::uint64_t region_of(am::Rank rank) const { return rank * kLong; }

  void handled(const am::Message& message, std::uint64_t n);
  void check(Bytes bytes, am::Rank from) const;
  void set_up(am::Endpoint& endpoint);
  void came_back(const am::Returned& returned);
  void send(am::Endpoint& from, std::uint32_t to, am::Rank rank);

  void make_client();
  void make_target();
  void make_channel();
  void make_bundle();
  void arrived(Slot& slot);
  void step();
  void take_offers();
  void take(const am::Name& name);
  void take(const ChannelOffer& offer);
  template <class Condition>
  void work_until(Condition&& condition);

  am::Job job_;
  const std::uint64_t times_;
  std::mt19937_64 random_;
  am::Bundle bundle_{job_};
  am::Endpoint endpoint_{bundle_};  // the steady one
  std::array<std::byte, kLong> payload_;
  std::array<std::byte, kPut> source_;
  std::vector<Other> others_;
  std::deque<std::unique_ptr<am::Endpoint>> targets_;
  std::array<Slot, kChannels> slots_;
  std::vector<am::Name> names_;          // offered and not taken yet
  std::vector<ChannelOffer> to_put_to_;  // the same
  Counts counts_;
};

Process* process = nullptr;  // of the handlers

Process::Process(std::uint64_t times, std::uint64_t seed)
    : times_(times), random_(seed * 1000 + job_.rank()), others_(job_.size()) {
  process = this;
  payload_.fill(static_cast<std::byte>(job_.rank() + 1));
  source_.fill(static_cast<std::byte>(job_.rank() + 1));
  set_up(endpoint_);
  endpoint_.add_handlers<&Process::on_target, &Process::on_channel, &Process::on_quiet,
                         &Process::on_done>();
  job_.connect(endpoint_);
}

void Process::set_up(am::Endpoint& endpoint) {
  endpoint.add_handlers<&Process::on_short, &Process::on_short_one, &Process::on_medium,
                        &Process::on_medium_one, &Process::on_long, &Process::on_long_one,
                        &Process::on_answer, &Process::on_long_answer>();
  endpoint.set_tag(1);
  endpoint.on_returned([this](const am::Returned& returned) { came_back(returned); });
}

// --- Messages

void Process::handled(const am::Message& message, std::uint64_t n) {
  expect(n == 17u * message.source(), "a message with a wrong argument");
  ++others_[message.source()].handled;
}

void Process::check(Bytes bytes, am::Rank from) const {
  const auto expected = static_cast<std::byte>(from + 1);
  expect(std::ranges::all_of(bytes, [&](std::byte b) { return b == expected; }), "wrong bytes");
}

void Process::on_short(am::Request r, std::uint64_t n) {
  process->handled(r, n);
  std::move(r).reply<&Process::on_answer>(n);
}
void Process::on_short_one(am::OneWay m, std::uint64_t n) { process->handled(m, n); }
void Process::on_medium(am::Request r, Bytes bytes, std::uint64_t n) {
  process->handled(r, n);
  process->check(bytes, r.source());
  if (process->one_of(2)) return;
  std::move(r).reply_long<&Process::on_long_answer>(process->region_of(process->job_.rank()),
                                                    process->payload_, n);
}
void Process::on_medium_one(am::OneWay m, Bytes bytes, std::uint64_t n) {
  process->handled(m, n);
  process->check(bytes, m.source());
}
void Process::on_long(am::Request r, std::span<std::byte> bytes, std::uint64_t n) {
  process->handled(r, n);
  process->check(bytes, r.source());
  std::move(r).reply<&Process::on_answer>(n);
}
void Process::on_long_one(am::OneWay m, std::span<std::byte> bytes, std::uint64_t n) {
  process->handled(m, n);
  process->check(bytes, m.source());
}
void Process::on_answer(am::Reply, std::uint64_t n) {
  process->expect(n == 17u * process->job_.rank(), "a wrong answer");
  ++process->counts_.answers;
}
void Process::on_long_answer(am::Reply m, std::span<std::byte> bytes, std::uint64_t n) {
  process->expect(n == 17u * process->job_.rank(), "a wrong answer");
  process->check(bytes, m.source());
  ++process->counts_.answers;
}

void Process::came_back(const am::Returned& returned) {
  expect(returned.status == am::Status::kBadEndpoint, "returned, but not for want of an endpoint");
  if (returned.role == am::Role::kReply) {
    ++counts_.returned_replies;  // of a client that has ended
    return;
  }
  ++counts_.returned;
  --others_[returned.destination].sent;
}

// One message of any kind.
void Process::send(am::Endpoint& from, std::uint32_t to, am::Rank rank) {
  ++others_[rank].sent;
  const std::uint64_t n = 17u * job_.rank();
  const std::uint64_t at = region_of(job_.rank());
  const Bytes some = Bytes(payload_).first(one_of(2) ? kMedium : kLong);
  switch (random_() % 8) {
    case 0: return from.request_medium<&Process::on_medium>(to, some.first(kMedium), n);
    case 1: return from.request_medium<&Process::on_medium_one>(to, some.first(kMedium), n);
    case 2: return from.request_long<&Process::on_long>(to, at, some, n);
    case 3: return from.request_long<&Process::on_long_one>(to, at, some, n);
    case 4:
    case 5: return from.request<&Process::on_short>(to, n);
    default: return from.request<&Process::on_short_one>(to, n);
  }
}

// --- What comes and goes

void Process::make_client() {
  ++counts_.clients;
  const am::Rank rank = anybody();
  am::Endpoint client(bundle_, {.translations = 1});
  set_up(client);
  client.map(0, endpoint_.translation_name(rank), 1);
  for (std::uint64_t left = random_() % 8; left > 0; --left) send(client, 0, rank);
  if (one_of(2)) client.unmap(0);  // waits for all answers
}

void Process::make_target() {
  ++counts_.targets;
  const am::Rank rank = anybody();
  targets_.push_back(
      std::make_unique<am::Endpoint>(bundle_, am::Endpoint::Options{.translations = 1}));
  set_up(*targets_.back());
  const am::Name name = targets_.back()->name();
  ++others_[rank].offers;
  endpoint_.request_medium<&Process::on_target>(rank, std::as_bytes(std::span(&name, 1)));
  while (targets_.size() > random_() % kTargets) targets_.pop_front();
}

void Process::make_channel() {
  const auto slot = std::ranges::find(slots_, false, &Slot::used);
  if (slot == slots_.end()) return;
  ++counts_.channels;
  slot->used = true;
  const am::Rank rank = anybody();
  std::byte* const at = job_.router().segment() + region_of(job_.size()) +
                        static_cast<std::uint64_t>(slot - slots_.begin()) * kPut;
  slot->put = rank + 1;
  slot->channel = std::make_unique<am::ReceiveChannel>(bundle_, std::span(at, kPut),
                                                       [this, slot] { arrived(*slot); });
  const ChannelOffer offer{job_.rank(), slot->channel->handle()};
  ++others_[rank].offers;
  endpoint_.request_medium<&Process::on_channel>(rank, std::as_bytes(std::span(&offer, 1)));
}

// Its callback closes the channel, or leaves that to step().
void Process::arrived(Slot& slot) {
  const auto expected = static_cast<std::byte>(slot.put);
  const auto index = static_cast<std::uint64_t>(&slot - slots_.data());
  const std::span got(job_.router().segment() + region_of(job_.size()) + index * kPut, kPut);
  expect(std::ranges::all_of(got, [&](std::byte b) { return b == expected; }), "a wrong put");
  slot.put = 0;
  if (one_of(2)) slot.channel.reset();
}

void Process::make_bundle() {
  ++counts_.bundles;
  am::Bundle bundle(job_);
  auto inner = std::make_unique<am::Endpoint>(bundle, am::Endpoint::Options{.translations = 1});
  set_up(*inner);
  const std::uint32_t to = endpoint_.map_any(inner->name(), 1);
  for (std::uint64_t left = random_() % 100; left > 0; --left) send(endpoint_, to, job_.rank());
  inner.reset();
  endpoint_.unmap(to);
}

// --- What others offer

void Process::on_target(am::OneWay, Bytes bytes) {
  am::Name name;
  std::memcpy(static_cast<void*>(&name), bytes.data(), sizeof name);
  process->names_.push_back(name);
}
void Process::on_channel(am::OneWay, Bytes bytes) {
  ChannelOffer offer;
  std::memcpy(static_cast<void*>(&offer), bytes.data(), sizeof offer);
  process->to_put_to_.push_back(offer);
}
void Process::on_quiet(am::OneWay m, std::uint64_t offers) {
  process->others_[m.source()].promised = static_cast<std::int64_t>(offers);
}
void Process::on_done(am::OneWay m, std::uint64_t messages) {
  process->others_[m.source()].owed = static_cast<std::int64_t>(messages);
}

// The target may have ended, or end meanwhile.
void Process::take(const am::Name& name) {
  const std::uint32_t to = endpoint_.map_any(name, 1);
  for (std::uint64_t left = random_() % 12; left > 0; --left) send(endpoint_, to, name.rank);
  endpoint_.unmap(to);
  ++others_[name.rank].taken;
}

void Process::take(const ChannelOffer& offer) {
  if (one_of(2)) am::SendChannel(bundle_, offer.handle).associate(source_);  // for nothing
  am::SendChannel channel(bundle_, offer.handle);
  channel.associate(source_);
  channel.put();
  channel.close();
  ++others_[offer.from].taken;
}

void Process::take_offers() {
  // More may come while these are taken.
  while (!names_.empty() || !to_put_to_.empty()) {
    for (const am::Name& name : std::exchange(names_, {})) take(name);
    for (const ChannelOffer& offer : std::exchange(to_put_to_, {})) take(offer);
  }
}

// --- The whole

void Process::step() {
  bundle_.poll();
  take_offers();
  for (Slot& slot : slots_) {
    if (!slot.used || slot.put != 0) continue;
    slot.channel.reset();
    slot.used = false;
  }
}

template <class Condition>
void Process::work_until(Condition&& condition) {
  for (;;) {
    step();
    if (condition()) return;
    bundle_.wait_until([&] { return condition() || !names_.empty() || !to_put_to_.empty(); });
  }
}

int Process::run() {
  for (std::uint64_t time = 0; time < times_; ++time) {
    switch (random_() % 8) {
      case 0: make_bundle(); break;
      case 1:
      case 2: make_channel(); break;
      case 3:
      case 4: make_target(); break;
      default: make_client(); break;
    }
    step();
  }
  const auto all = [this](auto&& so) { return std::ranges::all_of(others_, so); };
  const auto to_all = [this](auto&& what) {
    for (am::Rank rank = 0; rank < job_.size(); ++rank) what(rank, others_[rank]);
  };
  to_all([this](am::Rank to, Other& other) {
    endpoint_.request<&Process::on_quiet>(to, other.offers);
  });
  work_until([&] {
    return all([](const Other& other) {
      return other.promised == static_cast<std::int64_t>(other.taken);
    });
  });
  to_all(
      [this](am::Rank to, Other& other) { endpoint_.request<&Process::on_done>(to, other.sent); });
  // A channel that was offered has its put by now, or it is on its way.
  work_until([&] {
    return std::ranges::all_of(slots_, [](const Slot& slot) { return slot.put == 0; }) &&
           all([](const Other& other) {
             return other.owed == static_cast<std::int64_t>(other.handled);
           });
  });
  for (Slot& slot : slots_) slot.channel.reset();
  job_.barrier(bundle_);
  expect(all([](const Other& o) { return o.owed == static_cast<std::int64_t>(o.handled); }),
         "a message was handled twice");
  expect(am::channel_stats(bundle_) == am::ChannelStats{}, "the channels have counted a fault");
  std::printf(
      "rank %u: %llu clients, %llu targets, %llu channels, %llu bundles; %llu answers, "
      "%llu messages and %llu replies came back\n",
      job_.rank(), static_cast<unsigned long long>(counts_.clients),
      static_cast<unsigned long long>(counts_.targets),
      static_cast<unsigned long long>(counts_.channels),
      static_cast<unsigned long long>(counts_.bundles),
      static_cast<unsigned long long>(counts_.answers),
      static_cast<unsigned long long>(counts_.returned),
      static_cast<unsigned long long>(counts_.returned_replies));
  targets_.clear();
  job_.finish(bundle_);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t times = 1000;
  std::uint64_t seed = 1;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string option = argv[i];
    if (option == "--times") times = std::strtoull(argv[i + 1], nullptr, 10);
    if (option == "--seed") seed = std::strtoull(argv[i + 1], nullptr, 10);
  }
  try {
    return Process(times, seed).run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
