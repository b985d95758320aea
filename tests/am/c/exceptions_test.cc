// Handlers written in C++ that throw: the call that ran them returns AM_ERR_RESOURCE with what was
// thrown, and everything goes on. Checked by the sentence, and by messages that arrive afterwards.
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "am/c/am2.h"
#include "am/c/spmd.h"
#include "tests/am/c/check.h"

namespace {

enum { kThrow = 1, kThrowNumber = 2, kCount = 3 };

int thrown = 0;
int counted = 0;

void on_throw(void*, std::int32_t n) {
  ++thrown;
  throw std::runtime_error("thrown by message " + std::to_string(n));
}
void on_throw_number(void*) {
  ++thrown;
  throw 42;
}
void on_count(void* token) {
  ++counted;
  CHECK_OK(AM_Reply0(token, kCount));
}
void on_returned(int, op_t, void*) { throw std::runtime_error("thrown by handler 0"); }

template <class Function>
AM_handler_fn_t as_handler(Function* function) {
  return reinterpret_cast<AM_handler_fn_t>(function);
}

void begin() {
  set(endpoint, kThrow, as_handler(on_throw));
  set(endpoint, kThrowNumber, as_handler(on_throw_number));
  set(endpoint, kCount, as_handler(+[](void*) { ++counted; }));
  thrown = counted = 0;
}

// Polls until one fails.
void poll_until_thrown() {
  int code = AM_OK;
  while (code == AM_OK) code = AM_Poll(bundle);
  CHECK_RETURNS(AM_ERR_RESOURCE, code);
}

void out_of_a_poll() {
  begin();
  CHECK_OK(AM_Request1(endpoint, rank(), kThrow, 5));
  poll_until_thrown();
  CHECK(std::strstr(AM_ErrorSentence(), "AM_Poll: thrown by message 5") != nullptr);
  CHECK_OK(AM_Request0(endpoint, rank(), kThrowNumber));
  poll_until_thrown();
  CHECK(std::strstr(AM_ErrorSentence(), "no std::exception") != nullptr);
  CHECK_EQ(thrown, 2);
}

// A barrier, whatever handlers throw out of it.
void meet() {
  while (AMX_SPMDBarrier() != AM_OK) {
  }
}

// More than the window, so credits of messages whose handlers threw have come back.
void credit_is_not_lost() {
  begin();
  meet();
  for (int i = 0; i < 200; ++i) {
    int code;
    do {
      code = AM_Request1(endpoint, right(), kThrow, i);
      if (code != AM_OK) CHECK_RETURNS(AM_ERR_RESOURCE, code);
    } while (code != AM_OK);
  }
  while (thrown < 200) AM_Poll(bundle);
  CHECK_EQ(thrown, 200);
  meet();
  CHECK_OK(AM_Request0(endpoint, right(), kCount));
  poll_until(&counted, 1);
}

void a_token_is_over_after_an_exception() {
  begin();
  static void* kept;
  set(endpoint, kThrow, as_handler(+[](void* token) {
        kept = token;
        throw std::runtime_error("once");
      }));
  CHECK_OK(AM_Request0(endpoint, rank(), kThrow));
  poll_until_thrown();
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_Reply0(kept, kCount));
}

void out_of_handler_0() {
  begin();
  set(endpoint, 0, as_handler(on_returned));
  CHECK_OK(AM_Request0(endpoint, rank(), 77));
  poll_until_thrown();
  CHECK(std::strstr(AM_ErrorSentence(), "thrown by handler 0") != nullptr);
}

// A reply is sent by the handler's own call; what it throws afterwards takes it back, as in C++.
void after_a_reply() {
  begin();
  set(endpoint, kThrow, as_handler(+[](void* token) {
        CHECK_OK(AM_Reply0(token, kCount));
        throw std::runtime_error("after the reply");
      }));
  CHECK_OK(AM_Request0(endpoint, rank(), kThrow));
  poll_until_thrown();
  set(endpoint, kThrow, as_handler(on_count));
  CHECK_OK(AM_Request0(endpoint, rank(), kThrow));
  poll_until(&counted, 2);
  CHECK_EQ(counted, 2);
}

// What handlers throw while a process gathers comes out when it has everything.
void while_all_gather() {
  begin();
  constexpr std::size_t kBytes = 512 << 10;  // many more messages than there are credits
  set(endpoint, kThrow, as_handler(+[](void*) {
        ++thrown;
        throw std::runtime_error("meanwhile");
      }));
  meet();
  for (int i = 0; i < 20; ++i) {
    while (AM_Request0(endpoint, right(), kThrow) != AM_OK) {
    }
  }
  const std::vector<unsigned char> mine(kBytes, static_cast<unsigned char>(rank() + 1));
  std::vector<unsigned char> all(kBytes * static_cast<std::size_t>(procs()));
  const int code = AMX_SPMDAllGather(mine.data(), all.data(), kBytes);
  if (code != AM_OK) CHECK_RETURNS(AM_ERR_RESOURCE, code);
  for (std::size_t i = 0; i < all.size(); ++i) CHECK_EQ(all[i], i / kBytes + 1);
  while (thrown < 20) AM_Poll(bundle);
  meet();
}

}  // namespace

int main(int argc, char** argv) {
  static const Case cases[] = {
      {"out of a poll", out_of_a_poll},
      {"credit is not lost", credit_is_not_lost},
      {"a token is over after an exception", a_token_is_over_after_an_exception},
      {"out of handler 0", out_of_handler_0},
      {"after a reply", after_a_reply},
      {"while all gather", while_all_gather},
  };
  return RUN_CASES(argc, argv, cases);
}
