#include "am/observe/trace.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>
#include <utility>

namespace am {
namespace {

// Zeros, which take no memory until they are written.
TraceEvent* map_events(std::size_t bytes) {
  void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) throw std::bad_alloc();
  madvise(at, bytes, MADV_HUGEPAGE);  // a refusal costs a fault every 128 events
  return static_cast<TraceEvent*>(at);
}

}  // namespace

void Trace::Unmap::operator()(TraceEvent* events) const noexcept { munmap(events, bytes); }

std::size_t Trace::Hash::operator()(const TraceSource& source) const noexcept {
  const auto number = [](const void* at) { return reinterpret_cast<std::uintptr_t>(at); };
  std::uint64_t hash = number(source.function) ^ number(source.call.name) * 1'000'003 ^
                       source.call.where.bits() * 7919;
  hash *= 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 32;
}

Trace::Trace(std::uint64_t bytes)
    : serial_(detail::next_serial()),
      chunks_(std::max(bytes, kLeastBytes) / (kChunk * sizeof(TraceEvent))),
      events_(map_events(this->bytes()), Unmap{this->bytes()}),
      threads_of_(chunks_) {
  names_[{"others", nullptr}] = kOthers;
  detail::active_trace.store(this, std::memory_order_relaxed);
}

Trace::~Trace() { stop(); }

void Trace::stop() noexcept {
  if (active_trace() == this) detail::active_trace.store(nullptr, std::memory_order_relaxed);
}

void Trace::begin_thread(Writer& writer) noexcept {
  writer = {};
  writer.serial = serial_;
  writer.thread = threads_.fetch_add(1, std::memory_order_relaxed);
}

bool Trace::refill(Writer& writer) noexcept {
  if (writer.serial != serial_) begin_thread(writer);
  const std::size_t chunk = next_chunk_.fetch_add(1, std::memory_order_relaxed);
  if (chunk >= chunks_) {
    dropped_.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  threads_of_[chunk] = writer.thread;
  writer.next = &events_[chunk * kChunk];
  writer.end = writer.next + kChunk;
  return true;
}

std::size_t Trace::used_chunks() const noexcept {
  return std::min(next_chunk_.load(std::memory_order_relaxed), chunks_);
}

TraceName Trace::name_of(const TraceSource& source) noexcept {
  Writer& writer = this->writer();
  if (writer.serial != serial_) return add(source);  // the first record() clears what is cached
  Cached& cached = writer.cached[Hash()(source) % kCached];
  if (cached.name == 0 || !(cached.source == source)) cached = {source, add(source)};
  return cached.name;
}

TraceName Trace::add(const TraceSource& source) noexcept {
  constexpr std::size_t kMost = 65'536;
  const std::lock_guard lock(mutex_);
  if (const auto found = names_.find(source); found != names_.end()) return found->second;
  if (names_.size() == kMost) return kOthers;
  try {
    const auto name = static_cast<TraceName>(names_.size());
    names_.emplace(source, name);
    return name;
  } catch (const std::bad_alloc&) {
    return kOthers;
  }
}

std::vector<TraceSource> Trace::sources() const {
  const std::lock_guard lock(mutex_);
  std::vector<TraceSource> all(names_.size());
  for (const auto& [source, name] : names_) all[name] = source;
  return all;
}

void Trace::write_late(Writer& writer) noexcept {
  const RunHandler late = std::exchange(writer.late, {});
  if (writer.serial != serial_) return;  // of an earlier trace
  write(writer, late.kind, late.name, late.begin, late.end, late.details);
  if (late.reply == 0) return;
  write(writer, TraceKind::kReply, 0, late.end, late.end,
        {.flow = late.reply, .peer = late.details.peer});
}

// One handler's slice says all that the poll's would.
void Trace::poll_ends() noexcept {
  Writer& writer = this->writer();
  finish_late(writer);
  const std::uint32_t handled = std::exchange(writer.handled, 0);
  writer.polled = handled != 0;
  if (handled < 2) return;
  record(TraceKind::kPoll, 0, writer.poll_begin, writer.last_end, {.bytes = handled});
}

}  // namespace am
