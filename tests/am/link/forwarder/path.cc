#include "tests/am/link/forwarder/path.h"

#include <algorithm>
#include <utility>

#include "am/types/clock.h"
#include "tests/am/link/forwarder/ip_packet.h"

namespace am::link::test {

void Path::accept(unsigned from, std::span<const std::byte> packet, std::int64_t now_ns) {
  if (is_datagram(packet)) return accept_datagram(from, packet, now_ns);
  ++stats_.others;
  hold({.from = from, .at_ns = now_ns, .packet = {packet.begin(), packet.end()}}, now_ns);
}

void Path::hold(Held held, std::int64_t now_ns) {
  stats_.paused += now_ns < paused_until_ns_;
  held_.push_back(std::move(held));
}

void Path::begin_what_is_due(std::int64_t now_ns) noexcept {
  if (stats_.datagrams == weather_.partition_at) {
    partition_until_ns_ = now_ns + weather_.partition_ns;
  }
  if (stats_.datagrams == weather_.pause_at) paused_until_ns_ = now_ns + weather_.pause_ns;
}

void Path::accept_datagram(unsigned from, std::span<const std::byte> packet, std::int64_t now_ns) {
  ++stats_.datagrams;
  begin_what_is_due(now_ns);
  ++sent_[from];
  if (now_ns < partition_until_ns_) {
    ++stats_.cut_off;
    return;
  }
  if (happens(weather_.drop)) {
    ++stats_.dropped;
    return;
  }
  accept_copy(from, packet, now_ns);
  if (!happens(weather_.dup)) return;
  ++stats_.doubled;
  accept_copy(from, packet, now_ns);
}

void Path::accept_copy(unsigned from, std::span<const std::byte> packet, std::int64_t now_ns) {
  Held held{.from = from,
            .at_ns = now_ns,
            .number = sent_[from],
            .packet = {packet.begin(), packet.end()}};
  if (weather_.delay_ns != 0) {
    const auto most = static_cast<std::uint64_t>(weather_.delay_ns);
    held.at_ns += static_cast<std::int64_t>(random_() % most);
  }
  if (happens(weather_.reorder)) {
    held.at_ns += kBehindNs;
    held.behind = held.number + 1 + random_() % kOvertaking;
  }
  if (happens(weather_.corrupt)) {
    damage(held.packet, random_);
    ++stats_.damaged;
  }
  hold(std::move(held), now_ns);
}

bool Path::is_due(const Held& held, std::int64_t now_ns) const noexcept {
  if (held.at_ns <= now_ns) return true;
  return held.behind != 0 && last_[held.from] >= held.behind;
}

void Path::note_sent(const Held& held) noexcept {
  if (held.number == 0) return;
  stats_.overtaken += held.number < last_[held.from];
  last_[held.from] = std::max(last_[held.from], held.number);
}

std::int64_t Path::next_ns() const noexcept {
  std::int64_t next = -1;
  for (const Held& held : held_) next = earlier(next, held.at_ns);
  return next < 0 ? -1 : std::max(next, paused_until_ns_);
}

}  // namespace am::link::test
