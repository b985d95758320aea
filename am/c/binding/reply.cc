// Replies, in handlers.

#include <array>
#include <utility>

#include "am/c/binding/handles.h"
#include "am/c/binding/message_check.h"
#include "am/c/binding/token.h"
#include "am/core/untyped_send.h"

namespace am::c {
namespace {

// The token of the request that is handled, which can be answered.
Token& check_may_reply(void* token) {
  Token& found = token_of(token);
  if (found.message().role() != Role::kRequest) {
    refuse(AM_ERR_BAD_ARG, "only a request can be answered, and this is none");
  }
  if (!found.message().may_answer()) {
    refuse(AM_ERR_IN_USE, "this request has been answered already");
  }
  return found;
}

// Gets a copy: what another function may find by its address is in memory.
[[gnu::cold]] int fail_reply(const char* call, void* token, Outgoing given) noexcept {
  return guarded(call, [&] {
    check_may_reply(token);
    check_message(given);
  });
}

bool may_reply(Token* found) noexcept { return found != nullptr && found->message().may_answer(); }

// Inline, as the kind is known where it is called.
[[gnu::always_inline]] inline void send(UntypedMessage&& request, HandlerIndex handler,
                                        std::uint64_t offset, const Outgoing& given) {
  switch (given.kind) {
    case Kind::kShort: return request.answer(handler, Kind::kShort, given.words());
    case Kind::kMedium:
      return std::move(request).reply_index_medium(handler, given.payload(), given.words());
    case Kind::kLong:
      return std::move(request).reply_index_long(handler, offset, given.payload(), given.words());
  }
}

[[gnu::always_inline]] inline int reply(const char* call, void* token, const Outgoing& given,
                                        std::uint64_t offset) noexcept {
  Token* const found = Token::find(token);
  if (!may_reply(found) || !is_valid(given)) [[unlikely]] {
    return fail_reply(call, token, given);
  }
  return guarded(call, [&] {
    EndpointState& from = state_of(found->message().endpoint());
    send(std::move(found->message()), static_cast<HandlerIndex>(given.handler), offset, given);
    from.reply_bytes[static_cast<int>(given.kind)].add(given.bytes(), from.parallel);
  });
}

// The usual reply with few arguments: no more than it needs. False: AM_ReplyArgs() says why.
template <std::size_t kWords>
[[gnu::always_inline]] inline bool try_few(void* token, handler_t handler,
                                           const std::array<std::uint32_t, kWords>& words) {
  Token* const found = Token::find(token);
  if (!may_reply(found) || !is_handler(handler)) [[unlikely]]
    return false;
  UntypedMessage& request = found->message();
  EndpointState& from = state_of(request.endpoint());
  request.answer(static_cast<HandlerIndex>(handler), Kind::kShort, words);
  from.reply_bytes[static_cast<int>(Kind::kShort)].add(4 * kWords, from.parallel);
  return true;
}

}  // namespace
}  // namespace am::c

using am::Kind;
using namespace am::c;

int AM_ReplyArgs(void* token, handler_t handler, int numargs, const int32_t* args) {
  return reply("AM_Reply", token, Outgoing{Kind::kShort, handler, numargs, args, nullptr, 0}, 0);
}

#define AM_DEFINE(M)                                                  \
  int AM_Reply##M(void* token, handler_t handler AM_PARAMETERS_##M) { \
    try {                                                             \
      if (try_few<M>(token, handler, {AM_WORDS_##M})) [[likely]]      \
        return AM_OK;                                                 \
    } catch (...) {                                                   \
      return fail_by_exception("AM_Reply");                           \
    }                                                                 \
    const std::int32_t args[] = {AM_ARGUMENTS_##M};                   \
    return AM_ReplyArgs(token, handler, M, args);                     \
  }
AM_DEFINE(0)
AM_DEFINE(1)
AM_DEFINE(2)
AM_DEFINE(3)
AM_DEFINE(4)
#undef AM_DEFINE

int AM_ReplyIArgs(void* token, handler_t handler, const void* source, size_t nbytes, int numargs,
                  const int32_t* args) {
  return reply("AM_ReplyI", token, Outgoing{Kind::kMedium, handler, numargs, args, source, nbytes},
               0);
}

int AM_ReplyXferArgs(void* token, uintptr_t dest_offset, handler_t handler, const void* source,
                     size_t nbytes, int numargs, const int32_t* args) {
  return reply("AM_ReplyXfer", token, Outgoing{Kind::kLong, handler, numargs, args, source, nbytes},
               dest_offset);
}

int AMX_PrepareReplyMedium(void* token, size_t nbytes, void** payload) {
  return guarded("AMX_PrepareReplyMedium", [&] {
    Token& found = check_may_reply(token);
    check_result(payload);
    check_prepared_bytes(nbytes);
    *payload = found.message().reply_room();
    found.set_prepared(nbytes);
  });
}

int AMX_CommitReplyMedium(void* token, size_t nbytes, handler_t handler, int numargs,
                          const int32_t* args) {
  return guarded("AMX_CommitReplyMedium", [&] {
    Token& found = check_may_reply(token);
    const Outgoing given{Kind::kMedium, handler, numargs, args, token, nbytes};
    check_message(given);
    if (found.prepared() == Token::kNothing) {
      refuse(AM_ERR_BAD_ARG,
             "this handler has prepared no reply; call AMX_PrepareReplyMedium() first");
    }
    check_committed_bytes(nbytes, found.prepared());
    EndpointState& from = state_of(found.message().endpoint());
    std::move(found.message())
        .reply_index_in_place(static_cast<am::HandlerIndex>(handler), nbytes, given.words());
    from.reply_bytes[static_cast<int>(Kind::kMedium)].add(given.bytes(), from.parallel);
  });
}
