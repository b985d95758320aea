// What requests and replies are checked for, and where their calls may not wait.

#include "am/core/request.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <string>

#include "am/core/dispatch.h"
#include "am/core/endpoint.h"
#include "am/core/far/far.h"
#include "am/core/untyped.h"
#include "am/route/router.h"
#include "am/types/shared_words.h"

namespace am {

void check_medium(const Bundle& bundle, std::span<const std::byte> payload, Call call) {
  if (payload.size() > max_medium()) [[unlikely]] {
    bundle.refuse(call, std::to_string(payload.size()) +
                            " bytes are too many for a medium message, which takes at most " +
                            std::to_string(max_medium()) + "; send them as a long one");
  }
}

void Request::place_long(HandlerIndex handler, Shape shape, std::uint64_t offset,
                         std::span<const std::byte> payload, bool* released) {
  EndpointParts& self = endpoint().parts();
  const LongRequest message{handler, shape, offset, payload.size()};
  if (delivery_->from.segment == nullptr) {
    return FarEndpoint::place_reply(*delivery_, message, payload, released);
  }
  shmem::Slot& slot = *delivery_->room.slot;
  const auto [inbox, lane, number] = self.incoming.mailbox().position_of(slot);
  Correspondent& from = self.incoming.sender(inbox);
  if (from.reply_offsets.empty()) from.reply_offsets.resize(shmem::kLanes);
  from.reply_offsets[lane][number] = offset;
  am::place_long(*self.bundle, delivery_->room, slot.reply,
                 from.admission->judge_reply(message, lane, number), from.segment, offset, payload);
  if (packet::placement(slot.reply).staged) {
    from.staged_reply[lane] = slot.request.head.load(std::memory_order_relaxed);
  }
  if (released != nullptr) release(*released);
}

void EndpointParts::refuse_in_handler(std::uint32_t to, Call call) const {
  if (prepared) {
    bundle->refuse(call,
                   "a payload of this endpoint is prepared, whose room a request (here "
                   "to translation " +
                       std::to_string(to) + ") may take; commit it first, or drop it");
  }
  if (!bundle->in_handler()) return;
  bundle->refuse(call, "a handler may not send requests (here to translation " +
                           std::to_string(to) +
                           "): waiting for its credit could deadlock, and "
                           "its slot may be the one that is being handled; let the handler reply, "
                           "or note the work and send it after poll()");
}

void EndpointParts::refuse_waiting(std::uint32_t to, Call call) const {
  refuse_in_handler(to, call);
  if (!Bundle::handling()) return;
  bundle->refuse(call, "a handler or callback may not wait, here for credit of translation " +
                           std::to_string(to) + "; use try_request");
}

void EndpointParts::wait_until(std::uint32_t to, Call call, const char* needs,
                               FunctionRef<bool()> condition) {
  wait_in_bundle(condition, [&] { return reason(to, call, needs); });
}

void EndpointParts::wait_in_bundle(FunctionRef<bool()> condition, FunctionRef<Reason()> explain) {
  const CallGuard guard(threads);
  bool done = false;
  do {
    Bundle* const in = bundle.get();  // while it is in that one
    const auto ends = [&] {
      done = condition();
      return done || bundle.get() != in;
    };
    in->wait_with_siblings(ends, explain);
  } while (!done);
}

void EndpointParts::wait_for_credit_of(std::uint32_t to, Call call, FunctionRef<bool()> attempt) {
  refuse_waiting(to, call);
  {
    const EndpointLock lock(*this);
    ++stats.credit_stalls;
  }
  {  // The credit may be there, and is not waited for with the pauses that an answer takes.
    const CallGuard guard(threads);
    bundle->poll_spinning();
    bundle->poll_siblings();
    if (attempt()) return;
  }
  wait_until(to, call, kNeedsCredit, attempt);
}

Reason EndpointParts::reason(std::uint32_t to, Call call, const char* needs) const noexcept {
  const EndpointLock lock(*this);
  const bool known = to < translations.size();
  return {.call = call, .needs = needs, .peer = known ? translations.entry(to).name.rank : kNobody};
}

bool EndpointParts::is_far(std::uint32_t to) const noexcept {
  if (far == nullptr) return false;
  const EndpointLock lock(*this);
  return to < translations.size() && translations.is_used(to) &&
         !bundle->router().is_near(translations.entry(to).name.rank);
}

std::uint32_t Endpoint::in_flight(To index, Kind kind) const {
  const std::uint32_t to = index.value;
  const EndpointLock lock(parts_);
  parts_.translations.checked(to, {"Endpoint::in_flight", index.where});
  if (parts_.outgoing.box_at(to) != nullptr) return parts_.outgoing.in_flight(to, kind);
  return parts_.far ? parts_.far->in_flight(to, kind) : 0;
}

// Reads of another endpoint's segment: a medium request to handler 0, which no program has, and a
// long reply to a handler of the reader.

namespace {

// The payload of the request.
struct Record {
  std::uint64_t source;
  std::uint64_t offset;
  std::uint64_t bytes;
  std::uint32_t handler;
  std::uint32_t words;
  std::array<std::uint32_t, packet::kMaxWords> arguments;
};

bool read(std::span<const std::byte> payload, Record& record) {
  if (payload.size() != sizeof record) return false;
  std::memcpy(&record, payload.data(), sizeof record);
  return record.handler > 0 && record.handler < kHandlers && record.words <= packet::kMaxWords;
}

Record record_of(const UntypedGet& get) {
  Record record{get.source,
                get.offset,
                get.bytes,
                get.handler,
                static_cast<std::uint32_t>(get.arguments.size()),
                {}};
  std::ranges::copy(get.arguments, record.arguments.begin());
  return record;
}

// `record` outlives it.
UntypedRequest request_for(const Record& record) {
  return {.kind = Kind::kMedium, .payload = std::as_bytes(std::span(&record, 1))};
}

}  // namespace

void Endpoint::check(const UntypedGet& get, Call call) const {
  check_untyped(bundle(), call, "a get", get.handler, get.arguments.size());
  Status fits = check_place(segment(), get.offset, get.bytes);
  if (!parts_.handlers.has(get.handler)) fits = Status::kBadHandler;
  if (fits == Status::kDelivered) return;
  bundle().refuse(call, "what is asked for has no place here: " + std::string(describe(fits)));
}

void Endpoint::get_index(To to, const UntypedGet& get) {
  const Call call("get_index", to.where);
  check(get, call);
  parts_.refuse_waiting(to.value, call);
  const Record record = record_of(get);
  send_index(to.value, call, request_for(record));
}

bool Endpoint::try_get_index(To to, const UntypedGet& get) {
  const Call call("try_get_index", to.where);
  check(get, call);
  parts_.refuse_in_handler(to.value, call);
  const Record record = record_of(get);
  return try_send_index(to.value, call, request_for(record));
}

// A reply that finds no memory must not be lost: the request comes back then.
Status serve_get(EndpointParts& parts, Delivery& delivery) try {
  Record record;
  if (!read(delivery.payload, record)) return Status::kBadHandler;
  const std::span<std::byte> segment = parts.admission.segment;
  const Status status = check_place(segment, record.source, record.bytes);
  if (status != Status::kDelivered) return status;
  UntypedMessage(delivery, 0, kGetShape)
      .reply_index_long(static_cast<HandlerIndex>(record.handler), record.offset,
                        bytes_at(segment, record.source, record.bytes),
                        std::span(record.arguments).first(record.words));
  ++parts.stats[Kind::kMedium].received(Role::kRequest);
  return Status::kDelivered;
} catch (const std::exception&) {
  return Status::kCongestion;
}

// What it was to the program.
void show_as_get(Returned& returned) noexcept {
  static thread_local Record record;
  const bool is_get = returned.handler == 0 && returned.role == Role::kRequest &&
                      returned.kind == Kind::kMedium && read(returned.payload, record);
  if (!is_get) return;
  returned.get = true;
  returned.kind = Kind::kLong;
  returned.handler = static_cast<HandlerIndex>(record.handler);
  returned.arguments = std::as_bytes(std::span(record.arguments).first(record.words));
  returned.payload = {};
  returned.segment_offset = record.source;
  returned.segment_bytes = record.bytes;
}

}  // namespace am
