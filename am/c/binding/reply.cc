// Replies, in handlers.

#include <utility>

#include "am/c/binding/errors.h"
#include "am/c/binding/handles.h"
#include "am/c/binding/message_check.h"
#include "am/c/binding/token.h"

namespace am::c {
namespace {

[[gnu::cold]] int refuse(const char* call, void* token, Token* found, const Outgoing& given) {
  if (found == nullptr) return fail_no_token(call, token);
  if (found->message().role() != Role::kRequest) {
    return fail(AM_ERR_BAD_ARG, call, "only a request can be answered, and this is none");
  }
  if (found->replied) return fail(AM_ERR_IN_USE, call, "this request has been answered already");
  return check_message(call, given);
}

void send(UntypedMessage&& request, HandlerIndex handler, std::uint64_t offset,
          const Outgoing& given) {
  switch (given.kind) {
    case Kind::kShort: return std::move(request).reply_index(handler, given.words());
    case Kind::kMedium:
      return std::move(request).reply_index_medium(handler, given.payload(), given.words());
    case Kind::kLong:
      return std::move(request).reply_index_long(handler, offset, given.payload(), given.words());
  }
}

[[gnu::always_inline]] inline int reply(const char* call, void* token, const Outgoing& given,
                                        std::uint64_t offset) noexcept {
  Token* const found = Token::find(token);
  if (found == nullptr || found->replied || found->message().role() != Role::kRequest ||
      !is_valid(given)) [[unlikely]] {
    return refuse(call, token, found, given);
  }
  return guarded(call, [&] {
    EndpointState& from = state_of(found->message().endpoint());
    send(std::move(found->message()), static_cast<HandlerIndex>(given.handler), offset, given);
    found->replied = true;
    from.reply_bytes[static_cast<int>(given.kind)].add(given.bytes(), from.parallel);
  });
}

}  // namespace
}  // namespace am::c

using am::Kind;
using am::c::Outgoing;

int AM_ReplyArgs(void* token, handler_t handler, int numargs, const int32_t* args) {
  return am::c::reply("AM_Reply", token, Outgoing{Kind::kShort, handler, numargs, args, nullptr, 0},
                      0);
}

int AM_ReplyIArgs(void* token, handler_t handler, const void* source, size_t nbytes, int numargs,
                  const int32_t* args) {
  return am::c::reply("AM_ReplyI", token,
                      Outgoing{Kind::kMedium, handler, numargs, args, source, nbytes}, 0);
}

int AM_ReplyXferArgs(void* token, uintptr_t dest_offset, handler_t handler, const void* source,
                     size_t nbytes, int numargs, const int32_t* args) {
  return am::c::reply("AM_ReplyXfer", token,
                      Outgoing{Kind::kLong, handler, numargs, args, source, nbytes}, dest_offset);
}
