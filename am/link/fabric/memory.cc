// Memory outside the segment.

#include <rdma/fi_domain.h>
#include <rdma/fi_errno.h>

#include <memory>
#include <optional>

#include "am/link/fabric/fabric_link.h"
#include "am/types/local_memory.h"
#include "rdma/error.h"

namespace am::link {

namespace {

std::string bad_memory(std::span<const std::byte> range, bool written) {
  return name_of(range) + " of this process cannot be " + (written ? "written" : "read") +
         rdma::remedy(FI_EFAULT);
}

}  // namespace

class FabricLink::Registered final : public Registration {
 public:
  // Part of the segment, which is registered for good.
  Registered(std::span<std::byte> range, RemoteKey key) noexcept : Registration(range, key) {}
  Registered(std::span<std::byte> range, rdma::RegistrationCache::Use use) noexcept
      : Registration(range, {use.key().base, use.key().key}), use_(std::move(use)) {}

  void revoke() noexcept override {
    if (use_) use_->revoke();
  }

 private:
  std::optional<rdma::RegistrationCache::Use> use_;
};

std::unique_ptr<Registration> FabricLink::register_memory(std::span<std::byte> range) {
  const std::string me = "rank " + std::to_string(options_.rank) + ": register_memory: ";
  if (range.empty()) throw Error(me + "no bytes; register at least one");
  if (in_segment(range)) {
    const rdma::RemoteKey key = segment_->key();
    const auto offset = static_cast<std::uint64_t>(range.data() - options_.segment.data());
    return std::make_unique<Registered>(range, RemoteKey{key.base + offset, key.key});
  }
  try {
    return std::make_unique<Registered>(range, registrations().acquire(range));
  } catch (const rdma::Error& error) {
    throw Error(me + error.what());
  }
}

// What `local` is passed with.
void* FabricLink::local_descriptor(Access& access, std::span<const std::byte> local, bool written) {
  if (fabric_->waits_for_bad_memory() && !in_segment(local) && !is_usable(local, written))
      [[unlikely]] {
    throw rdma::Error(bad_memory(local, written), FI_EFAULT);
  }
  if (!fabric_->needs_local_keys()) return nullptr;
  if (in_segment(local)) return segment_->descriptor();
  access.use.emplace(registrations().acquire({const_cast<std::byte*>(local.data()), local.size()}));
  return access.use->descriptor();
}

bool FabricLink::in_segment(std::span<const std::byte> range) const noexcept {
  const rdma::AddressRange whole = rdma::address_range(options_.segment);
  const rdma::AddressRange part = rdma::address_range(range);
  return part.begin >= whole.begin && part.end <= whole.end;
}

rdma::RegistrationCache& FabricLink::registrations() {
  if (registrations_) return *registrations_;
  try {
    monitor_.emplace();
  } catch (const rdma::Error& error) {
    no_monitor_ = error.what();
  }
  constexpr std::uint64_t kAll = FI_REMOTE_READ | FI_REMOTE_WRITE | FI_READ | FI_WRITE;
  return registrations_.emplace(rdma::RegistrationCache::Options{
      .make =
          [this](std::span<std::byte> range) {
            return rdma::Memory(*fabric_, range, kAll, &endpoint_.fid());
          },
      .monitor = monitor_ ? &*monitor_ : nullptr});
}

RegistrationStats FabricLink::registration_stats() const {
  if (!registrations_) return {};
  const rdma::RegistrationCache::Stats& stats = registrations_->stats();
  return {.used = stats.live - stats.idle,
          .kept = stats.idle,
          .bytes = stats.live_bytes,
          .hits = stats.hits,
          .misses = stats.misses,
          .not_kept = no_monitor_};
}

}  // namespace am::link
