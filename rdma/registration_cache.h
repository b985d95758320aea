#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <span>
#include <utility>

#include "rdma/memory.h"
#include "rdma/unmap_monitor.h"

namespace rdma {

// Registrations of memory that are shared by who uses the same memory at a time, and kept for who
// uses it next: to register costs much more than a transfer.
//
// What nobody uses is kept only as long as a monitor sees that the memory stays where it is. A
// registration whose memory has gone is not given out again; it ends with its last use.
//
// Thread rule: one thread at a time, its uses' included.
class RegistrationCache {
  struct Entry;

 public:
  struct Options {
    std::function<Memory(std::span<std::byte>)> make;  // registers, or throws Error
    UnmapMonitor* monitor = nullptr;                   // outlives the cache; none: nothing is kept
    std::size_t most_idle = 512;                       // registrations that are kept
    std::size_t most_idle_bytes = std::size_t{1} << 30;
  };
  struct Stats {
    std::size_t live = 0;  // registrations, idle ones included
    std::size_t live_bytes = 0;
    std::size_t idle = 0;
    std::size_t idle_bytes = 0;
    std::uint64_t hits = 0;    // of acquire()
    std::uint64_t misses = 0;  // had to register
    std::uint64_t gone = 0;    // registrations whose memory went away
  };

  // One use of a registration. Ends before the cache does.
  class Use {
   public:
    Use(Use&&) noexcept = default;
    Use& operator=(Use&& other) noexcept {
      std::swap(entry_, other.entry_);
      std::swap(key_, other.key_);
      return *this;
    }
    ~Use();

    RemoteKey key() const noexcept { return key_; }  // of the range's first byte
    void* descriptor() const noexcept;
    // Ends the registration together with its last use, instead of keeping it.
    void revoke() noexcept;

   private:
    friend RegistrationCache;
    Use(std::shared_ptr<Entry> entry, RemoteKey key) noexcept
        : entry_(std::move(entry)), key_(key) {}

    std::shared_ptr<Entry> entry_;  // none: moved away
    RemoteKey key_;
  };

  explicit RegistrationCache(Options options) noexcept : options_(std::move(options)) {}
  RegistrationCache(const RegistrationCache&) = delete;
  RegistrationCache& operator=(const RegistrationCache&) = delete;

  // A registration that covers `range`, which stays mapped as long as the use lasts.
  // Throws what Options::make throws, after it has tried with nothing kept.
  Use acquire(std::span<std::byte> range);

  const Stats& stats() const noexcept { return stats_; }

 private:
  // By where they begin. None lies within another: so they end in the same order.
  using Entries = std::map<std::uintptr_t, std::shared_ptr<Entry>>;

  std::shared_ptr<Entry> find(AddressRange range);
  std::shared_ptr<Entry> add(std::span<std::byte> range);
  void take(Entry& entry) noexcept;
  void release(Entry& entry) noexcept;
  Entries::iterator remove(Entries::iterator at) noexcept;
  void remove(Entry& entry) noexcept;
  void drop_gone() noexcept;

  const Options options_;
  Stats stats_;
  std::list<Entry*> idle_;  // those not used for longest first
  Entries entries_;         // that may be given out
};

}  // namespace rdma
