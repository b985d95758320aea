// Medium payloads that are written where they are sent from: to the next process and to the own
// one, answered in the same way. Checked against a function of who sends, and what.
#include <string.h>

#include "am/c/spmd.h"
#include "tests/am/c/check.h"

enum { kBlock = 21, kAnswer = 31 };

static int requests, answers;

static unsigned char byte_of(int from, int number, size_t i) {
  return (unsigned char)(from * 31 + number * 7 + (int)i * 3);
}
static void write_block(unsigned char* to, size_t nbytes, int from, int number) {
  for (size_t i = 0; i < nbytes; ++i) to[i] = byte_of(from, number, i);
}
static int is_block(const unsigned char* at, size_t nbytes, int from, int number) {
  for (size_t i = 0; i < nbytes; ++i) {
    if (at[i] != byte_of(from, number, i)) return 0;
  }
  return 1;
}

// Answers with half as many bytes, as number + 1; block 100 with none, and block 101 not at all.
static void on_block(void* token, void* buffer, int nbytes, int32_t number, int32_t wanted) {
  int from = -1;
  void* answer = NULL;
  void* again = NULL;
  const int32_t arguments[] = {number + 1, nbytes / 2};
  CHECK_OK(AMX_GetSourceId(token, &from));
  CHECK_EQ(nbytes, wanted);
  CHECK(is_block(buffer, (size_t)nbytes, from, number));
  ++requests;
  CHECK_RETURNS(AM_ERR_IN_USE, AMX_PrepareMedium(endpoint, 0, 8, &again));
  CHECK_RETURNS(AM_ERR_IN_USE, AMX_TryPrepareMedium(endpoint, 0, 8, &again));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AMX_PrepareReplyMedium(&from, 8, &answer));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AMX_PrepareReplyMedium(token, 8, NULL));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AMX_PrepareReplyMedium(token, AM_MaxMedium() + 1, &answer));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AMX_CommitReplyMedium(token, 0, kAnswer, 2, arguments));
  CHECK_OK(AMX_PrepareReplyMedium(token, 16, &answer));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AMX_CommitReplyMedium(token, 17, kAnswer, 2, arguments));
  CHECK_OK(AMX_PrepareReplyMedium(token, AM_MaxMedium(), &answer));
  if (number == 101) return;
  write_block(answer, (size_t)nbytes / 2, rank(), number + 1);
  CHECK_RETURNS(AM_ERR_BAD_ARG, AMX_CommitReplyMedium(token, 8, 0, 0, NULL));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AMX_CommitReplyMedium(token, 8, kAnswer, 2, NULL));
  CHECK_RETURNS(AM_ERR_BAD_ARG,
                AMX_CommitReplyMedium(token, AM_MaxMedium() + 1, kAnswer, 2, arguments));
  CHECK_OK(AMX_CommitReplyMedium(token, (size_t)nbytes / 2, kAnswer, 2, arguments));
  CHECK_RETURNS(AM_ERR_IN_USE, AMX_PrepareReplyMedium(token, 8, &answer));
  CHECK_RETURNS(AM_ERR_IN_USE, AMX_CommitReplyMedium(token, 8, kAnswer, 2, arguments));
}

static void on_answer(void* token, void* buffer, size_t nbytes, int32_t number, int32_t wanted) {
  int from = -1;
  void* answer = NULL;
  CHECK_OK(AMX_GetSourceId(token, &from));
  CHECK_EQ(nbytes, wanted);
  CHECK(is_block(buffer, nbytes, from, number));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AMX_PrepareReplyMedium(token, 8, &answer));
  ++answers;
}

static void start(void) {
  requests = answers = 0;
  set(endpoint, kBlock, (AM_handler_fn_t)on_block);
  set(endpoint, kAnswer, (AM_handler_fn_t)on_answer);
  barrier();
}

static void commit(void* block, size_t nbytes, int number) {
  const int32_t arguments[] = {number, (int32_t)nbytes};
  write_block(block, nbytes, rank(), number);
  CHECK_OK(AMX_CommitMedium(block, nbytes, kBlock, 2, arguments));
}

static void blocks_of_all_sizes_arrive_and_are_answered(void) {
  static const size_t sizes[] = {0, 1, 8, 100, 1000, 4095, 4096};
  const int count = (int)(sizeof sizes / sizeof sizes[0]);
  start();
  for (int to = 0; to < procs(); ++to) {
    for (int i = 0; i < count; ++i) {
      void* block = NULL;
      CHECK_OK(AMX_PrepareMedium(endpoint, to, i % 2 == 0 ? sizes[i] : AM_MaxMedium(), &block));
      CHECK_EQ((uintptr_t)block % 8, 0);
      commit(block, sizes[i], i);
    }
  }
  poll_until(&requests, count * procs());
  poll_until(&answers, count * procs());
  barrier();
  CHECK_EQ(requests, count * procs());
  CHECK_EQ(answers, count * procs());
}

static void trying_never_waits_and_more_can_be_sent_later(void) {
  int sent = 0;
  start();
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 200; ++i) {
      void* block = NULL;
      const int code = AMX_TryPrepareMedium(endpoint, right(), 64, &block);
      if (code == AM_ERR_NOT_SENT) break;
      CHECK_EQ(code, AM_OK);
      commit(block, 64, i % 90);
      ++sent;
    }
    CHECK(sent > 0);
    poll_until(&answers, sent);
  }
  barrier();
  CHECK_EQ(answers, sent);
}

// More often than there are credits.
static void what_is_dropped_is_not_sent_and_holds_nothing(void) {
  void* block = NULL;
  start();
  for (int i = 0; i < 300; ++i) {
    CHECK_OK(AMX_PrepareMedium(endpoint, right(), 4096, &block));
    memset(block, 0xee, 4096);
    CHECK_OK(AMX_DropMedium(block));
  }
  for (int i = 0; i < 40; ++i) {
    CHECK_OK(AMX_PrepareMedium(endpoint, right(), 100, &block));
    commit(block, 100, i % 2 == 0 ? 100 : 101);
  }
  poll_until(&requests, 40);
  poll_until(&answers, 20);
  barrier();
  CHECK_EQ(requests, 40);
  CHECK_EQ(answers, 20);
}

static void misuse_is_refused_and_the_payload_stays(void) {
  void* block = NULL;
  void* other = NULL;
  const int32_t arguments[] = {3, 16};
  int elsewhere = 0;
  start();
  CHECK_RETURNS(AM_ERR_BAD_ARG, AMX_PrepareMedium(NULL, right(), 8, &block));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AMX_PrepareMedium(endpoint, -1, 8, &block));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AMX_PrepareMedium(endpoint, procs() + 5, 8, &block));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AMX_PrepareMedium(endpoint, right(), AM_MaxMedium() + 1, &block));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AMX_TryPrepareMedium(endpoint, right(), 8, NULL));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AMX_CommitMedium(&elsewhere, 4, kBlock, 2, arguments));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AMX_DropMedium(NULL));
  CHECK_OK(AMX_PrepareMedium(endpoint, right(), 16, &block));
  CHECK_RETURNS(AM_ERR_IN_USE, AMX_PrepareMedium(endpoint, left(), 16, &other));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AMX_CommitMedium(&elsewhere, 4, kBlock, 2, arguments));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AMX_CommitMedium(block, 17, kBlock, 2, arguments));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AMX_CommitMedium(block, 16, 0, 2, arguments));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AMX_CommitMedium(block, 16, kBlock, 17, arguments));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AMX_CommitMedium(block, 16, kBlock, 2, NULL));
  commit(block, 16, 3);
  CHECK_RETURNS(AM_ERR_BAD_ARG, AMX_CommitMedium(block, 16, kBlock, 2, arguments));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AMX_DropMedium(block));
  poll_until(&answers, 1);
  barrier();
  CHECK_EQ(requests, 1);
}

static const Case cases[] = {
    {"blocks of all sizes arrive and are answered", blocks_of_all_sizes_arrive_and_are_answered},
    {"trying never waits, and more can be sent later",
     trying_never_waits_and_more_can_be_sent_later},
    {"what is dropped is not sent, and holds nothing",
     what_is_dropped_is_not_sent_and_holds_nothing},
    {"misuse is refused, and the payload stays", misuse_is_refused_and_the_payload_stays},
};

int main(int argc, char** argv) { return RUN_CASES(argc, argv, cases); }
