// What a C handler gets as its token: the message that is being handled.
#pragma once

#include <cstddef>

#include "am/c/types.h"
#include "am/core/untyped.h"

namespace am::c {

class Token;

// While one lives, a C handler runs in this thread. Handlers are not nested.
class Handling {
 public:
  explicit Handling(Token* token = nullptr) noexcept {
    here.now = true;
    here.token = token;
  }
  ~Handling() {
    here.now = false;
    here.token = nullptr;
  }
  Handling(const Handling&) = delete;
  Handling& operator=(const Handling&) = delete;

  static bool now() noexcept { return here.now; }

 private:
  friend Token;

  // Per thread. In a shared library a thread-local object is found by a call, so there is only one.
  struct Here {
    bool now;
    Token* token;
  };
  static constinit thread_local Here here;
};

// Lives while the handler runs. Handlers are not nested, so a thread has one at most; a token that
// is not that one is stale or wild.
class Token {
 public:
  explicit Token(UntypedMessage& message) noexcept : handling_(this), message_(message) {}
  Token(const Token&) = delete;
  Token& operator=(const Token&) = delete;

  // That of the handler that runs in this thread, if it is `token`; else nullptr.
  static Token* find(void* token) noexcept {
    Token* const current = Handling::here.token;
    return current == token ? current : nullptr;
  }

  UntypedMessage& message() noexcept { return message_; }

  // Bytes of the reply that the handler has prepared last; kNothing: it has prepared none.
  static constexpr std::size_t kNothing = ~std::size_t{0};
  std::size_t prepared() const noexcept { return prepared_; }
  void set_prepared(std::size_t nbytes) noexcept { prepared_ = nbytes; }

 private:
  const Handling handling_;
  UntypedMessage& message_;
  std::size_t prepared_ = kNothing;
};

// Token::find(); refuses a pointer that it does not know.
Token& token_of(void* token);

// Calls the function `context`, an AM_handler_fn_t, with `message`:
// Endpoint::set_untyped_handler().
void deliver(UntypedMessage message, void* context);
// Calls it between the callbacks of AMX_SetHandlerCallbacks().
void deliver_with_callbacks(UntypedMessage message, void* context);

}  // namespace am::c
