#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "am/observe/event.h"
#include "am/observe/observers.h"
#include "am/types/clock.h"
#include "am/types/of_thread.h"

namespace am {

// What an event is called: a call of the program, or a function that runs for messages. Text is
// static.
struct TraceSource {
  Call call;
  const void* function = nullptr;  // instead of a call: Handler<...>::invoke, or the like

  bool operator==(const TraceSource& other) const noexcept {
    return function == other.function && call.name == other.call.name &&
           call.where.bits() == other.call.where.bits();
  }
};

// The events of this process, in memory of a fixed size: when that is full, later events are
// counted and dropped, and the earlier ones stay.
//
// Threads. record() and name_of() any, without a lock but for a name that the thread has
// not used lately. It begins and ends, and is read, while no other thread is inside.
//
// Cost. A load and a test while there is none; else some 10 ns an event, and the clock. Memory that
// no event needs is not touched.
class Trace {
 public:
  static constexpr std::size_t kChunk = 512;  // events that a thread takes at a time
  static constexpr std::uint64_t kLeastBytes = 2 * kChunk * sizeof(TraceEvent);
  static constexpr TraceName kOthers = 0;  // of what is named after 65,535 others

  // Records from now on, at most that many bytes, at least kLeastBytes. One at a time. Throws
  // std::bad_alloc.
  explicit Trace(std::uint64_t bytes);
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  // Nothing is recorded from now on.
  void stop() noexcept;

  // An event that ends at `end`: a moment, if that is `begin`. `name`: of name_of(), or 0.
  void record(TraceKind kind, TraceName name, std::uint64_t begin, std::uint64_t end,
              const TraceDetails& details) noexcept {
    Writer& writer = this->writer();
    finish_late(writer);
    write(writer, kind, name, begin, end, details);
  }

  // A handler that has run in a poll, and the flow of its reply, 0 if there is none. It is written
  // with the next event of the thread, or when the poll ends: by then the reply has left, which
  // would wait for it.
  struct RunHandler {
    TraceKind kind = TraceKind::kNothing;
    TraceName name = 0;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    TraceDetails details = {};
    TraceFlow reply = 0;
  };
  void record_late(const RunHandler& handler) noexcept {
    Writer& writer = this->writer();
    if (writer.serial != serial_) [[unlikely]]
      begin_thread(writer);
    finish_late(writer);
    writer.late = handler;
  }
  void record(const RunHandler& handler) noexcept {
    record_late(handler);
    write_late(writer());
  }

  TraceName name_of(const TraceSource& source) noexcept;
  TraceName name_of(const Call& call) noexcept { return name_of({call, nullptr}); }
  template <class Result, class... Args>
  TraceName name_of(Result (*function)(Args...)) noexcept {
    return name_of({{}, reinterpret_cast<const void*>(function)});
  }

  // --- A poll, by the calling thread: it ends, and has run handlers since the first of these. If
  // they were several, it is an event. (It is said to end with the last one in it, which spares a
  // reading of the clock.)
  static void handler_begins(std::uint64_t begin) noexcept {
    Writer& writer = Trace::writer();
    if (writer.handled++ == 0) writer.poll_begin = begin;
  }
  void poll_ends() noexcept;
  // An exception has left the poll, which is no event then, and what is late in it is written.
  void poll_throws() noexcept {
    finish_late(writer());
    forget_poll();
  }
  // The poll is no event.
  static void forget_poll() noexcept {
    writer().handled = 0;
    writer().polled = false;
  }
  // The end of a wait since `begin` that ends now, after the last poll if that ran handlers.
  static std::uint64_t end_of_wait(std::uint64_t begin) noexcept {
    const Writer& writer = Trace::writer();
    return writer.polled && writer.last_end >= begin ? writer.last_end : ticks();
  }

  // --- When it has stopped.
  // Calls visit(thread, event) for all events, those of one thread in the order of their ends.
  // Threads are numbered from 0.
  template <class Visit>
  void for_each(Visit&& visit) {
    for (std::size_t chunk = 0; chunk < used_chunks(); ++chunk) {
      TraceEvent* const first = &events_[chunk * kChunk];
      for (TraceEvent* event = first; event != first + kChunk; ++event) {
        if (event->what() != TraceKind::kNothing) visit(threads_of_[chunk], *event);
      }
    }
  }
  std::uint32_t threads() const noexcept { return threads_.load(std::memory_order_relaxed); }
  std::uint64_t dropped() const noexcept { return dropped_.load(std::memory_order_relaxed); }
  std::uint64_t bytes() const noexcept { return chunks_ * kChunk * sizeof(TraceEvent); }
  std::vector<TraceSource> sources() const;  // by name

 private:
  static constexpr std::size_t kCached = 64;  // names

  struct Cached {
    TraceSource source;
    TraceName name = 0;
  };
  // One a thread.
  struct Writer {
    std::uint64_t serial = 0;  // of the trace that the rest is of; 0: none
    TraceEvent* next = nullptr;
    TraceEvent* end = nullptr;
    std::uint32_t thread = 0;
    std::uint32_t handled = 0;  // handlers, in this poll
    std::uint64_t poll_begin = 0;
    std::uint64_t last_end = 0;  // of the event that was recorded last
    bool polled = false;         // the last poll ran handlers
    RunHandler late;             // kNothing: none
    Cached cached[kCached];
  };
  struct Unmap {
    void operator()(TraceEvent* events) const noexcept;
    std::size_t bytes = 0;
  };
  struct Hash {
    std::size_t operator()(const TraceSource& source) const noexcept;
  };

  static constexpr std::size_t kAhead = 8;  // events, whose lines are fetched before they are used

  static Writer& writer() noexcept { return OfThread<Writer>::get(); }
  [[gnu::always_inline]] void write(Writer& writer, TraceKind kind, TraceName name,
                                    std::uint64_t begin, std::uint64_t end,
                                    const TraceDetails& details) noexcept {
    writer.last_end = end;
    if (writer.serial != serial_ || writer.next == writer.end) [[unlikely]] {
      if (!refill(writer)) return;
      writer.last_end = end;
    }
    const auto words = trace_words(kind, name, begin, end, details);
    std::memcpy(static_cast<void*>(writer.next++), words.data(), sizeof words);
    __builtin_prefetch(writer.next + kAhead, 1);
  }
  // Writes what is late, if anything is.
  void finish_late(Writer& writer) noexcept {
    if (writer.late.kind != TraceKind::kNothing) write_late(writer);
  }
  void write_late(Writer& writer) noexcept;
  void begin_thread(Writer& writer) noexcept;
  bool refill(Writer& writer) noexcept;
  TraceName add(const TraceSource& source) noexcept;
  std::size_t used_chunks() const noexcept;

  // Constant after construction.
  const std::uint64_t serial_;
  const std::size_t chunks_;
  std::unique_ptr<TraceEvent[], Unmap> events_;
  // Each owned by the thread that took that chunk.
  std::vector<std::uint32_t> threads_of_;

  std::atomic<std::size_t> next_chunk_ = 0;
  std::atomic<std::uint32_t> threads_ = 0;
  std::atomic<std::uint64_t> dropped_ = 0;
  mutable std::mutex mutex_;  // guards the rest
  std::unordered_map<TraceSource, TraceName, Hash> names_;
};

// A clock reading that no load before it has overtaken: for what a message has brought about, so
// that it is not before its cause. ticks() is for what comes before a store.
inline std::uint64_t ticks_after_loads() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_lfence();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
  return ticks();
}

// A call of the program, or a function that is called back, from now until record().
class TracedCall {
 public:
  explicit TracedCall(Trace& trace, std::uint64_t begin = ticks()) noexcept
      : trace_(trace), begin_(begin) {}
  // It has ended.
  void record(TraceKind kind, TraceName name, const TraceDetails& details) const noexcept {
    trace_.record(kind, name, begin_, ticks(), details);
  }

 private:
  Trace& trace_;
  const std::uint64_t begin_;
};

}  // namespace am
