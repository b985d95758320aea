#include "rdma/registration_cache.h"

#include <iterator>

#include "rdma/error.h"

namespace rdma {
namespace {

// Memory that is watched as long as this lives.
class Watch {
 public:
  Watch(UnmapMonitor* monitor, AddressRange range)
      : monitor_(monitor != nullptr && monitor->watch(range) ? monitor : nullptr), range_(range) {}
  ~Watch() {
    if (monitor_ != nullptr) monitor_->forget(range_);
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  explicit operator bool() const noexcept { return monitor_ != nullptr; }

 private:
  UnmapMonitor* const monitor_;
  const AddressRange range_;
};

}  // namespace

struct RegistrationCache::Entry {
  Entry(RegistrationCache& owner, std::span<std::byte> bytes)
      : cache(owner),
        range(address_range(bytes)),
        watch(owner.options_.monitor, range),
        memory(owner.options_.make(bytes)) {
    ++cache.stats_.live;
    cache.stats_.live_bytes += bytes.size();
  }
  ~Entry() {
    --cache.stats_.live;
    cache.stats_.live_bytes -= size();
  }

  std::size_t size() const noexcept { return range.end - range.begin; }
  bool idle() const noexcept { return place.empty(); }

  RegistrationCache& cache;
  const AddressRange range;
  const Watch watch;  // begins before the registration does
  const Memory memory;
  std::size_t users = 0;
  bool listed = false;            // in RegistrationCache::entries_
  std::list<Entry*> place{this};  // what goes into RegistrationCache::idle_; empty: is there
  const std::list<Entry*>::iterator in_idle = place.begin();
};

RegistrationCache::Use::~Use() {
  if (entry_) entry_->cache.release(*entry_);
}

void* RegistrationCache::Use::descriptor() const noexcept { return entry_->memory.descriptor(); }

void RegistrationCache::Use::revoke() noexcept { entry_->cache.remove(*entry_); }

RegistrationCache::Use RegistrationCache::acquire(std::span<std::byte> range) {
  drop_gone();
  std::shared_ptr<Entry> entry = find(address_range(range));
  ++(entry ? stats_.hits : stats_.misses);
  if (!entry) entry = add(range);
  take(*entry);
  RemoteKey key = entry->memory.key();
  key.base += address_range(range).begin - entry->range.begin;
  return {std::move(entry), key};
}

std::shared_ptr<RegistrationCache::Entry> RegistrationCache::find(AddressRange range) {
  // Of those that begin early enough the last one ends last.
  auto after = entries_.upper_bound(range.begin);
  if (after == entries_.begin() || range.begin == range.end) return nullptr;
  const std::shared_ptr<Entry>& entry = std::prev(after)->second;
  return entry->range.end >= range.end ? entry : nullptr;
}

std::shared_ptr<RegistrationCache::Entry> RegistrationCache::add(std::span<std::byte> range) {
  std::shared_ptr<Entry> entry;
  try {
    entry = std::make_shared<Entry>(*this, range);
  } catch (const Error&) {
    if (idle_.empty()) throw;
    while (!idle_.empty()) remove(*idle_.front());  // what they hold may be what is short
    entry = std::make_shared<Entry>(*this, range);
  }
  const AddressRange covered = entry->range;
  auto inside = entries_.lower_bound(covered.begin);
  while (inside != entries_.end() && inside->second->range.end <= covered.end) {
    inside = remove(inside);
  }
  entries_.emplace_hint(inside, covered.begin, entry);
  entry->listed = true;
  return entry;
}

void RegistrationCache::take(Entry& entry) noexcept {
  ++entry.users;
  if (!entry.idle()) return;
  entry.place.splice(entry.place.begin(), idle_, entry.in_idle);
  --stats_.idle;
  stats_.idle_bytes -= entry.size();
}

void RegistrationCache::release(Entry& entry) noexcept {
  drop_gone();
  if (--entry.users != 0 || !entry.listed) return;
  if (!entry.watch) return remove(entry);
  idle_.splice(idle_.end(), entry.place);
  ++stats_.idle;
  stats_.idle_bytes += entry.size();
  while (stats_.idle > options_.most_idle || stats_.idle_bytes > options_.most_idle_bytes) {
    remove(*idle_.front());
  }
}

// Ends it, or leaves that to its last use.
RegistrationCache::Entries::iterator RegistrationCache::remove(Entries::iterator at) noexcept {
  Entry& entry = *at->second;
  entry.listed = false;
  if (entry.idle()) {
    entry.place.splice(entry.place.begin(), idle_, entry.in_idle);
    --stats_.idle;
    stats_.idle_bytes -= entry.size();
  }
  return entries_.erase(at);
}

void RegistrationCache::remove(Entry& entry) noexcept {
  if (entry.listed) remove(entries_.find(entry.range.begin));
}

void RegistrationCache::drop_gone() noexcept {
  if (options_.monitor == nullptr) return;
  for (const AddressRange& gone : options_.monitor->collect()) {
    auto after = entries_.lower_bound(gone.end);
    while (after != entries_.begin() && std::prev(after)->second->range.end > gone.begin) {
      after = remove(std::prev(after));
      ++stats_.gone;
    }
  }
}

}  // namespace rdma
