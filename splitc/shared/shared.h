// shared/ is variables at namespace scope of which every process has one that all can reach. It may
// use world/, pointer/ and access/; start/ gives them their memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "am/types/types.h"
#include "splitc/access/global_ref.h"
#include "splitc/pointer/global_ptr.h"
#include "splitc/world/place.h"

namespace splitc {
namespace detail {

// A variable in the list of all, which has memory while a program runs. Neither copied nor moved.
class SharedVariable {
 public:
  // Every variable begins at a multiple of so many bytes: no two share a cache line.
  static constexpr std::size_t kAlign = 64;

  // `initial`, which lives as long as this, has the `bytes` that it holds at first.
  SharedVariable(const void* initial, std::size_t bytes) noexcept;
  ~SharedVariable();
  SharedVariable(const SharedVariable&) = delete;
  SharedVariable& operator=(const SharedVariable&) = delete;

 protected:
  // This process's, and where it is in every segment; null and 0 unless a program runs.
  void* mine_ = nullptr;
  std::uint64_t offset_ = 0;

  // Throws Error: it has no memory.
  [[noreturn]] void refuse_use(Call call) const;

 private:
  friend class SharedMemory;

  const void* initial_;
  std::size_t bytes_;
  SharedVariable* next_ = nullptr;
};

// The memory of all variables that there are when a program starts. Made by start/ only; one at a
// time.
class SharedMemory {
 public:
  SharedMemory() = default;
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  // The variables have no memory any more; that goes with the segment.
  ~SharedMemory();

  // Collective if there are variables, nothing otherwise: allocates all in one spread block, and
  // gives each its initial value in this process. Others may use them after a barrier. Throws Error
  // in every process if one lacks the memory, or if they do not have the same variables.
  void allocate();
};

}  // namespace detail

// A global variable of which every process has one, at the same place of its segment: what C has
// as `static T x` in each process, and UPC as a shared array of one element each.
//
//   splitc::shared<long> hits;                     // at namespace scope; 0 at first
//   inline splitc::shared<State> state{{.level = 3}};   // in a header; in every process so at
//   first
//
//   hits.mine() += 1;                              // this process's, an ordinary long&
//   fetch_and_add(hits.on(0), 1L);                 // that of process 0
//   const long there = hits[p];                    // read, as through any global pointer
//
// Lifetime. It registers when it is constructed, which is before main() for variables at namespace
// scope. run() allocates all that are registered, with their initial values: a process may use its
// own at once, and those of others at once, too, as no process is in the program before all have
// them. At the end of run() they are gone, and their values lost; a next run() in the same process
// makes them anew. A variable constructed while a program runs, such as one in a function, has no
// memory in it.
//
// All processes have the same variables, of the same sizes, which follows from running the same
// program.
//
// Cost. mine() is a load and a test; on() computes a pointer. Each takes a multiple of 64 bytes of
// every segment. Starting a program that has any costs two barriers.
//
// T is trivially copyable; std::array is for arrays. Any thread and handlers may use it, inside
// run(). Errors. Throws Error, in every build, where it has no memory: outside run(), or if it was
// constructed in it. on() of a process that does not exist throws in checked builds.
template <class T>
class shared : private detail::SharedVariable {
  static_assert(std::is_trivially_copyable_v<T>, SPLITPHASE_PLAIN_BYTES);
  static_assert(alignof(T) <= kAlign, "segments align variables to 64 bytes");

 public:
  using value_type = T;

  // Every process's is `initial` when a program starts. The argument is copied; it need not be the
  // same in all processes.
  explicit shared(const T& initial = T()) noexcept
      : SharedVariable(&initial_, sizeof(T)), initial_(initial) {}

  // This process's, as ordinary memory, valid until run() returns.
  T& mine(am::Here where = {}) const {
    if (mine_ == nullptr) [[unlikely]]
      refuse_use({"shared::mine", where});
    return *static_cast<T*>(mine_);
  }
  // The pointer to that of process `proc`.
  global_ptr<T> on(std::uint32_t proc, am::Here where = {}) const {
    if (offset_ == 0) [[unlikely]]
      refuse_use({"shared::on", where});
    if constexpr (am::kChecked) {
      detail::check_proc(proc, {"shared::on", where});
    }
    return {proc, offset_};
  }
  // That of process `proc`, to be read or written (splitc/access/global_ref.h).
  global_ref<T> operator[](detail::Index proc) const {
    return global_ref<T>(on(static_cast<std::uint32_t>(proc.value), proc.where), 0, proc.where);
  }

 private:
  T initial_;
};

}  // namespace splitc
