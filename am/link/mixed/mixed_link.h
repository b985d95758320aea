// am/link/mixed: two links to the same processes, each for what it does faster, and the measurement
// that tells which is. It uses am/link, am/types and shmem, and knows no kind of link.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "am/link/link.h"

namespace am::link {

// Packets by one link, and one-sided access by another.
//
// No order is kept between the two. So no write is promised to come before later packets
// (writes_before_packets() is false): who notifies of a write waits until it is visible at its
// target. Words of puts and packets are independent of each other anyway.
//
// A poll looks at the second link each time while this process has something in flight there, and
// else once in some polls: a look costs about as much as one at the first, and what others access
// here can wait for that long.
class MixedLink final : public Link {
 public:
  // Accesses of so many bytes travel as packets: they fit one of those, and its answer.
  static constexpr std::size_t kLargestPacketAccess = 1024;

  // Both reach the same processes and have been introduced to them. `access` has RMA, and sends no
  // packets but its own. Throws Error: no descriptors left.
  MixedLink(std::unique_ptr<Link> packets, std::unique_ptr<Link> access);
  ~MixedLink() override;

  std::byte* claim(Rank to, std::uint32_t bytes) override { return packets_->claim(to, bytes); }
  void commit(Rank to) override { packets_->commit(to); }
  void commit_more(Rank to) override { packets_->commit_more(to); }
  std::size_t frame_bytes() const noexcept override { return packets_->frame_bytes(); }
  bool push() override { return packets_->push(); }
  bool gathers(Rank to) const noexcept override { return packets_->gathers(to); }
  bool congested(Rank to) const noexcept override { return packets_->congested(to); }
  int poll(PacketSink& sink) override;
  bool fetch(PacketSink& sink) override;
  bool busy() const noexcept override { return packets_->busy() || access_->busy(); }
  void verify() override;
  void forget(Rank dead) override {
    packets_->forget(dead);
    access_->forget(dead);
  }
  void drive() noexcept override;

  bool has_rma() const noexcept override { return true; }
  RemoteKey segment_key(Rank of) const noexcept override { return access_->segment_key(of); }
  bool try_access(const RmaAccess& access, Completion& completion) override {
    return access_->try_access(access, completion);
  }
  bool writes_before_packets(std::size_t) const noexcept override { return false; }
  std::size_t max_put() const noexcept override { return access_->max_put(); }
  bool try_put(Rank to, std::uint64_t offset, std::span<const std::byte> from, std::uint64_t word,
               Completion& completion) override {
    return access_->try_put(to, offset, from, word, completion);
  }
  unsigned arrival_bits() const noexcept override { return access_->arrival_bits(); }
  std::unique_ptr<Registration> register_memory(std::span<std::byte> range) override {
    return access_->register_memory(range);
  }
  RegistrationStats registration_stats() const override { return access_->registration_stats(); }
  const StrangerStats& stranger_stats() const noexcept override;
  SendStats send_stats() const noexcept override {
    SendStats both = packets_->send_stats();
    return both += access_->send_stats();
  }
  LossStats loss_stats() const noexcept override { return packets_->loss_stats(); }
  bool prefers_packets() const noexcept override { return access_->prefers_packets(); }
  std::size_t largest_packet_access() const noexcept override { return kLargestPacketAccess; }

  int wait_fd() const noexcept override { return both_fd_; }
  bool may_sleep() noexcept override { return packets_->may_sleep() && access_->may_sleep(); }
  std::int64_t patience_ns() const noexcept override;
  std::string describe() const override;

 private:
  // Polls that leave the second link out while nothing is in flight there.
  static constexpr unsigned kRarely = 8;

  int make_both_fd() const;

  // Constant after construction.
  const std::unique_ptr<Link> packets_;
  const std::unique_ptr<Link> access_;
  const int both_fd_;  // readable when one of theirs is; -1: one of them has none
  // Owned by whoever is inside.
  unsigned left_out_ = 0;
  mutable StrangerStats strangers_;  // of both together, when somebody asks
};

}  // namespace am::link
