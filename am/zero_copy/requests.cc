#include "am/zero_copy/requests.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "am/zero_copy/engine.h"

namespace am {
namespace zero_copy {
namespace {

SharedCallback share(ZeroCopyCallback callback) {
  if (!callback) return nullptr;
  return std::make_shared<const ZeroCopyCallback>(std::move(callback));
}

}  // namespace

Requests::Requests(Engine& engine, Slots& slots, Ends& ends) noexcept
    : engine_(engine),
      slots_(slots),
      ends_(ends),
      me_(engine.bundle().router().rank()),
      size_(engine.bundle().router().size()) {}

void Requests::refuse(const std::string& call, const std::string& what) const {
  engine_.refuse(call, what);
}

HandlerIndex Requests::index_of(void (*invoke)(ZeroCopyRequest&, const std::byte*)) const {
  const auto found = std::find_if(handlers_.begin(), handlers_.end(),
                                  [&](const auto& entry) { return entry.invoke == invoke; });
  if (found == handlers_.end()) {
    engine_.refuse(
        "request_zero_copy",
        "this handler is not known; call ZeroCopy::add_handlers with it first, in every process");
  }
  return static_cast<HandlerIndex>(found - handlers_.begin());
}

void Requests::announce(std::span<const Rank> to, std::span<const std::byte> payload,
                        ZeroCopyCallback done, Announcement announcement) {
  for (const Rank rank : to) {
    if (rank < size_) continue;
    engine_.refuse("request_zero_copy", "there is no rank " + std::to_string(rank) +
                                            ": the job has " + std::to_string(size_) +
                                            " processes");
  }
  const std::uint32_t number = slots_.open();
  if (number == kNone) engine_.refuse("request_zero_copy", "too many payloads are under way");
  Slot& slot = slots_[number];
  slots_.renew(number, {const_cast<std::byte*>(payload.data()), payload.size()},
               ZeroCopyMode::kUnreg);
  slots_.publish(number);
  slot.callback = share(std::move(done));
  ends_.open_request(slot, to.size());
  announcement.slot = number;
  announcement.generation = slot.info.generation;
  announcement.address = slot.info.address;
  announcement.bytes = payload.size();
  announcement.along = payload.size() <= max_medium();
  const End end{slot.info, nullptr};
  for (const Rank rank : to) engine_.announce(rank, end, announcement);
  if (to.empty()) ends_.finish(slots_.begin(slot), 0, me_, true);
}

void Requests::take(Rank from, std::span<const std::byte> bytes, const Announcement& announcement) {
  if (announcement.handler >= handlers_.size() ||
      handlers_[announcement.handler].words != announcement.words) {
    engine_.refuse("poll",
                   "a zero-copy request of rank " + std::to_string(from) +
                       " is for a handler that is not known here; call ZeroCopy::add_handlers with "
                       "the same functions, in the same order, in every process");
  }
  const bool along = announcement.bytes <= max_medium();
  if (announcement.along != along || bytes.size() != (along ? announcement.bytes : 0)) {
    engine_.refuse_message(from, "announces " + std::to_string(announcement.bytes) +
                                     " bytes, and has " + std::to_string(bytes.size()));
  }
  const ZeroCopyInfo source{.rank = from,
                            .slot = announcement.slot,
                            .generation = announcement.generation,
                            .mode = ZeroCopyMode::kUnreg,
                            .address = announcement.address,
                            .bytes = announcement.bytes};
  struct Dropped {
    ~Dropped() {
      if (request.taken_) return;
      engine.send_later(
          source.rank,
          {.verb = Verb::kMoved, .slot = source.slot, .generation = source.generation});
    }
    Engine& engine;
    const ZeroCopyInfo& source;
    ZeroCopyRequest& request;
  };
  ZeroCopyRequest request(*this, source, bytes);
  const Dropped unless_taken{engine_, source, request};
  handlers_[announcement.handler].invoke(request, announcement.arguments);
}

End Requests::posted_end(std::span<std::byte> memory, ZeroCopyCallback done,
                         std::uint64_t reference) {
  return {{.rank = me_,
           .slot = kNone,
           .mode = ZeroCopyMode::kUnreg,
           .address = reinterpret_cast<std::uintptr_t>(memory.data()),
           .bytes = memory.size(),
           .reference = reference},
          share(std::move(done))};
}

// Moves the payload of a request into the memory that it was given.
void Requests::accept(const ZeroCopyInfo& source, std::span<const std::byte> along,
                      const End& end) {
  const std::size_t bytes = std::min<std::size_t>(source.bytes, end.buffer.bytes);
  if (source.bytes > max_medium() && bytes != 0) {
    return engine_.transfer(false, end, source, bytes);
  }
  if (bytes != 0) std::memcpy(end.memory().data(), along.data(), bytes);
  engine_.send(
      source.rank,
      {.verb = Verb::kMoved, .slot = source.slot, .generation = source.generation, .bytes = bytes});
  ends_.finish(end, bytes, source.rank, false);
}

void Requests::post(std::uint64_t tag, const End& end) {
  if (by_tag_.awaits_request(tag)) {
    engine_.refuse("ZeroCopy::post", "memory is posted under tag " + std::to_string(tag) +
                                         " already, and no request has taken it; use another tag");
  }
  if (const auto request = by_tag_.post(tag, end)) accept(request->source, request->along, end);
}

void Requests::match(std::uint64_t tag, const ZeroCopyInfo& source,
                     std::span<const std::byte> along) {
  if (const auto end = by_tag_.match(tag, source, along)) accept(source, along, *end);
}

}  // namespace zero_copy

void ZeroCopyRequest::take(const char* call) {
  if (taken_) {
    requests_.refuse(call,
                     "this request has its memory already; it takes one receive() or match()");
  }
  taken_ = true;
}

void ZeroCopyRequest::receive(std::span<std::byte> memory, ZeroCopyCallback done,
                              std::uint64_t reference) {
  take("ZeroCopyRequest::receive");
  requests_.accept(source_, along_, requests_.posted_end(memory, std::move(done), reference));
}

void ZeroCopyRequest::match(std::uint64_t tag) {
  if (requests_.awaits(tag)) {
    requests_.refuse("ZeroCopyRequest::match", "a request waits under tag " + std::to_string(tag) +
                                                   " already; use another tag");
  }
  take("ZeroCopyRequest::match");
  requests_.match(tag, source_, along_);
}

}  // namespace am
