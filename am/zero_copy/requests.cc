#include "am/zero_copy/requests.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <utility>

#include "am/zero_copy/engine.h"

namespace am {
namespace zero_copy {
namespace {

constexpr std::size_t kMostWords = Announcement::kMostWords;

// What the payloads of one request have in common at one of its ends.
struct Joint {
  std::size_t left = 0;   // payloads that are not finished
  std::size_t bytes = 0;  // of those that are
  End end = {};           // whose callback runs behind the last
  std::vector<std::byte> message = {};
};

// The callback of each of them.
SharedCallback join(std::shared_ptr<Joint> joint) {
  return share([joint = std::move(joint)](const ZeroCopyDone& part) {
    joint->bytes += part.bytes;
    if (--joint->left != 0 || joint->end.callback == nullptr) return;
    (*joint->end.callback)({joint->end.buffer, joint->bytes, part.peer, part.source});
  });
}

}  // namespace

Requests::Requests(Engine& engine, Slots& slots) noexcept
    : engine_(engine), slots_(slots), me_(engine.bundle().router().rank()) {}

Bundle& Requests::bundle() const noexcept { return engine_.bundle(); }

HandlerIndex Requests::index_of(void (*invoke)(ZeroCopyRequest&, const std::byte*)) const {
  const auto found = std::find_if(handlers_.begin(), handlers_.end(),
                                  [&](const auto& entry) { return entry.invoke == invoke; });
  if (found == handlers_.end()) {
    bundle().refuse(
        "request_zero_copy",
        "this handler is not known; call ZeroCopy::add_handlers with it first, in every process");
  }
  return static_cast<HandlerIndex>(found - handlers_.begin());
}

HandlerIndex Requests::add_untyped_handler(const ZeroCopy::HandlerEntry& entry) {
  constexpr std::size_t kMost = 255;
  if (handlers_.size() == kMost) {
    bundle().refuse("ZeroCopy::add_untyped_handler",
                    "there are " + std::to_string(kMost) + " handlers already");
  }
  handlers_.push_back(entry);
  return static_cast<HandlerIndex>(handlers_.size() - 1);
}

void Requests::check_untyped(HandlerIndex handler, std::size_t words) const {
  if (handler >= handlers_.size() || handlers_[handler].untyped == nullptr) {
    bundle().refuse("request_untyped", "handler " + std::to_string(handler) +
                                           " is not known; add it first, in every process");
  }
  if (words > kMostWords) {
    bundle().refuse("request_untyped", std::to_string(words) + " arguments are too many; pass " +
                                           std::to_string(kMostWords) + " at most");
  }
}

// Whether this process has the handler that a message of another names.
bool Requests::takes(const Announcement& announcement) const noexcept {
  if (announcement.handler >= handlers_.size()) return false;
  const ZeroCopy::HandlerEntry& entry = handlers_[announcement.handler];
  return entry.untyped != nullptr ? announcement.words <= kMostWords
                                  : announcement.words == entry.words;
}

// A slot of its own, so that each is taken, and free again, by itself.
const ZeroCopyInfo& Requests::open_payload(std::span<const std::byte> payload, SharedCallback done,
                                           std::size_t receivers) {
  const std::uint32_t number = slots_.open();
  slots_.renew(number, {const_cast<std::byte*>(payload.data()), payload.size()},
               ZeroCopyMode::kUnreg);
  slots_.publish(number);
  Slot& slot = slots_[number];
  slot.callback = std::move(done);
  slots_.open_request(slot, receivers);
  return slot.info;
}

void Requests::check_announcement(std::span<const Rank> to, std::size_t payloads) const {
  const std::uint32_t size = bundle().router().size();
  for (const Rank rank : to) {
    if (rank < size) continue;
    bundle().refuse("request_zero_copy", "there is no rank " + std::to_string(rank) +
                                             ": the job has " + std::to_string(size) +
                                             " processes");
  }
  if (payloads > PartsAlong::kMostParts) {
    bundle().refuse("request_zero_copy",
                    std::to_string(payloads) +
                        " payloads are too many for one request; send at most " +
                        std::to_string(PartsAlong::kMostParts));
  }
  if (!slots_.has_room(payloads)) {
    bundle().refuse("request_zero_copy", "too many payloads are under way");
  }
}

void Requests::announce(std::span<const Rank> to, ZeroCopy::Payloads payloads,
                        ZeroCopyCallback done, Announcement announcement) {
  static constexpr std::span<const std::byte> kNothing;
  if (payloads.empty() || to.empty()) payloads = std::span(&kNothing, 1);
  check_announcement(to, payloads.size());
  if (payloads.size() > 1) return announce_several(to, payloads, std::move(done), announcement);
  const ZeroCopyInfo& info = open_payload(payloads.front(), share(std::move(done)), to.size());
  announcement.slot = info.slot;
  announcement.generation = info.generation;
  announcement.address = info.address;
  announcement.bytes = info.bytes;
  announcement.along = info.bytes <= max_medium();
  const End end{info, nullptr};
  for (const Rank rank : to) engine_.announce(rank, end, announcement);
  if (to.empty()) slots_.finish(slots_.begin(slots_[info.slot]), 0, me_, true);
}

// The message is the joint's, which lives until all payloads have been taken, after it has arrived.
void Requests::announce_several(std::span<const Rank> to, ZeroCopy::Payloads payloads,
                                ZeroCopyCallback done, Announcement announcement) {
  const auto joint =
      std::make_shared<Joint>(Joint{.left = payloads.size(), .end = {{}, share(std::move(done))}});
  const SharedCallback part_done = join(joint);
  std::vector<std::byte>& message = joint->message;
  message.resize(payloads.size() * sizeof(Part));
  PartsAlong along(payloads.size());
  for (std::size_t i = 0; i < payloads.size(); ++i) {
    const ZeroCopyInfo& info = open_payload(payloads[i], part_done, to.size());
    if (i == 0) joint->end.buffer = info;
    const Part part{info.slot, info.generation, info.address, info.bytes};
    std::memcpy(&message[i * sizeof part], &part, sizeof part);
    if (along.take(info.bytes)) {
      message.insert(message.end(), payloads[i].begin(), payloads[i].end());
    }
  }
  announcement.parts = static_cast<std::uint8_t>(payloads.size());
  announcement.along = true;
  announcement.bytes = message.size();
  const End end = posted_end(message, nullptr, 0);
  for (const Rank rank : to) engine_.announce(rank, end, announcement);
}

// Takes the Parts of a request from the beginning of `bytes`, which has arrived with it.
std::vector<ZeroCopyInfo> Requests::read_parts(Rank from, std::span<const std::byte>& bytes,
                                               std::size_t count) const {
  std::vector<ZeroCopyInfo> sources(count);
  std::size_t along_bytes = 0;
  const bool fits = count <= PartsAlong::kMostParts && count * sizeof(Part) <= bytes.size();
  PartsAlong along(fits ? count : 0);
  for (std::size_t i = 0; fits && i < count; ++i) {
    Part part;
    std::memcpy(&part, &bytes[i * sizeof part], sizeof part);
    sources[i] = {.rank = from,
                  .slot = part.slot,
                  .generation = part.generation,
                  .mode = ZeroCopyMode::kUnreg,
                  .address = part.address,
                  .bytes = part.bytes};
    if (along.take(part.bytes)) along_bytes += part.bytes;
  }
  if (!fits || bytes.size() - count * sizeof(Part) != along_bytes) {
    engine_.refuse_message(from, "announces " + std::to_string(count) + " payloads, and has " +
                                     std::to_string(bytes.size()) + " bytes");
  }
  bytes = bytes.subspan(count * sizeof(Part));
  return sources;
}

void Requests::take(Rank from, std::span<const std::byte> bytes, const Announcement& announcement) {
  if (!takes(announcement)) {
    bundle().refuse(
        "poll", "a zero-copy request of rank " + std::to_string(from) +
                    " is for a handler that is not known here; call ZeroCopy::add_handlers with "
                    "the same functions, in the same order, in every process");
  }
  const bool along = announcement.bytes <= max_medium();
  if (announcement.along != along || bytes.size() != (along ? announcement.bytes : 0)) {
    engine_.refuse_message(from, "announces " + std::to_string(announcement.bytes) +
                                     " bytes, and has " + std::to_string(bytes.size()));
  }
  std::vector<ZeroCopyInfo> sources(1, {.rank = from,
                                        .slot = announcement.slot,
                                        .generation = announcement.generation,
                                        .mode = ZeroCopyMode::kUnreg,
                                        .address = announcement.address,
                                        .bytes = announcement.bytes});
  if (announcement.parts != 0) sources = read_parts(from, bytes, announcement.parts);
  ZeroCopyRequest request(*this, sources, bytes);
  const Finally drop_untaken([&] {
    if (request.taken()) return;
    for (const ZeroCopyInfo& source : sources) drop(source);
  });
  const ZeroCopy::HandlerEntry handler = handlers_[announcement.handler];
  if (handler.untyped == nullptr) return handler.invoke(request, announcement.arguments);
  std::uint32_t words[kMostWords];
  std::memcpy(words, announcement.arguments, sizeof words);
  handler.untyped(request, std::span(words).first(announcement.words), handler.context);
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

void Requests::drop(const ZeroCopyInfo& source) {
  engine_.send_later(source.rank,
                     {.verb = Verb::kMoved, .slot = source.slot, .generation = source.generation});
}

// Moves the payload of a request into the memory that it was given. What throws has begun nothing,
// and then neither end has anything to wait for.
void Requests::accept_one(const ZeroCopyInfo& source, std::span<const std::byte> along,
                          const End& end) {
  const std::size_t bytes = std::min<std::size_t>(source.bytes, end.buffer.bytes);
  if (bytes > along.size()) {
    try {
      return engine_.transfer(false, end, source, bytes, "ZeroCopyRequest::receive");
    } catch (...) {
      drop(source);
      slots_.finish(end, 0, source.rank, false);
      throw;
    }
  }
  if (bytes != 0) std::memcpy(end.memory().data(), along.data(), bytes);
  engine_.send(
      source.rank,
      {.verb = Verb::kMoved, .slot = source.slot, .generation = source.generation, .bytes = bytes});
  slots_.finish(end, bytes, source.rank, false);
}

// Several lie there one behind the other.
void Requests::accept(std::span<const ZeroCopyInfo> sources, std::span<const std::byte> along,
                      const End& end) {
  if (sources.size() == 1) return accept_one(sources.front(), along, end);
  std::vector<std::span<std::byte>> memory;
  std::span<std::byte> rest = end.memory();
  for (const ZeroCopyInfo& source : sources) {
    memory.push_back(rest.first(std::min<std::size_t>(source.bytes, rest.size())));
    rest = rest.subspan(memory.back().size());
  }
  accept_each(sources, along, memory, end);
}

// Payloads behind one that cannot be moved are not lost with it.
void Requests::accept_each(std::span<const ZeroCopyInfo> sources, std::span<const std::byte> along,
                           std::span<const std::span<std::byte>> memory, const End& end) {
  SharedCallback done = end.callback;
  if (sources.size() > 1 && done != nullptr) {
    done = join(std::make_shared<Joint>(Joint{.left = sources.size(), .end = end}));
  }
  PartsAlong fits(sources.size());
  std::exception_ptr thrown;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const bool is_here = sources.size() == 1 || fits.take(sources[i].bytes);
    const auto here = along.first(is_here ? std::min(along.size(), sources[i].bytes) : 0);
    along = along.subspan(here.size());
    End part = posted_end(i < memory.size() ? memory[i] : std::span<std::byte>(), nullptr,
                          end.buffer.reference);
    part.callback = done;
    try {
      accept_one(sources[i], here, part);
    } catch (...) {
      if (!thrown) thrown = std::current_exception();
    }
  }
  if (thrown) std::rethrow_exception(thrown);
}

void Requests::post(std::uint64_t tag, const End& end, Call call) {
  if (by_tag_.awaits_request(tag)) {
    bundle().refuse(call, "memory is posted under tag " + std::to_string(tag) +
                              " already, and no request has taken it; use another tag");
  }
  if (const auto request = by_tag_.post(tag, end)) accept(request->sources, request->along, end);
}

void Requests::match(std::uint64_t tag, std::span<const ZeroCopyInfo> sources,
                     std::span<const std::byte> along) {
  if (const auto end = by_tag_.match(tag, sources, along)) accept(sources, along, *end);
}

}  // namespace zero_copy

void ZeroCopyRequest::take(Call call) {
  if (taken_) {
    requests_.bundle().refuse(
        call, "this request has its memory already; it takes one receive() or match()");
  }
  taken_ = true;
}

void ZeroCopyRequest::receive(std::span<std::byte> memory, ZeroCopyCallback done,
                              std::uint64_t reference, Here where) {
  take({"ZeroCopyRequest::receive", where});
  requests_.accept(sources_, along_, requests_.posted_end(memory, std::move(done), reference));
}

void ZeroCopyRequest::receive(std::span<const std::span<std::byte>> memory, ZeroCopyCallback done,
                              std::uint64_t reference, Here where) {
  take({"ZeroCopyRequest::receive", where});
  const auto first = memory.empty() ? std::span<std::byte>() : memory.front();
  requests_.accept_each(sources_, along_, memory,
                        requests_.posted_end(first, std::move(done), reference));
}

std::size_t ZeroCopyRequest::bytes() const noexcept {
  std::size_t sum = 0;
  for (const ZeroCopyInfo& source : sources_) sum += source.bytes;
  return sum;
}

void ZeroCopyRequest::match(std::uint64_t tag, Here where) {
  const Call call("ZeroCopyRequest::match", where);
  if (requests_.awaits(tag)) {
    requests_.bundle().refuse(
        call, "a request waits under tag " + std::to_string(tag) + " already; use another tag");
  }
  take(call);
  requests_.match(tag, sources_, along_);
}

}  // namespace am
