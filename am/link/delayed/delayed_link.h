// am/link/delayed: a link whose packets are late, for tests of what is above (SPLITC_FAULT=delay).
// It uses am/link and am/types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "am/link/link.h"

namespace am::link {

// Another link, to which each packet is given only after a random time. So packets to one process
// stay in order, as a reliable link promises, those to several overtake one another, and accesses
// overtake packets. Nothing is lost.
//
// It allocates for every packet.
class DelayedLink final : public Link {
 public:
  // Up to `delay_ns`, by `seed`. `size`: of the job.
  DelayedLink(std::unique_ptr<Link> link, std::uint32_t size, std::int64_t delay_ns,
              std::uint64_t seed);

  std::byte* claim(Rank to, std::uint32_t bytes) override;
  void commit(Rank to) override;
  std::size_t frame_bytes() const noexcept override { return link_->frame_bytes(); }
  bool push() override;
  bool gathers(Rank to) const noexcept override { return link_->gathers(to); }
  bool congested(Rank to) const noexcept override;
  int poll(PacketSink& sink) override;
  bool fetch(PacketSink& sink) override;
  bool busy() const noexcept override { return held_ != 0 || link_->busy(); }
  void verify() override { link_->verify(); }
  void forget(Rank dead) override;
  void drive() noexcept override { link_->drive(); }

  bool has_rma() const noexcept override { return link_->has_rma(); }
  RemoteKey segment_key(Rank of) const noexcept override { return link_->segment_key(of); }
  bool try_access(const RmaAccess& access, Completion& completion) override {
    return link_->try_access(access, completion);
  }
  bool writes_before_packets(std::size_t bytes) const noexcept override {
    return link_->writes_before_packets(bytes);
  }
  std::size_t max_put() const noexcept override { return link_->max_put(); }
  bool try_put(Rank to, std::uint64_t offset, std::span<const std::byte> from, std::uint64_t word,
               Completion& completion) override {
    return link_->try_put(to, offset, from, word, completion);
  }
  unsigned arrival_bits() const noexcept override { return link_->arrival_bits(); }
  std::unique_ptr<Registration> register_memory(std::span<std::byte> range) override {
    return link_->register_memory(range);
  }
  RegistrationStats registration_stats() const override { return link_->registration_stats(); }
  const StrangerStats& stranger_stats() const noexcept override { return link_->stranger_stats(); }
  SendStats send_stats() const noexcept override { return link_->send_stats(); }
  LossStats loss_stats() const noexcept override { return link_->loss_stats(); }
  bool prefers_packets() const noexcept override { return link_->prefers_packets(); }
  std::size_t largest_packet_access() const noexcept override {
    return link_->largest_packet_access();
  }

  int wait_fd() const noexcept override { return link_->wait_fd(); }
  bool may_sleep() noexcept override { return link_->may_sleep(); }
  std::int64_t patience_ns() const noexcept override;
  std::string describe() const override;

 private:
  struct Held {
    std::int64_t due_ns;  // not before that of the one in front
    std::vector<std::byte> packet;
  };

  void release();

  // Constant after construction.
  const std::unique_ptr<Link> link_;
  const std::int64_t delay_ns_;
  // Owned by whoever is inside.
  std::mt19937_64 random_;
  std::vector<std::byte> claimed_;
  std::vector<std::deque<Held>> queues_;  // by rank
  std::size_t held_ = 0;                  // in all
};

}  // namespace am::link
