// Every number of arguments, in every category of request and of reply, by every spelling of the
// call, to the next process and to the own one. Checked against what message number `turn` has to
// say, which both sides compute.
#include "tests/am/c/check.h"

enum {
  kRequestShort = 10,  // and the number of arguments; kept apart, as handlers have their number
  kRequestPayload = 30,
  kReplyShort = 50,
  kReplyPayload = 70,
  kCounts = 17,
  kOffset = 64,  // of what requests write; replies write at kReplyOffset
  kReplyOffset = 8192,
  kBytes = 16384
};
typedef enum { kNumbered, kVariadic, kArray } Way;

// What is on its way.
static int turn, kind, reply_kind, count;
static Way way;
static int expected_source;
static int requests, replies;
static unsigned char* segment;
static tag_t tag;

static int32_t word_of(int t, int i) {
  return (int32_t)((uint32_t)t * 2654435761u + (uint32_t)i * 40503u);
}
static size_t bytes_of(int t, int k) {
  if (k == AM_SHORT) return 0;
  return (size_t)(t % 3 == 0 ? 4096 - t % 5 : t % 4000);
}
static unsigned char byte_of(int t, size_t i) {
  return (unsigned char)((unsigned)t * 31u + i * 7u + (i >> 8));
}

static int32_t words[kCounts];
static unsigned char payload[4096];
static void compose(int t, int k, int n) {
  for (int i = 0; i < n; ++i) words[i] = word_of(t, i);
  for (size_t i = 0; i < bytes_of(t, k); ++i) payload[i] = byte_of(t, i);
}

static void expect(int t, int k, int wanted, int n, const int32_t* args, const unsigned char* bytes,
                   int nbytes) {
  CHECK_EQ(n, wanted);
  for (int i = 0; i < n; ++i) CHECK_EQ(args[i], word_of(t, i));
  CHECK_EQ(nbytes, bytes_of(t, k));
  for (int i = 0; i < nbytes; ++i) CHECK_EQ(bytes[i], byte_of(t, (size_t)i));
}

static void expect_from(void* token, int source) {
  en_t from, name;
  ep_t to;
  tag_t sent;
  CHECK_OK(AM_GetSourceEndpoint(token, &from));
  CHECK_OK(AM_GetTranslationName(endpoint, source, &name));
  CHECK(AM_SameEndpoint(from, name));
  CHECK_OK(AM_GetDestEndpoint(token, &to));
  CHECK(to == endpoint);
  CHECK_OK(AM_GetMsgTag(token, &sent));
  CHECK(sent == tag);
}

// --- Calls, with their number of arguments in the name, or as a number.

#define W0
#define W1 , words[0]
#define W2 W1, words[1]
#define W3 W2, words[2]
#define W4 W3, words[3]
#define W5 W4, words[4]
#define W6 W5, words[5]
#define W7 W6, words[6]
#define W8 W7, words[7]
#define W9 W8, words[8]
#define W10 W9, words[9]
#define W11 W10, words[10]
#define W12 W11, words[11]
#define W13 W12, words[12]
#define W14 W13, words[13]
#define W15 W14, words[14]
#define W16 W15, words[15]

static int async_is_next(void) { return turn % 2; }

#define DEFINE_CALLS(M)                                                                            \
  static int request_numbered_##M(int k, int to, int h, size_t n) {                                \
    if (k == AM_SHORT) return AM_Request##M(endpoint, to, h W##M);                                 \
    if (k == AM_MEDIUM) return AM_RequestI##M(endpoint, to, h, payload, n W##M);                   \
    if (async_is_next()) return AM_RequestXferAsync##M(endpoint, to, kOffset, h, payload, n W##M); \
    return AM_RequestXfer##M(endpoint, to, kOffset, h, payload, n W##M);                           \
  }                                                                                                \
  static int request_variadic_##M(int k, int to, int h, size_t n) {                                \
    if (k == AM_SHORT) return AM_Request(endpoint, to, h, M W##M);                                 \
    if (k == AM_MEDIUM) return AM_RequestI(endpoint, to, h, payload, n, M W##M);                   \
    if (async_is_next()) return AM_RequestXferAsync(endpoint, to, kOffset, h, payload, n, M W##M); \
    return AM_RequestXfer(endpoint, to, kOffset, h, payload, n, M W##M);                           \
  }                                                                                                \
  static int reply_numbered_##M(int k, void* token, int h, size_t n) {                             \
    if (k == AM_SHORT) return AM_Reply##M(token, h W##M);                                          \
    if (k == AM_MEDIUM) return AM_ReplyI##M(token, h, payload, n W##M);                            \
    return AM_ReplyXfer##M(token, kReplyOffset, h, payload, n W##M);                               \
  }                                                                                                \
  static int reply_variadic_##M(int k, void* token, int h, size_t n) {                             \
    if (k == AM_SHORT) return AM_Reply(token, h, M W##M);                                          \
    if (k == AM_MEDIUM) return AM_ReplyI(token, h, payload, n, M W##M);                            \
    return AM_ReplyXfer(token, kReplyOffset, h, payload, n, M W##M);                               \
  }

static int request_array(int k, int to, int h, size_t n) {
  if (k == AM_SHORT) return AM_RequestArgs(endpoint, to, h, count, words);
  if (k == AM_MEDIUM) return AM_RequestIArgs(endpoint, to, h, payload, n, count, words);
  if (async_is_next())
    return AM_RequestXferAsyncArgs(endpoint, to, kOffset, h, payload, n, count, words);
  return AM_RequestXferArgs(endpoint, to, kOffset, h, payload, n, count, words);
}
static int reply_array(int k, void* token, int h, size_t n) {
  const int m = kCounts - 1 - count;
  if (k == AM_SHORT) return AM_ReplyArgs(token, h, m, words);
  if (k == AM_MEDIUM) return AM_ReplyIArgs(token, h, payload, n, m, words);
  return AM_ReplyXferArgs(token, kReplyOffset, h, payload, n, m, words);
}

// --- Handlers, with their number of arguments in the name.

static void got_request(void* token, int n, const int32_t* args, const void* bytes, int nbytes);
static void got_reply(void* token, int n, const int32_t* args, const void* bytes, int nbytes);

#define DEFINE_HANDLERS(M)                                                                  \
  static void on_request_##M(void* token AM_PARAMETERS_##M) {                               \
    const int32_t args[] = {AM_ARGUMENTS_##M};                                              \
    got_request(token, M, args, NULL, 0);                                                   \
  }                                                                                         \
  static void on_request_payload_##M(void* token, void* at, int nbytes AM_PARAMETERS_##M) { \
    const int32_t args[] = {AM_ARGUMENTS_##M};                                              \
    got_request(token, M, args, at, nbytes);                                                \
  }                                                                                         \
  static void on_reply_##M(void* token AM_PARAMETERS_##M) {                                 \
    const int32_t args[] = {AM_ARGUMENTS_##M};                                              \
    got_reply(token, M, args, NULL, 0);                                                     \
  }                                                                                         \
  static void on_reply_payload_##M(void* token, void* at, int nbytes AM_PARAMETERS_##M) {   \
    const int32_t args[] = {AM_ARGUMENTS_##M};                                              \
    got_reply(token, M, args, at, nbytes);                                                  \
  }

#define FOR_ALL(DO) \
  DO(0)             \
  DO(1)             \
  DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11) DO(12) DO(13) DO(14) DO(15) DO(16)

FOR_ALL(DEFINE_CALLS)
FOR_ALL(DEFINE_HANDLERS)

typedef int (*Request)(int k, int to, int h, size_t n);
typedef int (*Reply)(int k, void* token, int h, size_t n);
#define ROW(name, M) name##_##M,
#define REQUEST_NUMBERED(M) ROW(request_numbered, M)
#define REQUEST_VARIADIC(M) ROW(request_variadic, M)
#define REPLY_NUMBERED(M) ROW(reply_numbered, M)
#define REPLY_VARIADIC(M) ROW(reply_variadic, M)
static const Request request_calls[2][kCounts] = {{FOR_ALL(REQUEST_NUMBERED)},
                                                  {FOR_ALL(REQUEST_VARIADIC)}};
static const Reply reply_calls[2][kCounts] = {{FOR_ALL(REPLY_NUMBERED)}, {FOR_ALL(REPLY_VARIADIC)}};

static void got_request(void* token, int n, const int32_t* args, const void* bytes, int nbytes) {
  expect(turn, kind, count, n, args, bytes, nbytes);
  expect_from(token, expected_source);
  if (kind == AM_LONG) CHECK((const unsigned char*)bytes == segment + kOffset || nbytes == 0);
  ++requests;
  const int m = kCounts - 1 - count;
  const int h = (reply_kind == AM_SHORT ? kReplyShort : kReplyPayload) + m;
  const size_t size = bytes_of(turn + 1, reply_kind);
  compose(turn + 1, reply_kind, m);
  CHECK_OK(way == kArray ? reply_array(reply_kind, token, h, size)
                         : reply_calls[way][m](reply_kind, token, h, size));
  CHECK_RETURNS(AM_ERR_IN_USE, AM_Reply0(token, kReplyShort));
}

static void got_reply(void* token, int n, const int32_t* args, const void* bytes, int nbytes) {
  expect(turn + 1, reply_kind, kCounts - 1 - count, n, args, bytes, nbytes);
  expect_from(token, expected_source == rank() ? rank() : right());
  if (reply_kind == AM_LONG)
    CHECK((const unsigned char*)bytes == segment + kReplyOffset || nbytes == 0);
  ++replies;
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_Reply0(token, kReplyShort));
}

static void set_handlers(void) {
#define SET(M)                                                \
  set(endpoint, kRequestShort + M, on_request_##M);           \
  set(endpoint, kRequestPayload + M, on_request_payload_##M); \
  set(endpoint, kReplyShort + M, on_reply_##M);               \
  set(endpoint, kReplyPayload + M, on_reply_payload_##M);
  FOR_ALL(SET)
}

static void exchange(int to) {
  requests = replies = 0;
  expected_source = to == rank() ? rank() : left();
  barrier();
  const int h = (kind == AM_SHORT ? kRequestShort : kRequestPayload) + count;
  const size_t size = bytes_of(turn, kind);
  int code;
  do {
    compose(turn, kind, count);
    code = way == kArray ? request_array(kind, to, h, size)
                         : request_calls[way][count](kind, to, h, size);
    if (code == AM_ERR_NOT_SENT) CHECK_OK(AM_Poll(bundle));
  } while (code == AM_ERR_NOT_SENT);
  CHECK_OK(code);
  poll_until(&requests, 1);
  poll_until(&replies, 1);
  CHECK_EQ(requests, 1);
  CHECK_EQ(replies, 1);
  barrier();
}

static void exchange_counts(int to, Way how) {
  way = how;
  for (count = 0; count < kCounts; ++count, ++turn) exchange(to);
}

static void exchange_all(int to) {
  CHECK_OK(AM_GetTag(endpoint, &tag));
  set_handlers();
  for (kind = AM_SHORT; kind <= AM_LONG; ++kind) {
    for (reply_kind = AM_SHORT; reply_kind <= AM_LONG; ++reply_kind) {
      exchange_counts(to, kNumbered);
    }
    reply_kind = kind;
    exchange_counts(to, kVariadic);
    exchange_counts(to, kArray);
  }
}

static void in_shared_memory(void) {
  uintptr_t bytes;
  CHECK_OK(AM_GetProcessSegment((void**)&segment, &bytes));
  CHECK(bytes >= kBytes);
  CHECK_OK(AM_SetSeg(endpoint, segment, kBytes));
}

static void in_own_memory(void) {
  static unsigned char memory[kBytes];
  segment = memory;
  CHECK_OK(AM_SetSeg(endpoint, segment, kBytes));
}

static void to_the_next_process(void) {
  in_shared_memory();
  exchange_all(right());
}
static void to_the_own_process(void) {
  in_shared_memory();
  exchange_all(rank());
}
static void into_own_memory(void) {
  in_own_memory();
  exchange_all(right());
}

int main(int argc, char** argv) {
  static const Case cases[] = {
      {"every message to the next process", to_the_next_process},
      {"every message to the own process", to_the_own_process},
      {"every message into the receiver's own memory", into_own_memory},
  };
  return RUN_CASES(argc, argv, cases);
}
