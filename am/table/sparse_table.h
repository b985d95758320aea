// am/table: tables with a place for every process of the job, which must cost little for those that
// a process never talks to. It uses shmem, and knows no other room.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

namespace am {

// Zeros that take memory only where they are written: `bytes` of address space, page by page. A
// piece too small for that to pay is ordinary memory.
class SparseMemory {
 public:
  // From so many bytes on, memory is taken page by page.
  static constexpr std::size_t kSparseFrom = std::size_t{1} << 16;

  SparseMemory() = default;
  // Of these only the first `written` bytes are ever written: the rest is no memory that the system
  // has to promise, also where it promises none beyond what it has. Throws std::bad_alloc.
  explicit SparseMemory(std::size_t bytes, std::size_t written);
  explicit SparseMemory(std::size_t bytes) : SparseMemory(bytes, bytes) {}
  SparseMemory(SparseMemory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  SparseMemory& operator=(SparseMemory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~SparseMemory();

  void* data() const noexcept { return data_; }
  std::size_t bytes() const noexcept { return bytes_; }
  // Copies the first bytes of `from`, as many as both have, without writing zeros over zeros.
  void copy(const SparseMemory& from) noexcept;

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

// An array of T, each of which is all zero bits at first. A look-up costs what it costs in an
// array. In a large table a page that is never written costs address space, and 8 bytes of page
// table if it is read.
//
// Thread rule: that of an array.
template <class T>
class SparseTable {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  SparseTable() = default;
  // Throws std::bad_alloc.
  explicit SparseTable(std::size_t size) : memory_(size * sizeof(T)) {}
  // Only the first `written` are ever written.
  SparseTable(std::size_t size, std::size_t written)
      : memory_(size * sizeof(T), written * sizeof(T)) {}

  T* data() const noexcept { return static_cast<T*>(memory_.data()); }
  std::size_t size() const noexcept { return memory_.bytes() / sizeof(T); }
  T& operator[](std::size_t index) noexcept { return data()[index]; }
  const T& operator[](std::size_t index) const noexcept { return data()[index]; }

  // Another size; what is new is zero. Throws std::bad_alloc, and nothing has changed.
  void resize(std::size_t size) {
    SparseMemory other(size * sizeof(T));
    other.copy(memory_);
    memory_ = std::move(other);
  }

 private:
  SparseMemory memory_;
};

}  // namespace am
