// Messages of a process to itself: queued, in any number, and no handler runs inside a call that
// sends one. Checked against a count and a sum that a loop makes.
#include <stdlib.h>
#include <string.h>

#include "tests/am/c/check.h"

enum { kAdd = 1, kAnswer = 2, kAddMedium = 3, kAddLong = 4, kMany = 1000, kArea = 4096 };

static int inside, handled, answered;
static uint64_t sum;

static void on_answer(void* token, int32_t n) {
  (void)token;
  CHECK(!inside);
  sum += (uint64_t)n;
  ++answered;
}
static void on_add(void* token, int32_t n) {
  CHECK(!inside);
  ++handled;
  CHECK_OK(AM_Reply1(token, kAnswer, n));
}
static void on_payload(void* token, void* at, int nbytes, int32_t n) {
  CHECK_EQ(nbytes, n % 100);
  for (int i = 0; i < nbytes; ++i) CHECK_EQ(((unsigned char*)at)[i], (n + i) % 256);
  on_add(token, n);
}

static void on_add_silently(void* token, int32_t n) {
  (void)token;
  CHECK(!inside);
  sum += (uint64_t)n;
  ++handled;
}

static void set_handlers(ep_t at) {
  set(at, kAdd, on_add);
  set(at, kAnswer, on_answer);
  set(at, kAddMedium, on_payload);
  set(at, kAddLong, on_payload);
}

static unsigned char source[100];
static void send(ep_t from, int to, int category, int32_t n) {
  for (int i = 0; i < n % 100; ++i) source[i] = (unsigned char)((n + i) % 256);
  const size_t nbytes = (size_t)(n % 100);
  inside = 1;
  if (category == AM_SHORT) CHECK_OK(AM_Request1(from, to, kAdd, n));
  if (category == AM_MEDIUM) CHECK_OK(AM_RequestI1(from, to, kAddMedium, source, nbytes, n));
  if (category == AM_LONG)
    CHECK_OK(AM_RequestXfer1(from, to, (uintptr_t)(n % 40) * 100, kAddLong, source, nbytes, n));
  inside = 0;
  memset(source, 0xff, sizeof source);  // it may be reused
}

static void begin(void) {
  void* segment;
  uintptr_t bytes;
  handled = answered = 0;
  sum = 0;
  CHECK_OK(AM_GetProcessSegment(&segment, &bytes));
  CHECK_OK(AM_SetSeg(endpoint, segment, kArea));
  set_handlers(endpoint);
}

// The loop that is the oracle.
static uint64_t sum_below(int count) {
  uint64_t total = 0;
  for (int i = 0; i < count; ++i) total += (uint64_t)i;
  return total;
}

static void flood(int category) {
  begin();
  for (int i = 0; i < kMany; ++i) send(endpoint, rank(), category, i);
  CHECK_EQ(handled, 0);
  poll_until(&answered, kMany);
  CHECK_EQ(handled, kMany);
  CHECK_EQ(sum, sum_below(kMany));
}
static void short_ones(void) { flood(AM_SHORT); }
static void medium_ones(void) { flood(AM_MEDIUM); }
static void long_ones(void) {
  // Each has the place to itself until it was handled: one at a time here, many in the next case.
  //
  begin();
  for (int i = 0; i < 200; ++i) {
    send(endpoint, rank(), AM_LONG, i);
    poll_until(&answered, i + 1);
  }
  CHECK_EQ(sum, sum_below(200));
}

static void mixed_at_random(void) {
  uint64_t state = seed() * 1000003 + (uint64_t)rank();
  uint64_t wanted = 0;
  begin();
  for (int i = 0; i < kMany; ++i) {
    const int n = (int)(next_random(&state) % 10000);
    wanted += (uint64_t)n;
    send(endpoint, rank(), next_random(&state) % 2 == 0 ? AM_SHORT : AM_MEDIUM, n);
    if (next_random(&state) % 50 == 0) CHECK_OK(AM_Poll(bundle));
  }
  poll_until(&answered, kMany);
  CHECK_EQ(sum, wanted);
}

// The receiver is in a bundle that nobody polls while the requests are made.
static void to_another_bundle(void) {
  eb_t other;
  ep_t target;
  en_t name;
  int index;
  begin();
  CHECK_OK(AM_AllocateBundle(bundle_type(), &other));
  CHECK_OK(AM_AllocateEndpoint(other, &target, &name));
  CHECK_OK(AM_SetTag(target, 5));
  set_handlers(target);
  CHECK_OK(AM_MapAny(endpoint, &index, name, 5));
  for (int i = 0; i < kMany; ++i) send(endpoint, index, AM_SHORT, i);
  while (answered < kMany) {
    CHECK_OK(AM_Poll(other));
    CHECK_OK(AM_Poll(bundle));
  }
  CHECK_EQ(handled, kMany);
  CHECK_EQ(sum, sum_below(kMany));
  CHECK_OK(AM_Unmap(endpoint, index));
  CHECK_OK(AM_FreeBundle(other));
}

// What is queued goes with an endpoint that moves, and is sent before it is freed.
static void with_an_endpoint_that_moves_and_ends(void) {
  eb_t other;
  ep_t sender;
  en_t name, mine;
  tag_t tag;
  begin();
  CHECK_OK(AM_AllocateBundle(bundle_type(), &other));
  CHECK_OK(AM_AllocateEndpoint(bundle, &sender, &name));
  CHECK_OK(AM_GetEndpointName(endpoint, &mine));
  CHECK_OK(AM_GetTag(endpoint, &tag));
  CHECK_OK(AM_SetTag(sender, tag));
  CHECK_OK(AM_Map(sender, 0, mine, tag));
  set(endpoint, kAdd, on_add_silently);  // replies would have nobody to go to
  for (int i = 0; i < kMany; ++i) send(sender, 0, AM_SHORT, i);
  CHECK_OK(AM_MoveEndpoint(sender, bundle, other));
  CHECK_OK(AM_FreeEndpoint(sender));
  poll_until(&handled, kMany);
  CHECK_EQ(handled, kMany);
  CHECK_EQ(sum, sum_below(kMany));
  CHECK_OK(AM_FreeBundle(other));
}

static void unmapping_waits_for_them(void) {
  int index;
  en_t mine;
  tag_t tag;
  begin();
  CHECK_OK(AM_GetEndpointName(endpoint, &mine));
  CHECK_OK(AM_GetTag(endpoint, &tag));
  CHECK_OK(AM_MapAny(endpoint, &index, mine, tag));
  for (int i = 0; i < kMany; ++i) send(endpoint, index, AM_SHORT, i);
  CHECK_OK(AM_Unmap(endpoint, index));
  CHECK_EQ(handled, kMany);
}

// Async sends nothing that does not fit the window.
static void async_is_not_queued(void) {
  int sent = 0;
  begin();
  source[0] = 0;
  while (AM_RequestXferAsync1(endpoint, rank(), 0, kAddLong, source, 0, 100 * sent) == AM_OK)
    ++sent;
  CHECK_EQ(sent, 16);
  CHECK_RETURNS(AM_ERR_NOT_SENT, AM_RequestXferAsync1(endpoint, rank(), 0, kAddLong, source, 0, 0));
  poll_until(&answered, sent);
  CHECK_EQ(handled, sent);
}

// Nothing limits how many translations lead to an endpoint, as far as programs go.
static void from_many_endpoints(void) {
  enum { kSenders = 300 };
  static ep_t senders[kSenders];
  en_t name, own;
  tag_t tag;
  begin();
  CHECK_OK(AM_GetTag(endpoint, &tag));
  CHECK_OK(AM_GetEndpointName(endpoint, &own));
  for (int i = 0; i < kSenders; ++i) {
    CHECK_OK(AM_AllocateEndpoint(bundle, &senders[i], &name));
    CHECK_OK(AM_SetTag(senders[i], tag));
    set_handlers(senders[i]);
    CHECK_OK(AM_Map(senders[i], 0, own, tag));
    CHECK_OK(AM_Request1(senders[i], 0, kAdd, i));
  }
  poll_until(&answered, kSenders);
  CHECK_EQ(handled, kSenders);
  for (int i = 0; i < kSenders; ++i) CHECK_OK(AM_FreeEndpoint(senders[i]));
}

// As AMUDP has it: handler and reply have run when the call returns, in every category and of gets.
static int seen, seen_back;
static void on_seen_back(void* token) {
  (void)token;
  ++seen_back;
}
static void on_seen(void* token) {
  ++seen;
  CHECK_OK(AM_Reply0(token, kAnswer));
}
static void on_seen_payload(void* token, void* at, int nbytes) {
  CHECK(at != NULL && nbytes == 3);
  on_seen(token);
}
static void on_got(void* token, void* at, int nbytes) {
  (void)token;
  CHECK(at != NULL && nbytes == 3);
  ++seen_back;
}
static void handled_in_the_call_where_wanted(void) {
  enum { kGot = 9 };
  begin();
  seen = seen_back = 0;
  set(endpoint, kAdd, on_seen);
  set(endpoint, kAnswer, on_seen_back);
  set(endpoint, kAddMedium, on_seen_payload);
  set(endpoint, kAddLong, on_seen_payload);
  set(endpoint, kGot, on_got);
  CHECK_RETURNS(AM_ERR_BAD_ARG, AMX_SetLoopback(NULL, 1));
  CHECK_OK(AMX_SetLoopback(endpoint, 1));
  CHECK_OK(AMX_SetLoopback(endpoint, 1));
  barrier();  // which nobody leaves before all have set their handlers
  for (int i = 1; i <= 100; ++i) {
    CHECK_OK(AM_Request0(endpoint, rank(), kAdd));
    CHECK_EQ(seen, 4 * i - 3);
    CHECK_OK(AM_RequestI0(endpoint, rank(), kAddMedium, "abc", 3));
    CHECK_OK(AM_RequestXfer0(endpoint, rank(), 8, kAddLong, "abc", 3));
    CHECK_OK(AM_RequestXferAsync0(endpoint, rank(), 8, kAddLong, "abc", 3));
    CHECK_EQ(seen, 4 * i);
    CHECK_EQ(seen_back, 5 * i - 1);
    CHECK_OK(AM_GetXfer0(endpoint, rank(), 8, kGot, 16, 3));
    CHECK_EQ(seen_back, 5 * i);
  }
  CHECK_OK(AMX_SetLoopback(endpoint, 0));
  CHECK_OK(AM_Request0(endpoint, rank(), kAdd));
  CHECK_EQ(seen, 400);
  poll_until(&seen_back, 501);
}

// To others nothing is different, and an endpoint that moves keeps it.
static void others_as_ever_meanwhile(void) {
  eb_t old = bundle, moved;
  begin();
  CHECK_OK(AMX_SetLoopback(endpoint, 1));
  CHECK_OK(AM_AllocateBundle(bundle_type(), &moved));
  CHECK_OK(AM_MoveEndpoint(endpoint, old, moved));
  bundle = moved;
  barrier();
  for (int i = 0; i < kMany; ++i) CHECK_OK(AM_Request1(endpoint, right(), kAdd, i));
  poll_until(&answered, kMany);
  poll_until(&handled, kMany);
  CHECK_EQ(sum, sum_below(kMany));
  barrier();
  CHECK_OK(AMX_SetLoopback(endpoint, 0));
  CHECK_OK(AM_MoveEndpoint(endpoint, moved, old));
  bundle = old;
  CHECK_OK(AM_FreeBundle(moved));
}

// As programs for AMUDP expect.
static void wait_sema_polls(void) {
  begin();
  CHECK_OK(AM_SetEventMask(bundle, AM_NOTEMPTY));
  CHECK_OK(AM_Request1(endpoint, rank(), kAdd, 1));
  while (handled == 0) CHECK_OK(AM_WaitSema(bundle));
}

int main(int argc, char** argv) {
  static const Case cases[] = {
      {"short ones", short_ones},
      {"medium ones", medium_ones},
      {"long ones", long_ones},
      {"mixed at random", mixed_at_random},
      {"to another bundle", to_another_bundle},
      {"with an endpoint that moves and ends", with_an_endpoint_that_moves_and_ends},
      {"unmapping waits for them", unmapping_waits_for_them},
      {"async is not queued", async_is_not_queued},
      {"from many endpoints", from_many_endpoints},
      {"handled in the call where wanted", handled_in_the_call_where_wanted},
      {"others as ever meanwhile", others_as_ever_meanwhile},
      {"wait sema polls", wait_sema_polls},
  };
  return RUN_CASES(argc, argv, cases);
}
