// A segment that is all memory: offsets are addresses, of the heap, of variables, of the stack and
// of the memory that processes of a node share. Checked against what each process writes, by
// itself.
#include <stdlib.h>
#include <string.h>

#include "am/c/spmd.h"
#include "tests/am/c/check.h"

enum { kWrite = 1, kWritten = 2, kGot = 3, kEmpty = 4, kMost = 100000 };

static unsigned char variable[kMost];
static uintptr_t places[64][4];  // of each process: a variable, heap, stack, shared memory
static int written, answered, got, came_back, empties;
static uintptr_t empty_at;

static unsigned char byte_of(int process, int turn, size_t i) {
  return (unsigned char)((unsigned)process * 37u + (unsigned)turn * 5u + i * 11u + (i >> 8));
}
static void fill(unsigned char* bytes, size_t n, int turn) {
  for (size_t i = 0; i < n; ++i) bytes[i] = byte_of(rank(), turn, i);
}
static void expect(const unsigned char* bytes, size_t n, int process, int turn) {
  for (size_t i = 0; i < n; ++i) CHECK_EQ(bytes[i], byte_of(process, turn, i));
}

// Answers with as many bytes to the same kind of place of the process that asks.
static void on_write(void* token, void* at, int nbytes, int32_t place, int32_t turn) {
  int source;
  static unsigned char answer[kMost];
  CHECK_OK(AMX_GetSourceId(token, &source));
  CHECK((uintptr_t)at == places[rank()][place]);
  expect(at, (size_t)nbytes, source, turn);
  ++written;
  fill(answer, (size_t)nbytes, turn + 1);
  CHECK_OK(AM_ReplyXfer2(token, places[source][place] + kMost, kWritten, answer, (size_t)nbytes,
                         place, turn + 1));
}
static void on_written(void* token, void* at, int nbytes, int32_t place, int32_t turn) {
  (void)token;
  CHECK((uintptr_t)at == places[rank()][place] + kMost);
  expect(at, (size_t)nbytes, right(), turn);
  ++answered;
}
static void on_got(void* token, void* at, int nbytes, int32_t turn) {
  (void)token;
  expect(at, (size_t)nbytes, right(), turn);
  ++got;
}
static void on_empty(void* token, void* at, int nbytes) {
  (void)token;
  CHECK_EQ(nbytes, 0);
  empty_at = (uintptr_t)at;
  ++empties;
}
static void on_returned(int status, op_t opcode, void* argblock) {
  (void)argblock;
  CHECK_EQ(status, EBADSEGOFF);
  CHECK_EQ(opcode, AM_REQUEST_XFER_M);
  ++came_back;
}

static void open_all(void) {
  void* address;
  uintptr_t nbytes;
  set(endpoint, 0, (AM_handler_fn_t)on_returned);
  set(endpoint, kWrite, (AM_handler_fn_t)on_write);
  set(endpoint, kWritten, (AM_handler_fn_t)on_written);
  set(endpoint, kGot, (AM_handler_fn_t)on_got);
  set(endpoint, kEmpty, (AM_handler_fn_t)on_empty);
  CHECK_OK(AM_SetSeg(endpoint, NULL, (uintptr_t)-1));
  CHECK_OK(AM_GetSeg(endpoint, &address, &nbytes));
  CHECK(address == NULL && nbytes == (uintptr_t)-1);
}

static void every_address_is_an_offset(void) {
  static const size_t sizes[] = {0, 1, 4096, 4097, kMost};
  static unsigned char message[kMost], twice[2 * kMost];
  unsigned char stack[2 * kMost];
  void* shared;
  uintptr_t nbytes;
  unsigned char* const heap = malloc(2 * kMost);
  CHECK(heap != NULL && procs() <= 64);
  CHECK_OK(AM_GetProcessSegment(&shared, &nbytes));
  const uintptr_t mine[4] = {(uintptr_t)twice, (uintptr_t)heap, (uintptr_t)stack,
                             (uintptr_t)shared};
  written = answered = 0;
  open_all();
  CHECK_OK(AMX_SPMDAllGather(mine, places, sizeof mine));
  for (int place = 0, turn = 0; place < 4; ++place) {
    for (int s = 0; s < 5; ++s) {
      fill(message, sizes[s], turn);
      CHECK_OK(AM_RequestXfer2(endpoint, right(), places[right()][place], kWrite, message, sizes[s],
                               place, turn));
      ++turn;
      poll_until(&answered, turn);
      poll_until(&written, turn);
      barrier();
    }
  }
  free(heap);
}

static void gets_read_any_address(void) {
  static unsigned char place[kMost];
  got = 0;
  open_all();
  const uintptr_t mine = (uintptr_t)variable;
  uintptr_t theirs[64];
  fill(variable, kMost, 3);
  CHECK_OK(AMX_SPMDAllGather(&mine, theirs, sizeof mine));
  CHECK_OK(AM_GetXfer1(endpoint, right(), theirs[right()], kGot, (uintptr_t)place, kMost, 3));
  poll_until(&got, 1);
  expect(place, kMost, right(), 3);
}

// To the own process, too, of which no message is written by others.
static void no_bytes_can_go_anywhere(void) {
  static const uintptr_t anywhere[] = {0, 1, (uintptr_t)1 << 63, ((uintptr_t)1 << 63) + 5,
                                       (uintptr_t)-1};
  empties = came_back = 0;
  open_all();
  barrier();
  for (int i = 0; i < 10; ++i) {
    CHECK_OK(AM_RequestXfer0(endpoint, i < 5 ? right() : rank(), anywhere[i % 5], kEmpty, NULL, 0));
    poll_until(&empties, i + 1);
    CHECK(empty_at == anywhere[i % 5]);
    barrier();
  }
  CHECK_EQ(came_back, 0);
}

// Bytes where no process has memory come back instead of ending the receiver.
static void what_no_process_has_comes_back(void) {
  static char bytes[8192];
  static const size_t sizes[] = {1, 4096, 8192};
  empties = came_back = 0;
  open_all();
  barrier();
  for (int i = 0; i < 3; ++i) {
    CHECK_OK(AM_RequestXfer0(endpoint, right(), (uintptr_t)1 << 63, kEmpty, bytes, sizes[i]));
    poll_until(&came_back, i + 1);
  }
  barrier();
  CHECK_EQ(empties, 0);
  CHECK_OK(AM_SetSeg(endpoint, NULL, 0));
  barrier();
  CHECK_OK(AM_RequestXfer0(endpoint, right(), (uintptr_t)-1, kEmpty, NULL, 0));
  poll_until(&came_back, 4);
}

int main(int argc, char** argv) {
  static const Case cases[] = {
      {"every address is an offset", every_address_is_an_offset},
      {"gets read any address", gets_read_any_address},
      {"no bytes can go anywhere", no_bytes_can_go_anywhere},
      {"what no process has comes back", what_no_process_has_comes_back},
  };
  return RUN_CASES(argc, argv, cases);
}
