#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>

#include "am/types/types.h"
#include "splitc/pointer/global_ptr.h"
#include "splitc/rpc/rpc.h"
#include "splitc/world/place.h"
#include "splitc/world/remote.h"
#include "splitc/world/segment.h"
#include "splitc/world/world.h"

// Data and a word that signals its arrival, in one call, and the wait for such a word:
//
//   put_signal(ghost_of(right), std::span(edge), arrived_at(right));           // the sender
//   wait_until(*arrived, [&](std::uint64_t n) { return n >= step; });          // the receiver
//
// A put channel is faster where the same memory is written again and again
// (splitc/channel/channel.h), and a store where bytes need only be counted (splitc/access/store.h).

namespace splitc {

namespace detail {

// In the process of both, or in one of its node.
template <class T>
void write_and_signal(T* to, std::span<const T> data, std::uint64_t& signal) {
  if (!data.empty()) std::memmove(to, data.data(), data.size_bytes());
  // pairs with: wait_until(word, condition); the data was written before
  std::atomic_ref(signal).fetch_add(1, std::memory_order_release);
}

inline void check_signal(std::uint64_t to, std::uint64_t bytes, std::uint64_t signal, Call call) {
  check_process(proc_of(to), call);
  if (proc_of(to) != proc_of(signal)) [[unlikely]] {
    refuse(call, "the data is for process " + std::to_string(proc_of(to)) +
                     " and the signal is not there; give a word of the same process");
  }
  if constexpr (am::kChecked) {
    check_pointer(proc_of(to), to & kOffsetMask, bytes, call);
    check_object(proc_of(to), signal & kOffsetMask, sizeof(std::uint64_t), sizeof(std::uint64_t),
                 call);
  }
}

}  // namespace detail

// Writes `data` to the elements at `to`, and then adds 1 to `signal`, a word of the same process: a
// process that sees the sum there sees the data. One-way: there is no reply, but quiesce()
// completes it. `data` may be reused on return.
//
// Costs: near, the copy and an atomic instruction; far, an rpc_ff() with the data as its argument.
// A thread of the program; near ones in handlers, too. Throws Error if `to` and `signal` are of two
// processes, and as put() and rpc_ff_at() do.
template <detail::writable T>
void put_signal(global_ptr<T> to, std::type_identity_t<std::span<const T>> data,
                global_ptr<std::uint64_t> signal, am::Here where = {}) {
  const detail::Call call("put_signal", where);
  detail::check_signal(to.bits(), data.size_bytes(), signal.bits(), call);
  std::byte* const base = detail::mapping_of(to.bits());
  if (base == detail::far_base()) {
    detail::check_far(to.bits(), data.size_bytes(), call);
    detail::check_in_segment(signal.bits(), sizeof(std::uint64_t), call);
    auto write = [](std::uint64_t& word, global_ptr<T> there, std::span<const T> arrived) {
      detail::write_and_signal(tolocal(there), arrived, word);
    };
    return detail::start_one_way<true>(
        signal.proc(), call,
        detail::AtObject<std::uint64_t, decltype(write)>{write, signal.offset()}, to, data);
  }
  detail::note_near(to.bits(), data.size_bytes(), call);
  const auto at = [base](std::uint64_t bits) { return detail::mapped(base, bits); };
  detail::write_and_signal(reinterpret_cast<T*>(at(to.bits())), data,
                           *reinterpret_cast<std::uint64_t*>(at(signal.bits())));
  detail::wake_owner(at(to.bits() & ~detail::kOffsetMask));
}

// Polls until condition(value of `word`) is true, and returns that value. What its writer had
// written before is visible then. `word`, of 1, 2, 4 or 8 bytes, is memory of this process or of
// one of its node, where put_signal(), a put, a channel, an atomic or a handler changes it.
//
// Where it may be called: as wait_until(condition), a thread of the program, outside handlers.
template <class T, class Condition>
requires std::is_invocable_r_v<bool, Condition&, T> T wait_until(const T& word, Condition condition,
                                                                 am::Here where = {}) {
  static_assert(std::is_integral_v<T> || std::is_enum_v<T>, "a number that is read whole");
  T value{};
  wait_until(  // tasks go on
      [&] {
        // pairs with: put_signal() and the atomics of other processes
        value = std::atomic_ref(const_cast<T&>(word)).load(std::memory_order_acquire);
        return static_cast<bool>(condition(value));
      },
      where);
  return value;
}

}  // namespace splitc
