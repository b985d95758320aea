#include "am/link/spoiled.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string>

namespace am::link {
namespace {

class SpoiledLink final : public Link {
 public:
  std::byte* claim(Rank, std::uint32_t) override {
    alignas(64) static std::array<std::byte, kMaxPacket> unseen;
    return unseen.data();
  }
  void commit(Rank) override {}
  bool push() override { return true; }
  bool gathers(Rank) const noexcept override { return false; }
  bool congested(Rank) const noexcept override { return false; }
  int poll(PacketSink&) override { return 0; }
  bool fetch(PacketSink&) override { return false; }
  bool busy() const noexcept override { return false; }
  void verify() override {}
  void forget(Rank) override {}
  void drive() noexcept override {}
  bool has_rma() const noexcept override { return false; }
  RemoteKey segment_key(Rank) const noexcept override { return {}; }
  bool try_access(const RmaAccess&, Completion&) override { return false; }
  bool writes_before_packets(std::size_t) const noexcept override { return false; }
  std::size_t max_put() const noexcept override { return 0; }
  bool try_put(Rank, std::uint64_t, std::span<const std::byte>, std::uint64_t,
               Completion&) override {
    return false;
  }
  unsigned arrival_bits() const noexcept override { return 64; }
  std::unique_ptr<Registration> register_memory(std::span<std::byte>) override { return nullptr; }
  RegistrationStats registration_stats() const override { return {}; }
  const StrangerStats& stranger_stats() const noexcept override {
    static const StrangerStats none;
    return none;
  }
  bool prefers_packets() const noexcept override { return false; }
  int wait_fd() const noexcept override { return -1; }
  bool may_sleep() noexcept override { return true; }
  std::int64_t patience_ns() const noexcept override { return -1; }
  std::string describe() const override { return "no network, in a child that was forked"; }
};

}  // namespace

// In its place, as other rooms hold references to it. Virtual calls find this one.
void spoil(Link& link) noexcept {
  static_assert(sizeof(SpoiledLink) == sizeof(Link));
  ::new (static_cast<void*>(&link)) SpoiledLink;
}

}  // namespace am::link
