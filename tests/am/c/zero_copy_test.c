// Zero-copy buffers in C, of each mode: each process gets from the next one and puts to it. Checked
// against bytes that follow from process, turn and place.
#include "am/c/zero_copy.h"

#include <stdlib.h>
#include <string.h>

#include "am/c/spmd.h"
#include "tests/am/c/check.h"

enum { kMost = 300000, kTry = 1 };

static AM_zero_copy_t zero;

// One of the two buffers of a process: what its callbacks have said.
typedef struct {
  AM_buffer_t buffer;
  AM_buffer_info_t info;
  unsigned char* memory;
  int done, as_source;
  AM_transfer_t last;
} End;
static End mine, other;
static AM_buffer_info_t theirs[64], others[64];

static unsigned char byte_of(int process, int turn, size_t i) {
  return (unsigned char)((unsigned)process * 37u + (unsigned)turn * 101u + i * 11u + (i >> 8));
}
static void fill(unsigned char* bytes, size_t n, int turn) {
  for (size_t i = 0; i < n; ++i) bytes[i] = byte_of(rank(), turn, i);
}
static void expect(const unsigned char* bytes, size_t n, int process, int turn) {
  for (size_t i = 0; i < n; ++i) CHECK_EQ(bytes[i], byte_of(process, turn, i));
}

static void on_done(const AM_transfer_t* done, void* data) {
  End* const end = data;
  end->last = *done;
  end->as_source += done->is_source;
  ++end->done;
}

static unsigned char* take(size_t nbytes, int mode) {
  void* memory = NULL;
  if (mode == AM_BUFFER_PREREG) {
    CHECK_OK(AM_ZeroCopyAlloc(zero, nbytes, &memory));
    CHECK((uintptr_t)memory % 64 == 0);
  } else {
    memory = malloc(nbytes);
  }
  CHECK(memory != NULL);
  return memory;
}
static void give(unsigned char* memory, int mode) {
  if (mode == AM_BUFFER_PREREG)
    CHECK_OK(AM_ZeroCopyRelease(zero, memory));
  else
    free(memory);
}

// Two buffers in each process, which everybody knows.
static void open_buffers(size_t nbytes, int mode) {
  memset(&mine, 0, sizeof mine);
  memset(&other, 0, sizeof other);
  CHECK_OK(AM_ZeroCopyStart(bundle, 1 << 20, &zero));
  End* const ends[] = {&mine, &other};
  for (int i = 0; i < 2; ++i) {
    End* const end = ends[i];
    end->memory = take(nbytes, mode);
    CHECK_OK(AM_BufferCreate(zero, end->memory, nbytes, on_done, end, mode, &end->buffer));
    CHECK_OK(AM_BufferInfo(end->buffer, &end->info));
  }
  CHECK_OK(AMX_SPMDAllGather(&mine.info, theirs, sizeof mine.info));
  CHECK_OK(AMX_SPMDAllGather(&other.info, others, sizeof other.info));
}
static void close_buffers(int mode) {
  CHECK_OK(AM_ZeroCopyWait(zero));
  barrier();
  CHECK_RETURNS(AM_ERR_RESOURCE, AM_ZeroCopyEnd(zero));  // with buffers
  CHECK_OK(AM_BufferFree(mine.buffer));
  CHECK_OK(AM_BufferFree(other.buffer));
  barrier();
  give(mine.memory, mode);
  give(other.memory, mode);
  CHECK_OK(AM_ZeroCopyEnd(zero));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_ZeroCopyEnd(zero));
}

static void expect_last(const End* end, size_t nbytes, int peer, int is_source, int reference) {
  CHECK(end->last.address == end->memory);
  CHECK_EQ(end->last.nbytes, nbytes);
  CHECK_EQ(end->last.peer, peer);
  CHECK_EQ(end->last.is_source, is_source);
  CHECK_EQ(end->last.reference, reference);
}

// Gets from the next process into `other`, then puts `mine` into the `other` of the next.
static void move(size_t nbytes, int mode) {
  open_buffers(nbytes, mode);
  for (int turn = 1; turn <= 3; ++turn) {
    fill(mine.memory, nbytes, turn);
    CHECK_OK(AM_BufferSetReference(other.buffer, (uint64_t)turn));
    barrier();
    CHECK_OK(AM_BufferGet(other.buffer, theirs[right()]));
    poll_until(&other.done, 2 * turn - 1);  // a put comes in each turn, too
    poll_until(&mine.done, 2 * turn - 1);
    expect(other.memory, nbytes, right(), turn);
    expect_last(&other, nbytes, right(), 0, turn);
    expect_last(&mine, nbytes, left(), 1, 0);
    barrier();
    fill(mine.memory, nbytes, -turn);
    CHECK_OK(AM_BufferPut(mine.buffer, others[right()]));
    poll_until(&mine.done, 2 * turn);
    poll_until(&other.done, 2 * turn);
    expect(other.memory, nbytes, left(), -turn);
    expect_last(&mine, nbytes, right(), 1, 0);
    CHECK_EQ(other.last.peer, left());
    barrier();
  }
  CHECK_EQ(mine.as_source, 6);
  CHECK_EQ(other.as_source, 0);
  close_buffers(mode);
}
static void move_sizes(int mode) {
  static const size_t sizes[] = {1, 64, 4096, 4097, kMost};
  for (int s = 0; s < 5; ++s) move(sizes[s], mode);
}
static void of_unregistered_memory(void) { move_sizes(AM_BUFFER_UNREG); }
static void of_registered_memory(void) { move_sizes(AM_BUFFER_REG); }
static void of_the_pool(void) { move_sizes(AM_BUFFER_PREREG); }

static void without_registration_there_is_only_an_info(void) {
  open_buffers(64, AM_BUFFER_NOREG);
  CHECK_RETURNS(AM_ERR_RESOURCE, AM_BufferGet(other.buffer, theirs[right()]));
  CHECK_RETURNS(AM_ERR_RESOURCE, AM_BufferPut(mine.buffer, others[right()]));
  CHECK_EQ(mine.done + other.done, 0);
  close_buffers(AM_BUFFER_NOREG);
}

static void registration_can_end_and_begin_again(void) {
  int transfers = -1;
  open_buffers(10000, AM_BUFFER_REG);
  fill(mine.memory, 10000, 7);
  CHECK_OK(AM_BufferDeregister(other.buffer));
  CHECK_RETURNS(AM_ERR_RESOURCE, AM_BufferGet(other.buffer, theirs[right()]));
  CHECK_OK(AM_BufferRegister(other.buffer));
  CHECK_OK(AM_BufferInFlight(other.buffer, &transfers));
  CHECK_EQ(transfers, 0);
  barrier();
  CHECK_OK(AM_BufferGet(other.buffer, theirs[right()]));
  CHECK_OK(AM_BufferInFlight(other.buffer, &transfers));
  CHECK_EQ(transfers, 1);  // its callback has not run
  CHECK_RETURNS(AM_ERR_RESOURCE, AM_BufferDeregister(other.buffer));
  CHECK_RETURNS(AM_ERR_RESOURCE,
                AM_BufferInit(other.buffer, other.memory, 9, NULL, NULL, AM_BUFFER_REG));
  CHECK_OK(AM_ZeroCopyWait(zero));
  CHECK_EQ(other.done, 1);
  expect(other.memory, 10000, right(), 7);
  poll_until(&mine.done, 1);
  close_buffers(AM_BUFFER_REG);
}

// A smaller source, no callback, and an info that is stale.
static void a_buffer_can_be_made_anew(void) {
  open_buffers(256, AM_BUFFER_UNREG);
  memset(other.memory, 0xa5, 256);
  fill(mine.memory, 256, 9);
  CHECK_OK(AM_BufferInit(mine.buffer, mine.memory, 100, NULL, NULL, AM_BUFFER_UNREG));
  CHECK_OK(AM_BufferInfo(mine.buffer, &mine.info));
  barrier();
  AM_buffer_info_t now[64];
  CHECK_OK(AMX_SPMDAllGather(&mine.info, now, sizeof mine.info));
  CHECK_OK(AM_BufferGet(other.buffer, now[right()]));
  poll_until(&other.done, 1);
  expect(other.memory, 100, right(), 9);
  for (int i = 100; i < 256; ++i) CHECK_EQ(other.memory[i], 0xa5);
  CHECK_EQ(other.last.nbytes, 100);
  barrier();
  CHECK_EQ(mine.done, 0);
  // The info of before, of the own process, which sees that at once.
  CHECK_RETURNS(AM_ERR_RESOURCE, AM_BufferGet(other.buffer, theirs[rank()]));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_BufferGet(mine.buffer, others[right()]));  // larger
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_BufferPut(other.buffer, now[right()]));
  close_buffers(AM_BUFFER_UNREG);
}

static void wrong_arguments_are_refused(void) {
  AM_zero_copy_t none;
  AM_buffer_t buffer;
  void* memory;
  char bytes[8];
  eb_t parallel;
  open_buffers(8, AM_BUFFER_UNREG);
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_ZeroCopyStart(NULL, 0, &none));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_ZeroCopyStart(bundle, 0, NULL));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_ZeroCopyAlloc(zero, 8, NULL));
  CHECK_RETURNS(AM_ERR_RESOURCE, AM_ZeroCopyAlloc(zero, (size_t)1 << 40, &memory));
  CHECK_RETURNS(AM_ERR_RESOURCE, AM_ZeroCopyRelease(zero, bytes));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_BufferCreate(zero, bytes, 8, NULL, NULL, 4, &buffer));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_BufferCreate(zero, bytes, 8, NULL, NULL, -1, &buffer));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_BufferCreate(zero, NULL, 8, NULL, NULL, 0, &buffer));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_BufferCreate(NULL, bytes, 8, NULL, NULL, 0, &buffer));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_BufferCreate(zero, bytes, 8, NULL, NULL, 0, NULL));
  CHECK_RETURNS(AM_ERR_RESOURCE,
                AM_BufferCreate(zero, bytes, 8, NULL, NULL, AM_BUFFER_PREREG, &buffer));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_BufferInit(mine.buffer, bytes, 8, NULL, NULL, 7));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_BufferFree(NULL));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_BufferFree((AM_buffer_t)(void*)zero));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_BufferInfo(mine.buffer, NULL));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_BufferInFlight(mine.buffer, NULL));
  CHECK_OK(AM_ZeroCopyAlloc(zero, 8, &memory));
  CHECK_OK(AM_BufferCreate(zero, memory, 8, NULL, NULL, AM_BUFFER_PREREG, &buffer));
  CHECK_RETURNS(AM_ERR_RESOURCE, AM_ZeroCopyRelease(zero, memory));  // a buffer is in it
  CHECK_OK(AM_BufferFree(buffer));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_BufferFree(buffer));
  CHECK_OK(AM_ZeroCopyRelease(zero, memory));
  CHECK_OK(AM_AllocateBundle(AM_PAR, &parallel));
  CHECK_RETURNS(AM_ERR_RESOURCE, AM_ZeroCopyStart(parallel, 0, &none));
  CHECK_OK(AM_FreeBundle(parallel));
  close_buffers(AM_BUFFER_UNREG);
}

static int tried;
static void on_try(void* token) {
  AM_zero_copy_t none;
  (void)token;
  CHECK_RETURNS(AM_ERR_IN_USE, AM_ZeroCopyStart(bundle, 0, &none));
  CHECK_RETURNS(AM_ERR_IN_USE, AM_ZeroCopyWait(zero));
  CHECK_RETURNS(AM_ERR_IN_USE, AM_ZeroCopyEnd(zero));
  CHECK_OK(AM_BufferGet(other.buffer, theirs[right()]));
  ++tried;
}
static void handlers_may_start_transfers(void) {
  open_buffers(5000, AM_BUFFER_UNREG);
  fill(mine.memory, 5000, 3);
  tried = 0;
  set(endpoint, kTry, (AM_handler_fn_t)on_try);
  barrier();
  CHECK_OK(AM_Request0(endpoint, rank(), kTry));
  poll_until(&tried, 1);
  poll_until(&other.done, 1);
  expect(other.memory, 5000, right(), 3);
  poll_until(&mine.done, 1);
  close_buffers(AM_BUFFER_UNREG);
}

// --- Requests

enum { kSmall = 10, kLarge = 20000, kTag = 77 };

// What a process has for requests, and has seen of them.
static struct {
  unsigned char small[kSmall], large[kLarge], all[kSmall + kLarge];
  int how;  // 0: a memory for each; 1: one for all; 2: by a tag; 3: none
  int requests, there, left;
  AM_transfer_t last_there, last_left;
} landing;

static void on_there(const AM_transfer_t* done, void* data) {
  CHECK(data == &landing);
  landing.last_there = *done;
  ++landing.there;
}
static void on_left(const AM_transfer_t* done, void* data) {
  CHECK(data == &landing);
  landing.last_left = *done;
  ++landing.left;
}

static void on_request(AM_zero_copy_request_t request, int numargs, const int32_t* args,
                       void* data) {
  const AM_memory_t each[] = {{landing.small, kSmall}, {landing.large, kLarge}};
  const AM_memory_t one = {landing.all, sizeof landing.all};
  size_t sizes[2] = {0, 0};
  int from = -1, payloads = 0;
  CHECK(data == &tried);
  CHECK_EQ(numargs, 8);
  for (int i = 0; i < 8; ++i) CHECK_EQ(args[i], 1000 - 300 * i);
  CHECK_OK(AM_ZeroCopyRequestSource(request, &from));
  CHECK_EQ(from, left());
  CHECK_OK(AM_ZeroCopyRequestSizes(request, sizes, 1, &payloads));
  CHECK_EQ(sizes[1], 0);
  CHECK_OK(AM_ZeroCopyRequestSizes(request, sizes, 2, &payloads));
  CHECK_EQ(payloads, 2);
  CHECK_EQ(sizes[0], kSmall);
  CHECK_EQ(sizes[1], kLarge);
  CHECK_RETURNS(AM_ERR_IN_USE, AM_ZeroCopyWait(zero));
  CHECK_RETURNS(AM_ERR_IN_USE, AM_Request0(endpoint, rank(), kTry));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_ZeroCopyMatch(NULL, 1));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_ZeroCopyReceive(request, NULL, 1, NULL, NULL, 0));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_ZeroCopyReceive(request, each, 129, NULL, NULL, 0));
  if (landing.how < 2) {
    const AM_memory_t* const where = landing.how == 0 ? each : &one;
    CHECK_OK(AM_ZeroCopyReceive(request, where, 2 - landing.how, on_there, &landing, 5));
  } else if (landing.how == 2) {
    CHECK_OK(AM_ZeroCopyMatch(request, kTag));
  }
  if (landing.how != 3) {
    CHECK_RETURNS(AM_ERR_IN_USE, AM_ZeroCopyReceive(request, each, 2, NULL, NULL, 0));
    CHECK_RETURNS(AM_ERR_IN_USE, AM_ZeroCopyMatch(request, kTag));
  }
  ++landing.requests;
}

// Sends two payloads to the next process.
static void send_two(int to, int how, int handler) {
  static const int32_t args[] = {1000, 700, 400, 100, -200, -500, -800, -1100};
  static unsigned char small[kSmall], large[kLarge];
  const AM_memory_t payloads[] = {{small, kSmall}, {large, kLarge}};
  memset(&landing, 0, sizeof landing);
  landing.how = how;
  fill(small, kSmall, how);
  fill(large, kLarge, how + 50);
  if (how == 2 && rank() % 2 == 0) {
    CHECK_OK(AM_ZeroCopyPost(zero, kTag, landing.all, sizeof landing.all, on_there, &landing, 5));
    CHECK_RETURNS(AM_ERR_RESOURCE, AM_ZeroCopyPost(zero, kTag, small, 1, NULL, NULL, 0));
  }
  barrier();
  CHECK_OK(AM_ZeroCopyRequest(zero, &to, 1, payloads, 2, on_left, &landing, handler, 8, args));
  poll_until(&landing.requests, 1);
  if (how == 2 && rank() % 2 != 0)
    CHECK_OK(AM_ZeroCopyPost(zero, kTag, landing.all, sizeof landing.all, on_there, &landing, 5));
  poll_until(&landing.left, 1);
  CHECK_EQ(landing.last_left.nbytes, how == 3 ? 0 : kSmall + kLarge);
  CHECK_EQ(landing.last_left.is_source, 1);
  if (how != 3) poll_until(&landing.there, 1);
  barrier();
  CHECK_EQ(landing.requests, 1);
  CHECK_EQ(landing.left, 1);
  CHECK_EQ(landing.there, how == 3 ? 0 : 1);
  if (how == 3) return;
  CHECK_EQ(landing.last_there.nbytes, kSmall + kLarge);
  CHECK_EQ(landing.last_there.reference, 5);
  CHECK_EQ(landing.last_there.is_source, 0);
  CHECK_EQ(landing.last_there.peer, left());
  expect(how == 0 ? landing.small : landing.all, kSmall, left(), how);
  expect(how == 0 ? landing.large : landing.all + kSmall, kLarge, left(), how + 50);
}

static void several_payloads_go_where_the_receiver_says(void) {
  int handler = -1, other_handler = -1;
  open_buffers(8, AM_BUFFER_UNREG);
  CHECK_OK(AM_ZeroCopyAddHandler(zero, on_request, &mine, &other_handler));
  CHECK_OK(AM_ZeroCopyAddHandler(zero, on_request, &tried, &handler));
  CHECK_EQ(other_handler, 0);
  CHECK_EQ(handler, 1);
  for (int how = 0; how <= 3; ++how) send_two(right(), how, handler);
  close_buffers(AM_BUFFER_UNREG);
}

static void wrong_requests_are_refused(void) {
  const int nowhere = procs(), here = rank();
  const AM_memory_t none = {NULL, 8};
  int handler = -1;
  open_buffers(8, AM_BUFFER_UNREG);
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_ZeroCopyAddHandler(zero, NULL, NULL, &handler));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_ZeroCopyAddHandler(zero, on_request, NULL, NULL));
  CHECK_RETURNS(AM_ERR_BAD_ARG,
                AM_ZeroCopyRequest(zero, &here, 1, NULL, 0, NULL, NULL, 0, 0, NULL));
  CHECK_OK(AM_ZeroCopyAddHandler(zero, on_request, NULL, &handler));
  CHECK_RETURNS(AM_ERR_BAD_ARG,
                AM_ZeroCopyRequest(zero, &nowhere, 1, NULL, 0, NULL, NULL, handler, 0, NULL));
  CHECK_RETURNS(AM_ERR_BAD_ARG,
                AM_ZeroCopyRequest(zero, &here, 1, &none, 1, NULL, NULL, handler, 0, NULL));
  CHECK_RETURNS(AM_ERR_BAD_ARG,
                AM_ZeroCopyRequest(zero, &here, 1, &none, 129, NULL, NULL, handler, 0, NULL));
  CHECK_RETURNS(AM_ERR_BAD_ARG,
                AM_ZeroCopyRequest(zero, &here, 1, NULL, 0, NULL, NULL, handler, 9, &here));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_ZeroCopyPost(zero, 1, NULL, 8, NULL, NULL, 0));
  close_buffers(AM_BUFFER_UNREG);
}

// The last case: of a bundle that is freed, and of a process that ends.
static void they_end_with_their_bundle(void) {
  eb_t old = bundle;
  open_buffers(64, AM_BUFFER_REG);
  CHECK_OK(AM_AllocateBundle(AM_SEQ, &bundle));
  CHECK_OK(AM_MoveEndpoint(endpoint, old, bundle));
  barrier();
  CHECK_OK(AM_FreeBundle(old));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_BufferGet(other.buffer, theirs[right()]));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_ZeroCopyWait(zero));
  free(mine.memory);
  free(other.memory);
  open_buffers(64, AM_BUFFER_REG);
}

int main(int argc, char** argv) {
  static const Case cases[] = {
      {"of unregistered memory", of_unregistered_memory},
      {"of registered memory", of_registered_memory},
      {"of the pool", of_the_pool},
      {"without registration there is only an info", without_registration_there_is_only_an_info},
      {"registration can end and begin again", registration_can_end_and_begin_again},
      {"a buffer can be made anew", a_buffer_can_be_made_anew},
      {"wrong arguments are refused", wrong_arguments_are_refused},
      {"handlers may start transfers", handlers_may_start_transfers},
      {"several payloads go where the receiver says", several_payloads_go_where_the_receiver_says},
      {"wrong requests are refused", wrong_requests_are_refused},
      {"they end with their bundle", they_end_with_their_bundle},
  };
  return RUN_CASES(argc, argv, cases);
}
