// What requests and replies are checked for, and where their calls may not wait.

#include "am/core/request.h"

#include <string>

#include "am/core/dispatch.h"
#include "am/core/endpoint.h"
#include "am/core/far/far.h"
#include "am/route/router.h"
#include "am/types/shared_words.h"

namespace am {

void check_medium(const Bundle& bundle, std::span<const std::byte> payload, const char* call) {
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

void EndpointParts::refuse_in_handler(std::uint32_t to, const char* call) const {
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

void EndpointParts::refuse_waiting(std::uint32_t to, const char* call) const {
  refuse_in_handler(to, call);
  if (!Bundle::handling()) return;
  bundle->refuse(call, "a handler or callback may not wait, here for credit of translation " +
                           std::to_string(to) + "; use try_request");
}

void EndpointParts::wait_until(const To& to, const char* call, const char* needs,
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

void EndpointParts::wait_for_credit_of(const To& to, const char* call,
                                       FunctionRef<bool()> attempt) {
  refuse_waiting(to.value, call);
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

Reason EndpointParts::reason(const To& to, const char* call, const char* needs) const noexcept {
  const EndpointLock lock(*this);
  const bool known = to.value < translations.size();
  return {.call = {call, to.where},
          .needs = needs,
          .peer = known ? translations.entry(to.value).name.rank : kNobody};
}

bool EndpointParts::is_far(std::uint32_t to) const noexcept {
  if (far == nullptr) return false;
  const EndpointLock lock(*this);
  return to < translations.size() && translations.is_used(to) &&
         !bundle->router().is_near(translations.entry(to).name.rank);
}

std::uint32_t Endpoint::in_flight(std::uint32_t to, Kind kind) const {
  const EndpointLock lock(parts_);
  parts_.translations.checked(to, "Endpoint::in_flight");
  if (parts_.outgoing.box_at(to) != nullptr) return parts_.outgoing.in_flight(to, kind);
  return parts_.far ? parts_.far->in_flight(to, kind) : 0;
}

}  // namespace am
