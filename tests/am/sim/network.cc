#include "tests/am/sim/network.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

namespace am::sim {
namespace {

constexpr unsigned kDeliver = 3;      // one in so many times a source's packets stay under way
constexpr unsigned kComplete = 2;     // one in so many times an access goes a step further
constexpr std::size_t kWaiting = 64;  // packets under way to one process, before it is congested

}  // namespace

bool Network::room() noexcept {
  if (options_.no_room == 0 || !schedule_.one_in(options_.no_room)) return true;
  ++stats_.refused;
  return false;
}

std::byte* Network::memory(Rank rank, const link::RemoteKey& key, std::size_t bytes) {
  std::span<std::byte> range = ends_[rank].segment;
  if (key.key != link::RemoteKey::kSegment) {
    const auto found = registered_.find(key.key);
    if (found == registered_.end() || found->second.rank != rank) {
      schedule_.give_up("an access by a key that is not good there, or not any more");
    }
    range = found->second.range;
  }
  if (key.base > range.size() || bytes > range.size() - key.base) {
    schedule_.give_up("an access outside the segment, or what is registered");
  }
  return range.data() + key.base;
}

void Network::apply(Access& access) {
  access.applied = true;
  std::byte* const remote = memory(access.rank, access.at, access.local.size());
  if (access.write) {
    std::memcpy(remote, access.local.data(), access.local.size());
  } else {
    std::memcpy(access.local.data(), remote, access.local.size());
  }
}

class SimLink final : public link::Link, private link::Registrar {
 public:
  SimLink(Network& network, Rank me)
      : network_(network), end_(network.ends_[me]), me_(me), fd_(eventfd(0, EFD_CLOEXEC)) {
    const Network::Options& options = network.options_;
    can_ = {.emulated = options.prefers_packets,
            .rma = options.rma,
            .ordered_write = options.writes_before_packets ? ~std::size_t{0} : 0,
            .notified_write = options.rma ? std::size_t{1} << 20 : 0,
            .registrar = this,
            .wait_fd = fd_,
            .drive = {},
            .description = "simulated"};
  }
  ~SimLink() override { close(fd_); }

  std::byte* claim(Rank, std::uint32_t bytes) override {
    if (bytes % 8 != 0 || bytes < sizeof(link::PacketHeader) || bytes > link::kMaxPacket) {
      schedule().give_up("a packet of a size that there is not");
    }
    claimed_.assign(bytes / 8, 0);
    return reinterpret_cast<std::byte*>(claimed_.data());
  }
  link::Tail* commit(Rank to, link::Next) override {
    under_way(to).push_back({.packet = std::exchange(claimed_, {}), .bytes = {}});
    schedule().progressed();
    return nullptr;
  }
  link::Queue queue(Rank to, std::size_t written) override {
    if (written != 0 && network_.options_.writes_with_packets && schedule().one_in(2)) {
      return link::Queue::kTogether;
    }
    return network_.ends_[to].incoming[me_].size() > kWaiting ? link::Queue::kFull
                                                              : link::Queue::kEmpty;
  }
  bool flush() override { return true; }
  bool try_access(const link::RmaAccess& access, link::Completion& done) override;
  bool busy() const noexcept override {
    return !end_.accesses.empty() || !end_.complete.empty() || end_.puts_in_flight != 0;
  }
  void verify() override {}
  void forget(Rank) override {}
  // Who would sleep gives its turn to another.
  std::int64_t longest_sleep_ns() noexcept override {
    schedule().yield();
    return 0;
  }

 private:
  class Registered;

  int take(link::PacketSink& sink, bool keeping) override {
    int count = 0;
    advance(sink, count);
    const bool kept = deliver(sink, keeping, count);
    if (keeping) return static_cast<int>(kept);
    if (schedule().one_in(4)) schedule().yield();
    return count;
  }
  std::unique_ptr<link::Registration> register_memory(std::span<std::byte> range) override;
  link::RegistrationStats registration_stats() const override { return {}; }

  Schedule& schedule() const noexcept { return network_.schedule_; }
  std::deque<Network::Item>& under_way(Rank to) { return network_.ends_[to].incoming[me_]; }

  bool try_notify(const link::RmaAccess& access, link::Completion& done);
  void advance(link::PacketSink& sink, int& count);
  void take_puts(link::PacketSink& sink, int& count);
  bool deliver(link::PacketSink& sink, bool keeping, int& count);

  Network& network_;
  Network::End& end_;
  const Rank me_;
  const int fd_;  // never readable: nobody sleeps on it
  std::vector<std::uint64_t> claimed_;
};

class SimLink::Registered final : public link::Registration {
 public:
  Registered(Network& network, Rank rank, std::span<std::byte> range)
      : Registration(range, {0, network.next_key_}), network_(network) {
    network_.registered_[network_.next_key_++] = {rank, range};
  }
  ~Registered() override { network_.registered_.erase(key().key); }
  void revoke() noexcept override { network_.registered_.erase(key().key); }

 private:
  Network& network_;
};

std::unique_ptr<link::Registration> SimLink::register_memory(std::span<std::byte> range) {
  return std::make_unique<Registered>(network_, me_, range);
}

bool SimLink::try_access(const link::RmaAccess& access, link::Completion& done) {
  const auto& [kind, peer, at, local, word, packet] = access;
  network_.memory(peer, at, local.size());
  if (kind == link::RmaAccess::kWriteAndNotify) return try_notify(access, done);
  const bool together = kind == link::RmaAccess::kWriteWithPacket;
  const bool before_packets = kind == link::RmaAccess::kWriteBeforePackets;
  if (before_packets && can_.ordered_write == 0) {
    schedule().give_up("a write before packets, which this network does not offer");
  }
  if (!network_.room()) return false;
  if (before_packets || together) {
    std::vector<std::uint64_t> words(packet.size() / sizeof(std::uint64_t));
    std::memcpy(words.data(), packet.data(), packet.size());
    under_way(peer).push_back(
        {.packet = std::move(words), .at = at, .bytes = {local.begin(), local.end()}});
    end_.complete.push_back(&done);
    return true;
  }
  end_.accesses.push_back({peer, at, local, kind == link::RmaAccess::kWrite, false, &done});
  schedule().progressed();
  return true;
}

bool SimLink::try_notify(const link::RmaAccess& access, link::Completion& done) {
  const std::span<const std::byte> from = access.local;
  std::byte* const at = network_.memory(access.peer, access.at, from.size());
  if (from.empty() || from.size() > can_.notified_write) {
    schedule().give_up("a put of a size that cannot be");
  }
  if (!network_.room()) return false;
  Network::Put& put = network_.ends_[access.peer].puts.emplace_back();
  put = {.to = at, .from = from, .copy = {}, .sender = me_, .word = access.word};
  schedule().progressed();
  if (schedule().one_in(2)) {
    put.completion = &done;
    ++end_.puts_in_flight;
  } else {
    put.copy.assign(from.begin(), from.end());
    put.from = put.copy;
    link::complete(done);
  }
  return true;
}

// Own accesses go on, in any order, and puts arrive.
void SimLink::advance(link::PacketSink& sink, int& count) {
  for (std::size_t left = end_.complete.size(); left != 0; --left, ++count) {
    link::Completion& next = *end_.complete.front();
    end_.complete.pop_front();
    link::complete(next);
  }
  std::ranges::shuffle(end_.accesses, schedule().random());
  for (std::size_t left = end_.accesses.size(); left != 0; --left) {
    if (schedule().one_in(kComplete)) continue;
    schedule().progressed();
    Network::Access& access = end_.accesses[left - 1];
    if (!access.applied) network_.apply(access);
    if (schedule().one_in(kComplete)) continue;  // it is there, and not reported yet
    link::Completion& done = *access.completion;
    end_.accesses.erase(end_.accesses.begin() + static_cast<std::ptrdiff_t>(left - 1));
    ++network_.stats_.accesses;
    ++count;
    link::complete(done);  // may start others, at the end
  }
  take_puts(sink, count);
}

void SimLink::take_puts(link::PacketSink& sink, int& count) {
  for (std::size_t left = end_.puts.size(); left != 0; --left) {
    Network::Put put = std::move(end_.puts.front());
    end_.puts.pop_front();
    if (!put.copy.empty()) put.from = put.copy;
    if (schedule().one_in(kComplete)) {
      end_.puts.push_back(std::move(put));  // others overtake it
      continue;
    }
    schedule().progressed();
    std::memcpy(put.to, put.from.data(), put.from.size());
    if (put.completion != nullptr) {
      network_.ends_[put.sender].complete.push_back(put.completion);
      --network_.ends_[put.sender].puts_in_flight;
    }
    ++network_.stats_.accesses;
    ++count;
    if (!sink.arrived(put.word)) schedule().give_up("a put with a word that nobody was given");
  }
}

// Some of what is under way from each process, in order; with `keeping` up to a packet that the
// sink keeps. Whether there is one.
bool SimLink::deliver(link::PacketSink& sink, bool keeping, int& count) {
  for (auto& [from, items] : end_.incoming) {
    if (schedule().one_in(kDeliver)) continue;
    for (std::size_t some = schedule().random()() % 8 + 1; some != 0 && !items.empty(); --some) {
      if (!items.front().packet.empty() && keeping &&
          sink.keeps(*reinterpret_cast<const link::PacketHeader*>(items.front().packet.data()))) {
        return true;
      }
      const Network::Item item = std::move(items.front());
      items.pop_front();
      schedule().progressed();
      if (!item.bytes.empty()) {
        std::memcpy(network_.memory(me_, item.at, item.bytes.size()), item.bytes.data(),
                    item.bytes.size());
      }
      if (item.packet.empty()) continue;
      ++network_.stats_.packets;
      ++count;
      sink.deliver(from, *reinterpret_cast<const link::PacketHeader*>(item.packet.data()));
    }
  }
  return false;
}

std::unique_ptr<link::Link> Network::make_link(Rank rank, std::span<std::byte> segment) {
  ends_[rank].segment = segment;
  return std::make_unique<SimLink>(*this, rank);
}

}  // namespace am::sim
