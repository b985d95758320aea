// From a message to the C function that handles it.

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "am/c/binding/errors.h"
#include "am/c/binding/handles.h"
#include "am/c/binding/token.h"

namespace am::c {

constinit thread_local Handling::Here Handling::here{};

namespace {

constexpr std::size_t kMaxWords = AM_MaxShort();

template <std::size_t>
using Argument = std::int32_t;

template <class... Leading>
struct Caller {
  using Function = void (*)(AM_handler_fn_t, Leading..., const std::uint32_t*);

  // Calls a function that takes `Leading` and sizeof...(kIndices) arguments.
  template <std::size_t... kIndices>
  static void call(AM_handler_fn_t function, Leading... leading, const std::uint32_t* words) {
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

using Short = Caller<void*>;
using WithPayload = Caller<void*, void*, int>;

}  // namespace

void deliver(UntypedMessage message, void* context) {
  const auto function = reinterpret_cast<AM_handler_fn_t>(context);
  const std::span<const std::uint32_t> words = message.arguments();
  Token token(message);
  if (message.kind() == Kind::kShort) {
    return Short::call_with(words.size(), function, &token, words.data());
  }
  const std::span<std::byte> payload = message.payload();
  WithPayload::call_with(words.size(), function, &token, payload.data(),
                         static_cast<int>(payload.size()), words.data());
}

int fail_no_token(const char* call, const void* token) noexcept {
  return fail(AM_ERR_BAD_ARG, call,
              token == nullptr ? "NULL is no token"
                               : "that is not the token of the handler that runs in this thread; a "
                                 "token ends with its handler");
}

namespace {

// Leaves at `result` what get(message) gives of the handler that runs.
template <class Result, class Get>
int get_of_message(const char* call, void* token, Result* result, Get&& get) {
  Token* const found = Token::find(token);
  if (found == nullptr) return fail_no_token(call, token);
  if (const int code = check_result(call, result)) return code;
  *result = get(found->message());
  return AM_OK;
}

}  // namespace
}  // namespace am::c

int AM_GetSourceEndpoint(void* token, en_t* name) {
  return am::c::get_of_message("AM_GetSourceEndpoint", token, name,
                               [](auto& message) { return am::c::to_c(message.source_name()); });
}

int AM_GetDestEndpoint(void* token, ep_t* endpoint) {
  return am::c::get_of_message("AM_GetDestEndpoint", token, endpoint, [](auto& message) {
    return am::c::state_of(message.endpoint()).handle;
  });
}

int AM_GetMsgTag(void* token, tag_t* tag) {
  return am::c::get_of_message("AM_GetMsgTag", token, tag, [](auto& message) {
    return message.role() == am::Role::kReply ? message.endpoint().tag() : message.tag();
  });
}
