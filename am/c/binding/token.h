// What a C handler gets as its token: the message that is being handled.
#pragma once

#include "am/c/types.h"
#include "am/core/untyped.h"

namespace am::c {

// While one lives, a C handler runs in this thread. Handlers are not nested.
class Handling {
 public:
  Handling() noexcept { now_ = true; }
  ~Handling() { now_ = false; }
  Handling(const Handling&) = delete;
  Handling& operator=(const Handling&) = delete;

  static bool now() noexcept { return now_; }

 private:
  // Read with every message; as part of a shared library it would be found by a call otherwise.
  [[gnu::tls_model("initial-exec")]] static constinit thread_local bool now_;
};

// Lives while the handler runs. Handlers are not nested, so a thread has one at most; a token that
// is not that one is stale or wild.
class Token {
 public:
  explicit Token(UntypedMessage& message) noexcept : message_(message) { current_ = this; }
  ~Token() { current_ = nullptr; }
  Token(const Token&) = delete;
  Token& operator=(const Token&) = delete;

  // That of the handler that runs in this thread, if it is `token`; else nullptr.
  static Token* find(void* token) noexcept { return current_ == token ? current_ : nullptr; }

  UntypedMessage& message() noexcept { return message_; }

 private:
  // As Handling::now_.
  [[gnu::tls_model("initial-exec")]] static constinit thread_local Token* current_;

  const Handling handling_;
  UntypedMessage& message_;
};

// The code for a pointer that Token::find() does not know, with its sentence.
[[gnu::cold]] int fail_no_token(const char* call, const void* token) noexcept;

// Calls the function `context`, an AM_handler_fn_t, with `message`:
// Endpoint::set_untyped_handler().
void deliver(UntypedMessage message, void* context);

}  // namespace am::c
