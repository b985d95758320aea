// Reports when memory is unmapped. A registration of memory that was unmapped, and mapped anew at
// the same address, refers to pages that nobody has any more: a cache of registrations must know.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <thread>

namespace rdma {

struct AddressRange {
  std::uintptr_t begin;
  std::uintptr_t end;

  bool operator==(const AddressRange&) const = default;
};

inline AddressRange address_range(std::span<const std::byte> range) noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(range.data());
  return {begin, begin + range.size()};
}

class UnmapMonitor {
 public:
  virtual ~UnmapMonitor() = default;
  // From now on until as many calls of forget(), collect() reports what is unmapped of `range`.
  // False: nothing will be reported.
  virtual bool watch(AddressRange range) = 0;
  virtual void forget(AddressRange range) noexcept = 0;
  // What has gone since the last call, up to calls (munmap and such) that have returned by now, of
  // whichever thread; maybe more than that, in whole pages. Valid until the next call.
  virtual std::span<const AddressRange> collect() noexcept = 0;
};

// By userfaultfd(2), without faults. Reports munmap(), mremap() and mmap() with MAP_FIXED over a
// watched range, brk(), and madvise() that takes pages away (MADV_DONTNEED, MADV_FREE,
// MADV_REMOVE), by any thread; so also free(), when it gives pages back. Such a call waits until
// the monitor's thread has read the event, some 10 microseconds, if it concerns watched memory.
//
// Cannot be watched: mappings of a file on a disk, and memory that is watched by another
// userfaultfd. Not reported: what ftruncate() takes from memory that is a file's (memfd), and
// shmdt().
//
// Thread rule: one thread at a time.
class UserfaultMonitor final : public UnmapMonitor {
 public:
  // Throws Error where the system does not permit it.
  UserfaultMonitor();
  ~UserfaultMonitor() override;

  bool watch(AddressRange range) override;
  void forget(AddressRange range) noexcept override;
  std::span<const AddressRange> collect() noexcept override;

 private:
  static constexpr std::size_t kNoted = 128;
  // A piece of memory of its own for the kernel, which limits their number (vm.max_map_count).
  static constexpr std::size_t kMostPieces = 8192;

  struct Piece {
    std::uintptr_t end;
    std::uint32_t watchers;
  };
  using Pieces = std::map<std::uintptr_t, Piece>;  // by begin; they do not overlap

  class Descriptor {
   public:
    explicit Descriptor(int fd) noexcept : fd_(fd) {}
    ~Descriptor();
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int operator*() const noexcept { return fd_; }

   private:
    const int fd_;
  };

  AddressRange whole_pages(AddressRange range) const noexcept;
  void split(std::uintptr_t at);
  void unwatch(AddressRange piece) noexcept;
  void run() noexcept;
  void read_events() noexcept;
  void note(AddressRange gone) noexcept;

  // Constant after construction.
  const std::uintptr_t page_;
  const Descriptor events_;
  const Descriptor stop_;
  // The caller's.
  Pieces pieces_;
  std::array<AddressRange, kNoted> collected_{};
  // mutex_'s. The reading of an event and its note are one step under it: who comes back from the
  // call that caused the event finds the note. Nothing that may unmap memory happens under it.
  std::mutex mutex_;
  std::array<AddressRange, kNoted> noted_{};
  std::size_t noted_count_ = 0;
  std::thread reader_;
};

}  // namespace rdma
