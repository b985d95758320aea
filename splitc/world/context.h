#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

#include "am/core/poller.h"
#include "am/types/function.h"
#include "am/types/types.h"
#include "splitc/world/place.h"
#include "splitc/world/tickets.h"
#include "splitc/world/waiter.h"

namespace am {
class Bundle;
class Endpoint;
class RemoteMemory;
}  // namespace am

namespace splitc {
class World;
}

namespace splitc::detail {

class RpcCalls;

// What one thread has of its own in the global address space: the bundle that it polls, the
// endpoint from which its requests go and to which their answers come, and what it has started that
// is not complete. OpenSHMEM calls this a context, UPC++ a persona, LCI a device.
//
// The requests of others come to the world's endpoint. A program of one thread has one context,
// whose bundle and endpoint are those of the world.
//
// Thread rule: its thread's, but for post().
class Context {
 public:
  // That of the only thread, with the world's bundle and endpoint.
  Context(am::Bundle& bundle, am::Endpoint& endpoint, am::Owned<am::RemoteMemory> remote);
  // One of several, with its own bundle and endpoint: the latter is mapped as the world's is.
  Context(World& world, std::uint32_t number);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  // The calling thread has this context from now on; and the one that has it, if any, none any
  // more: itself, or one that is not inside the library.
  void attach() noexcept;
  void detach() noexcept;
  // From now on the calling thread acts for this context, even if another thread owns it.
  void use() noexcept;
  // Waits, polling, until all that was started from here is complete.
  void complete(Call call);

  // Lets `function` run in this context's thread, when that polls. Any thread.
  void post(am::Function<void()> function);

  // Which of the context's tickets a number is: the numbers of no two contexts are the same.
  static constexpr int kTicketBits = 24;
  static std::uint32_t number_of(std::uint32_t ticket) noexcept { return ticket >> kTicketBits; }

 private:
  friend class Contexts;
  struct Own;    // of one of several threads
  class Posted;  // what others have left here

  am::Owned<Own> own_;  // nullptr: uses the world's

 public:
  const std::uint32_t number;  // 0: of the thread that called run()
  am::Bundle& bundle;
  am::Endpoint& endpoint;
  Tickets tickets;
  am::Owned<am::RemoteMemory> remote;  // nullptr: all processes are on this node
  Tasks tasks;
  std::uint64_t outstanding = 0;
  RpcCalls* rpc_calls = nullptr;        // of the room rpc/
  am::Owned<am::Poller> own_rpc_calls;  // ... if it is this context's alone

 private:
  // What its thread has of it.
  struct Attached {
    Context** context = nullptr;  // this_context; nullptr: no thread has it
    std::uint64_t** outstanding = nullptr;
    Tasks** tasks = nullptr;
    const std::atomic<std::uint32_t>* visits = nullptr;
  };

  am::Owned<Posted> posted_;  // nullptr: a program of one thread
  Attached attached_;
};

// That of the calling thread; nullptr: it has none.
inline constinit thread_local Context* this_context = nullptr;

// A call that polls or waits, in a program of several threads. The end of the program closes the
// library to all threads but its own, and sees the calls that have begun; or such a call sees that,
// and throws Error. So none is made while a context is another thread's again, or the world ends.
class Visit {
 public:
  explicit Visit(Call call) {
    const std::uint32_t before = visits.load(std::memory_order_relaxed);
    if (before != 0) {
      visits.store(before + 1, std::memory_order_relaxed);
      return;
    }
    // pairs with: any_inside(), which looks after close()
    visits.store(1, std::memory_order_seq_cst);
    if (!is_closed()) [[likely]]
      return;
    end();
    refuse(call);
  }
  ~Visit() { end(); }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;

  // How many the calling thread makes just now, one inside the other.
  static inline constinit thread_local std::atomic<std::uint32_t> visits = 0;

  // To all threads but the calling one, until open().
  static void close() noexcept {
    // pairs with: is_closed(), which is asked after `visits` has been written
    only_.store(&visits, std::memory_order_seq_cst);
  }
  static void open() noexcept { only_.store(nullptr, std::memory_order_relaxed); }
  // To the calling thread.
  static bool is_closed() noexcept {
    // pairs with: close()
    const void* const only = only_.load(std::memory_order_seq_cst);
    return only != nullptr && only != &visits;
  }
  // Throws Error of `call`, as the library is closed to the calling thread.
  [[noreturn]] static void refuse(Call call);

 private:
  static void end() noexcept {
    // pairs with: any_inside(), after which the end of the program takes what the call has used
    visits.store(visits.load(std::memory_order_relaxed) - 1, std::memory_order_release);
  }

  static inline constinit std::atomic<const void*> only_ = nullptr;
};

// The contexts of a process, at most as many as the threads given to run(). Any thread.
class Contexts {
 public:
  Contexts(World& world, std::uint32_t threads) : world_(world), threads_(threads) {}
  ~Contexts();

  std::uint32_t threads() const noexcept { return threads_; }

  // Adds the first one, which belongs to the calling thread.
  void begin(am::Owned<Context> first);
  // Calls equip(context) for each, those that are made later included.
  void set_equip(void (*equip)(Context&));
  // Gives the calling thread one. Throws Error if all are in use.
  void join(Call call);
  // The calling thread ends, of which nothing is known but that it has called the library once.
  // What it has started is completed before.
  static void thread_ends() noexcept;
  // At the end of the program, by the first thread while no other is inside, but those that end:
  // completes what all have started. From now on no thread joins.
  void finish(Call call);
  // That with this number, which is in use or was. Throws Error if there is none.
  Context& at(std::uint32_t number, Call call);

 private:
  void take_one(Call call);
  bool any_inside() const;
  void leave_others_outside(Call call);
  bool begin_leaving() noexcept;

  World& world_;
  const std::uint32_t threads_;
  // Guards the rest, and which thread has which context. A thread may end while the world does.
  static inline std::mutex mutex_;
  std::condition_variable_any freed_;
  std::vector<am::Owned<Context>> all_;
  std::vector<Context*> free_;  // of threads that have ended
  std::uint32_t leaving_ = 0;   // threads that end just now
  void (*equip_)(Context&) = nullptr;
  bool finished_ = false;
};

// What am::RemoteMemory calls when an access of this thread is complete.
void finish_ticket(std::uint32_t ticket);

// Gives the calling thread a context; or throws Error: nothing is running, it is a forked child, or
// more threads use the library than were given to run().
[[gnu::cold]] void join_thread(Call call);
inline void check_thread(Call call) {
  if (this_context == nullptr) [[unlikely]]
    join_thread(call);
}
// Throws Error unless the first thread calls, as `what`, such as "grids", is for that one.
void check_first_thread(Call call, const char* what);
// That of the calling thread, which gets one.
inline Context& context() {
  check_thread("splitc");
  return *this_context;
}

// The thread that has made something which is for that one alone. A member of that thing.
class Maker {
 public:
  // Throws Error if the calling thread is none of the program's, in the name of `call`.
  explicit Maker(Call call) {
    check_thread(call);
    context_ = this_context;
  }
  // Throws Error unless the calling thread has made `what`, such as "a channel".
  void check(Call call, const char* what) const {
    if (this_context != context_) [[unlikely]]
      refuse_other(call, what);
  }

 private:
  [[noreturn]] void refuse_other(Call call, const char* what) const;

  const Context* context_ = nullptr;
};

// Holds `mutex` for what they share; does nothing in a program of one thread.
template <class Mutex>
[[nodiscard]] std::unique_lock<Mutex> lock_among_threads(Mutex& mutex) {
  std::unique_lock<Mutex> lock(mutex, std::defer_lock);
  if (is_threaded()) [[unlikely]]
    lock.lock();
  return lock;
}

}  // namespace splitc::detail
