// From a message to the C function that handles it.

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "am/c/binding/handles.h"
#include "am/c/binding/token.h"
#include "am/types/function.h"

namespace am::c {

constinit thread_local Handling::Here Handling::here{};

namespace {

constexpr std::size_t kMaxWords = AM_MaxShort();

template <std::size_t>
using Argument = std::int32_t;

template <class... Leading>
struct Caller {
  using Function = void (*)(AM_handler_fn_t, Leading..., const std::uint32_t*);

  // Calls a function that takes `Leading` and sizeof...(kIndices) arguments. (A sanitizer cannot
  // know of both types that its number of bytes may have.)
  template <std::size_t... kIndices>
  __attribute__((no_sanitize("undefined"))) static void call(AM_handler_fn_t function,
                                                             Leading... leading,
                                                             const std::uint32_t* words) {
    using Handler = void (*)(Leading..., Argument<kIndices>...);
    reinterpret_cast<Handler>(function)(leading..., static_cast<std::int32_t>(words[kIndices])...);
  }
  template <std::size_t... kIndices>
  static constexpr Function with(std::index_sequence<kIndices...>) {
    return &call<kIndices...>;
  }
  template <std::size_t... kCounts>
  static constexpr std::array<Function, sizeof...(kCounts)> by_count(
      std::index_sequence<kCounts...>) {
    return {with(std::make_index_sequence<kCounts>())...};
  }
  static constexpr auto kTable = by_count(std::make_index_sequence<kMaxWords + 1>());

  // Calls it with so many arguments. Few by comparisons, which spare a round trip two indirect
  // calls: in six runs in turn it took 1.16 times that of typed handlers in the median, 1.24 times
  // without. (No more than four, of which GCC would make a table again.)
  static void call_with(std::size_t count, AM_handler_fn_t function, Leading... leading,
                        const std::uint32_t* words) {
    if (count == 0) return call<>(function, leading..., words);
    if (count == 1) return call<0>(function, leading..., words);
    if (count == 2) return call<0, 1>(function, leading..., words);
    if (count == 3) return call<0, 1, 2>(function, leading..., words);
    kTable[count](function, leading..., words);
  }
};

// A handler may declare its number of bytes as int or as size_t: the calling conventions of x86-64
// and AArch64 pass both in the same register, and who takes an int reads the lower half of it.
using Short = Caller<void*>;
using WithPayload = Caller<void*, void*, std::size_t>;

[[gnu::always_inline]] inline void call(AM_handler_fn_t function, Token& token) {
  UntypedMessage& message = token.message();
  const std::span<const std::uint32_t> words = message.arguments();
  if (message.kind() == Kind::kShort) {
    return Short::call_with(words.size(), function, &token, words.data());
  }
  const std::span<std::byte> payload = message.payload();
  WithPayload::call_with(words.size(), function, &token, payload.data(), payload.size(),
                         words.data());
}

void call_before(Token& token) {
  UntypedMessage& message = token.message();
  const AMX_preHandlerCallback_t function = state_of(message.endpoint()).before_handler;
  if (function == nullptr) return;
  const std::span<const std::uint32_t> words = message.arguments();
  const std::span<std::byte> payload = message.payload();
  function(static_cast<AMX_category_t>(message.kind()), message.role() != Role::kReply ? 1 : 0,
           message.handler(), &token, payload.empty() ? nullptr : payload.data(), payload.size(),
           static_cast<int>(words.size()), const_cast<std::uint32_t*>(words.data()));
}

}  // namespace

void deliver(UntypedMessage message, void* context) {
  Token token(message);
  call(reinterpret_cast<AM_handler_fn_t>(context), token);
}

void deliver_with_callbacks(UntypedMessage message, void* context) {
  const AMX_postHandlerCallback_t after = state_of(message.endpoint()).after_handler;
  const auto category = static_cast<AMX_category_t>(message.kind());
  const int is_request = message.role() != Role::kReply ? 1 : 0;
  const Finally call_after([=] {
    if (after != nullptr) after(category, is_request);
  });
  Token token(message);
  call_before(token);
  call(reinterpret_cast<AM_handler_fn_t>(context), token);
}

Token& token_of(void* token) {
  if (Token* const found = Token::find(token)) return *found;
  refuse(AM_ERR_BAD_ARG, token == nullptr
                             ? "NULL is no token"
                             : "that is not the token of the handler that runs in this thread; a "
                               "token ends with its handler");
}

namespace {

// Leaves at `result` what get(message) gives of the handler that runs.
template <class Result, class Get>
int get_of_message(const char* call, void* token, Result* result, Get&& get) {
  return answer(call, result, [&] { return get(token_of(token).message()); });
}

}  // namespace
}  // namespace am::c

using namespace am::c;

int AM_GetSourceEndpoint(void* token, en_t* name) {
  return get_of_message("AM_GetSourceEndpoint", token, name,
                        [](auto& message) { return to_c(message.source_name()); });
}

int AM_GetDestEndpoint(void* token, ep_t* endpoint) {
  return get_of_message("AM_GetDestEndpoint", token, endpoint,
                        [](auto& message) { return state_of(message.endpoint()).handle; });
}

int AM_GetMsgTag(void* token, tag_t* tag) {
  return get_of_message("AM_GetMsgTag", token, tag, [](auto& message) {
    return message.role() == am::Role::kReply ? message.endpoint().tag() : message.tag();
  });
}

int AMX_GetSourceId(void* token, int* process) {
  return get_of_message("AMX_GetSourceId", token, process,
                        [](auto& message) { return static_cast<int>(message.source()); });
}

int AMX_GetTokenInfo(void* token, AMX_token_info_t* info) {
  return get_of_message("AMX_GetTokenInfo", token, info, [](auto& message) {
    return AMX_token_info_t{.source = static_cast<int>(message.source()),
                            .handler = message.handler(),
                            .category = static_cast<AMX_category_t>(message.kind()),
                            .is_request = message.role() != am::Role::kReply ? 1 : 0,
                            .may_reply = message.may_answer() ? 1 : 0,
                            .numargs = static_cast<int>(message.arguments().size())};
  });
}
