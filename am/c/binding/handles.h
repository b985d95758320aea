// The handles that C programs hold of bundles and endpoints, and what is behind them.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "am/c/am2.h"
#include "am/c/types.h"
#include "am/core/bundle.h"
#include "am/core/endpoint.h"
#include "am/types/types.h"

namespace am::c {

class OwnQueue;
struct EndpointState;

// What the calls of the C binding return: a code, with a sentence that is kept for the caller. No
// exception leaves this room: every call that may throw runs inside guarded().

// Keeps "rank 1: CALL: WHAT" for AM_ErrorSentence(), prints it if errors are to be printed, and
// returns `code`. Any thread.
[[gnu::cold]] int fail(int code, const char* call, std::string_view what) noexcept;

// Ends the call that runs inside guarded(), which then fails with this. The checks of this room and
// those above do so. What fails often, such as a call that would have to wait, returns fail().
[[noreturn, gnu::cold]] void refuse(int code, std::string what);

// Fails by the exception that is being handled: as refuse() said; or AM_ERR_RESOURCE, with the
// sentence that the library's Errors are, or what others such as those of a handler written in C++
// say.
[[gnu::cold]] int fail_by_exception(const char* call) noexcept;

// Returns what `body()` returns, AM_OK if that is nothing; a code for what it throws.
template <class Body>
[[gnu::always_inline]] inline int guarded(const char* call, Body&& body) noexcept {
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<Body>>) {
      std::forward<Body>(body)();
      return AM_OK;
    } else {
      return std::forward<Body>(body)();
    }
  } catch (...) {
    return fail_by_exception(call);
  }
}

// A table of places that handles of C programs point to. It is never freed, so any pointer can be
// distinguished from a handle without following it.

// `Handle` has a pointer `core` to what the program names by it; nullptr: the place is free.
//
// Thread rule: any. The mutex guards the taking and freeing of places, not the use of what is in
// them.
template <class Handle, std::size_t kSize>
class Places {
 public:
  // Whether that is a place that is in use. Costs a subtraction and a load.
  bool holds(const Handle* handle) const noexcept {
    const std::uintptr_t offset =
        reinterpret_cast<std::uintptr_t>(handle) - reinterpret_cast<std::uintptr_t>(all_.data());
    return offset < sizeof all_ && offset % sizeof(Handle) == 0 && handle->core != nullptr;
  }

  // A free place becomes that of `core`; nullptr: there is none. It is the one after the place that
  // was taken last: so a place is used again late, and a handle of something that was freed is
  // recognized as long as possible.
  template <class Core>
  Handle* take(Core* core) noexcept {
    const std::lock_guard lock(mutex_);
    for (std::size_t tried = 0; tried < kSize; ++tried) {
      last_ = (last_ + 1) % kSize;
      Handle& place = all_[last_];
      if (place.core != nullptr) continue;
      used_ = std::max(used_, last_ + 1);
      place.core = core;
      return &place;
    }
    return nullptr;
  }
  void free(Handle* handle) noexcept {
    const std::lock_guard lock(mutex_);
    handle->core = nullptr;
  }

  // Calls f(handle) for each that is in use.
  template <class F>
  void for_each(F&& f) {
    for (std::size_t i = 0; i < used_; ++i) {
      if (all_[i].core != nullptr) f(&all_[i]);
    }
  }
  // Frees all places, and nothing that was in them.
  void forget() noexcept {
    for (std::size_t i = 0; i < used_; ++i) all_[i].core = nullptr;
  }

 private:
  // All zero at first, so that a large table takes neither memory nor room in the file.
  std::array<Handle, kSize> all_{};
  std::mutex mutex_;
  std::size_t last_ = 0;  // taken
  std::size_t used_ = 0;  // none from here on has ever been taken
};

}  // namespace am::c

// What eb_t points to.
struct AM_Bundle {
  am::Bundle* core = nullptr;  // nullptr: this place is free
  std::atomic<int> mask{AM_NOEVENTS};
};

// What ep_t points to: on the way of every message, so no more than this.
struct AM_Endpoint {
  am::c::EndpointState* core = nullptr;  // nullptr: this place is free
};

namespace am::c {

inline constexpr std::size_t kMaxBundles = 1024;
inline constexpr std::size_t kMaxEndpoints = 4096;

// Bytes that were sent.
class ByteCount {
 public:
  // With `parallel`, several threads may call this at the same time.
  void add(std::uint64_t bytes, bool parallel) noexcept {
    if (parallel) [[unlikely]] {
      count_.fetch_add(bytes, std::memory_order_relaxed);
    } else {
      count_.store(total() + bytes, std::memory_order_relaxed);
    }
  }
  std::uint64_t total() const noexcept { return count_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> count_{0};
};

// An endpoint, with what it has in C beside what it has in C++.
struct EndpointState : Endpoint {
  using Endpoint::Endpoint;
  ~EndpointState();

  // It is in a bundle of that kind now.
  void join(eb_t bundle);

  ep_t handle = nullptr;
  std::atomic<eb_t> bundle_handle{nullptr};
  bool parallel = false;
  ByteCount request_bytes[kKinds];
  ByteCount reply_bytes[kKinds];
  std::atomic<std::uint64_t> queued{0};  // requests without credit to this process
  std::unique_ptr<OwnQueue> queue;       // messages to this process without credit; nullptr: none
                                         // yet, of a sequential bundle
  // Each guards a step of several calls of the core. Handlers take only the first, since holders of
  // the others wait for handlers.
  std::mutex mapping;  // guards `before`, too
  std::mutex setting;  // of handlers
  std::mutex moving;
  std::atomic<int> handlers{kHandlers};                             // size of the table
  std::array<std::atomic<AM_handler_fn_t>, kHandlers> functions{};  // nullptr: not set
  // AMX_SetHandlerCallbacks(); nullptr: none.
  std::atomic<AMX_preHandlerCallback_t> before_handler{nullptr};
  std::atomic<AMX_postHandlerCallback_t> after_handler{nullptr};
  AM_stats_t before{};  // at the last reset
};

extern Places<AM_Bundle, kMaxBundles> bundles;
extern Places<AM_Endpoint, kMaxEndpoints> endpoints;

inline bool is_bundle(eb_t bundle) noexcept { return bundles.holds(bundle); }
inline bool is_endpoint(ep_t endpoint) noexcept { return endpoints.holds(endpoint); }

// These end a call by refuse(), if: nothing may be called, before AM_Init() or in a forked child;
// what a call is given as a handle of `what`, such as "bundle", is none; a handler runs, and the
// call is none that handlers may make; a pointer to where a result goes is NULL.
void check_in_use();
void check_handle(bool is_one, const void* handle, const char* what);
void check_no_handler();
void check_result(const void* result);
// What a handle of a bundle, or of an endpoint, names, once that is checked.
Bundle& core_of(eb_t bundle);
EndpointState& core_of(ep_t endpoint);
// The same core, for a call that handlers may not make.
template <class Core>
Core& outside_handlers(Core& core) {
  check_no_handler();
  return core;
}

// The three leave an answer at `result`: what find() returns, what get(core) returns of an
// endpoint, or `value`. They are whole calls of C, and return its code.
template <class Result, class Find>
int answer(const char* call, Result* result, Find&& find) noexcept {
  return guarded(call, [&] {
    check_result(result);
    *result = find();
  });
}
template <class Result, class Get>
int get(const char* call, ep_t endpoint, Result* result, Get&& get) noexcept {
  return answer(call, result, [&] { return get(core_of(endpoint)); });
}
template <class Result>
int give(const char* call, Result* result, Result value) noexcept {
  return answer(call, result, [=] { return value; });
}

// Gives `core` a place of `table`, which is of `what`, such as "bundles". Any thread.
template <class Handle, std::size_t kSize, class Core>
Handle* hold(Places<Handle, kSize>& table, std::unique_ptr<Core> core, const char* what) {
  Handle* const place = table.take(core.get());
  if (place == nullptr) {
    refuse(AM_ERR_RESOURCE, "there are " + std::to_string(kSize) + " " + what + "; free some");
  }
  static_cast<void>(core.release());
  return place;
}
// Drops what the calling thread has prepared to send from it (am/c/prepared.h).
void drop_prepared(ep_t endpoint) noexcept;
// Ends an endpoint, or a bundle and its endpoints, and frees the place. May wait for messages to
// this process itself (own_queue.h). Throws what handlers throw meanwhile; then the endpoint, or
// the bundle and some of its endpoints, are still there.
void free_endpoint(ep_t endpoint);
void free_bundle(eb_t bundle);
// All that C programs have made.
void free_all_bundles();
// `end` is called for each bundle before it ends: the rooms above end what is theirs in it. Once
// for each of them; any thread.
void before_bundle_ends(void (*end)(eb_t bundle));
// In a child that was forked (am/types/forked.h): none is in use.
void spoil_handles() noexcept;

// An endpoint in a bundle of C programs.
inline EndpointState& state_of(Endpoint& endpoint) noexcept {
  return static_cast<EndpointState&>(endpoint);
}

// Names of endpoints, from C and to C.

static_assert(sizeof(en_t) == sizeof(Name));

inline en_t to_c(const Name& name) noexcept {
  en_t bytes;
  std::memcpy(&bytes, &name, sizeof bytes);
  return bytes;
}

inline Name from_c(const en_t& bytes) noexcept {
  Name name;
  std::memcpy(&name, &bytes, sizeof name);
  return name;
}

}  // namespace am::c
