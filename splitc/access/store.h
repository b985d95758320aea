#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "am/types/source_location.h"
#include "splitc/access/access.h"
#include "splitc/world/segment.h"
#include "splitc/world/world.h"

// One-way writes that are counted where they land (Split-C's `:-`).
//
// The writer is done at once and learns nothing. The receiver waits for a number of bytes with
// store_sync(n), or all wait for everything with all_store_sync(). The count is taken after the
// bytes are there, so whoever has counted a store sees its bytes.

namespace splitc {

// Counts stores. The default counter serves all stores that name none; more of them keep phases or
// neighbours apart. Making and destroying one is collective.
//
// Thread rule: the world's thread.
class store_counter {
 public:
  store_counter();   // collective; takes 64 bytes per process from the spread heap
  ~store_counter();  // collective
  // The default counter, in the runtime's memory, which start-up makes.
  struct InWorld {};
  explicit store_counter(InWorld);
  store_counter(const store_counter&) = delete;
  store_counter& operator=(const store_counter&) = delete;

  // Waits until `bytes` more have been stored here than earlier waits consumed, and consumes them.
  // Bytes beyond that stay for the next wait.
  void wait(std::uint64_t bytes, am::SourceLocation where = am::SourceLocation::current());
  bool try_wait(std::uint64_t bytes);  // false, consuming nothing, if they are not here yet
  // Bytes that have arrived and have not been consumed.
  std::uint64_t available() const;
  // Forgets all that has arrived (Split-C's reset_store_sync). Only while no store is on its way:
  // waits that consume their bytes never need it.
  void reset();

  // Collective: waits until every store of every process on this counter has landed, consumes them,
  // and works as a barrier. Stores made after it are never consumed by it. (Handlers store nothing
  // meanwhile.)
  void wait_all(am::SourceLocation where = am::SourceLocation::current()) {
    wait_all(detail::Call("all_store_sync", where));
  }
  void wait_all(detail::Call call);  // on behalf of `call`

  // Counts `bytes` that this process has just written at the global pointer `bits`, of a process of
  // this node whose base_of() is `base`, and wakes that if it sleeps.
  void count(const std::byte* base, std::uint64_t bits, std::uint64_t bytes) noexcept {
    const std::uint64_t lines = (bits & ~detail::kOffsetMask) | offset_;
    StoreLine& line = reinterpret_cast<StoreLine*>(detail::mapped(base, lines))[my_proc()];
    // pairs with: arrived(); the bytes were written before
    line.bytes.store(line.bytes.load(std::memory_order_relaxed) + bytes, std::memory_order_release);
    detail::place.router->notify(detail::proc_of(bits));
  }

  // Sends `bytes` to another node, to be written at the global pointer `bits` and counted there.
  void store_far(std::uint64_t bits, const void* local, std::size_t bytes, detail::Call call);

  static store_counter& default_counter() noexcept { return *default_; }

 private:
  std::uint64_t line_offset() const noexcept { return offset_ + my_proc() * sizeof(StoreLine); }
  // Of a process on this node.
  StoreLine& line_at(std::uint32_t proc) const noexcept {
    return reinterpret_cast<StoreLine*>(detail::mapped(proc, offset_))[my_proc()];
  }
  const StoreLine* own_lines() const noexcept {
    return reinterpret_cast<const StoreLine*>(detail::mapped(my_proc(), offset_));
  }
  std::uint64_t arrived() const noexcept;
  std::uint64_t sent() const noexcept;
  void wait_all_near(detail::Call call);
  void wait_all_far(detail::Call call);

  static inline store_counter* default_ = nullptr;  // set while a world runs

  std::uint64_t offset_;  // of the lines in every segment
  bool in_heap_;
  std::uint64_t consumed_ = 0;  // of what has arrived
  std::uint64_t round_ = 0;     // number of wait_all calls
  std::uint64_t sent_far_ = 0;  // bytes to other nodes, where this process cannot read its lines
};

// How many targets of large stores to other nodes have repeated so often that they got a put
// channel of their own, and how many stores went by these (SPLITC_LEARN=0: none).
am::LearningStats learned_stores();

// *p :- value.
template <detail::writable T>
inline void store(global_ptr<T> p, const std::type_identity_t<T>& value,
                  store_counter& counter = store_counter::default_counter()) {
  detail::check_access(p, 0, "store");
  std::byte* const base = detail::base_of(p.bits());
  if (base == detail::far_base()) [[unlikely]] {
    const T copy = value;
    counter.store_far(p.bits(), &copy, sizeof(T), "store");
    detail::base_stays(base, p.bits());
    return;
  }
  detail::save<T>(detail::mapped(base, p.bits()), value, __ATOMIC_RELAXED);
  counter.count(base, p.bits(), sizeof(T));
}
template <detail::writable T>
inline void store(const global_ref<T>& r, const std::type_identity_t<T>& value,
                  store_counter& counter = store_counter::default_counter()) {
  store(&r, value, counter);
}

// On the default counter.
inline void store_sync(std::uint64_t bytes,
                       am::SourceLocation where = am::SourceLocation::current()) {
  store_counter::default_counter().wait(bytes, where);
}
inline void store_sync(std::uint64_t bytes, store_counter& counter,
                       am::SourceLocation where = am::SourceLocation::current()) {
  counter.wait(bytes, where);
}
inline void reset_store_sync() { store_counter::default_counter().reset(); }
// Also completes this process's gets and puts.
void all_store_sync(am::SourceLocation where = am::SourceLocation::current());

}  // namespace splitc
