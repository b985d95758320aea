#include "am/c/binding/without_credit.h"

#include <memory>
#include <string>

#include "am/c/binding/errors.h"
#include "am/route/router.h"

namespace am::c {
namespace {

void send(Endpoint& from, const To& to, const UntypedRequest& request) {
  from.request_index(to, request);
}
void send(Endpoint& from, const To& to, const UntypedGet& get) { from.get_index(to, get); }

template <class Message>
int send_anyhow(const char* call, EndpointState& from, std::uint32_t to, const Message& message,
                Patience patience) {
  const bool own = from.translation_name(to).rank == from.bundle().router().rank();
  if (has_queued(from) && !own && try_send(from, to, message)) return AM_OK;
  if (patience == Patience::kTries) {
    return fail(AM_ERR_NOT_SENT, call,
                "there is no credit for translation " + std::to_string(to) +
                    " now; AM_Poll() and try again");
  }
  if (!own) {
    send(from, To(to, SourceLocation()), message);
    return AM_OK;
  }
  if (!from.queue) from.queue = std::make_unique<OwnQueue>(from);
  from.queue->add(to, message);
  ++from.queued;
  return AM_OK;
}

}  // namespace

int send_slowly(const char* call, EndpointState& from, std::uint32_t to,
                const UntypedRequest& request, Patience patience) {
  return send_anyhow(call, from, to, request, patience);
}

int send_slowly(const char* call, EndpointState& from, std::uint32_t to, const UntypedGet& get,
                Patience patience) {
  return send_anyhow(call, from, to, get, patience);
}

}  // namespace am::c
