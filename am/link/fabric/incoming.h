#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "am/link/packet.h"
#include "am/table/sparse_table.h"
#include "am/types/clock.h"

namespace am::link {

// Frames that arrive: whether they are of the job, in which order they are delivered, and where
// their packets begin. Nothing of a frame is believed before it is checked here.
//
// Pure logic. Thread rule: the link's.
class Incoming {
 public:
  enum class Opened : std::uint8_t {
    kNext,      // its packets come now
    kEarly,     // a copy waits for those that were sent before it
    kTwice,     // it has come before, or cannot have been sent yet: dropped
    kStranger,  // not of this job: dropped
  };

  // For a job of `processes`, which send frames with `token`. A frame may overtake fewer than
  // `window` others of its source.
  Incoming(std::uint64_t token, std::uint32_t processes, std::uint32_t window)
      : token_(token), window_(window), received_(processes) {}

  // The frame that has arrived; all packets of the last one have been read. It stays where it is
  // while it is kNext and not finished().
  Opened open(std::span<const std::byte> frame) {
    at_ = end_ = frame.data();
    FrameHeader header{};
    if (frame.size() >= sizeof header) std::memcpy(&header, frame.data(), sizeof header);
    if (header.token != token_ || header.source >= received_.size()) return Opened::kStranger;
    if (header.number != received_[header.source] + 1) return keep(header, frame);
    source_ = header.source;
    ++received_[source_];
    at_ = frame.data() + sizeof header;
    end_ = frame.data() + frame.size();
    return Opened::kNext;
  }
  // Opens the frame that follows the last one of its source, if that has come already. False: it
  // has not.
  bool open_early() { return !early_.empty() && open_kept(); }

  // The frame that is open, if any.
  Rank source() const noexcept { return source_; }
  bool finished() const noexcept { return at_ == end_; }
  // Its next packet, which is as long as it says; unless finished(). nullptr: the frame is damaged.
  const PacketHeader* packet() const noexcept {
    const auto left = static_cast<std::size_t>(end_ - at_);
    const auto* const packet = reinterpret_cast<const PacketHeader*>(at_);
    if (left < sizeof *packet || packet->bytes < sizeof *packet || packet->bytes % 8 != 0 ||
        packet->bytes > left) {
      return nullptr;
    }
    return packet;
  }
  void skip(const PacketHeader& packet) noexcept { at_ += packet.bytes; }

  // What waits of that process is dropped.
  void forget(Rank dead) {
    std::erase_if(early_, [dead](const auto& frame) { return frame.first.first == dead; });
  }

  // How many frames of that process have been opened.
  std::uint32_t received(Rank rank) const noexcept { return received_[rank]; }

  // Frames that wait for others, and since when, by am::now_ns(), that has been so without a
  // change.
  bool waits() const noexcept { return !early_.empty(); }
  std::int64_t waits_since_ns() const noexcept { return since_ns_; }
  // Source and number of one of them; if waits().
  std::pair<Rank, std::uint32_t> waiting() const { return early_.begin()->first; }

 private:
  // Not every provider completes receives in the order of their sends (udp;ofi_rxd does not).
  [[gnu::noinline]] Opened keep(const FrameHeader& header, std::span<const std::byte> frame) {
    const std::uint32_t ahead = header.number - received_[header.source];  // the next one has 1
    if (ahead == 0 || ahead > window_) return Opened::kTwice;
    if (early_.empty()) since_ns_ = now_ns();
    early_.try_emplace({header.source, header.number}, frame.begin(), frame.end());
    return Opened::kEarly;
  }
  [[gnu::noinline]] bool open_kept() {
    const auto next = early_.find({source_, received_[source_] + 1});
    if (next == early_.end()) return false;
    opened_ = std::move(next->second);
    early_.erase(next);
    since_ns_ = now_ns();
    open(opened_);
    return true;
  }

  const std::uint64_t token_;
  const std::uint32_t window_;
  SparseTable<std::uint32_t> received_;  // by rank
  Rank source_ = 0;
  const std::byte* at_ = nullptr;
  const std::byte* end_ = nullptr;
  // Those that arrived before others of the same source that were sent earlier, by source and
  // number; and the one that is open, if it was one of these.
  std::map<std::pair<Rank, std::uint32_t>, std::vector<std::byte>> early_;
  std::vector<std::byte> opened_;
  std::int64_t since_ns_ = 0;
};

}  // namespace am::link
