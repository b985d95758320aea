// Counts the words of a text in C, by Active Messages II as Berkeley has it: each process reads its
// part of the file and sends every word to the process that owns it, in a table that is spread over
// all; at the end each sends its part of the table to process 0 in one transfer.
//
//   ./run -n 4 word_count README.md
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "am/c/am2.h"
#include "am/c/spmd.h"

enum { kWord = 1, kSeen = 2, kPart = 3 };  // handlers, the same in every process
enum { kPlaces = 1 << 16, kLongest = 27 };

typedef struct {
  char word[kLongest + 1];
  int32_t count;  // 0: a free place
} Entry;

static eb_t bundle;
static ep_t endpoint;
static Entry table[kPlaces];  // the words that this process owns
static int used = 0, sent = 0, seen = 0, parts = 0, entries[4096];

static uint32_t hash(const char* word, size_t length) {
  uint32_t h = 2166136261u;
  for (size_t i = 0; i < length; ++i) h = (h ^ (unsigned char)word[i]) * 16777619u;
  return h;
}

// A word has come, which is in the library's memory until this returns.
static void on_word(void* token, void* word, int length) {
  uint32_t place = hash(word, (size_t)length) / 64 % kPlaces;
  while (table[place].count != 0 && (strncmp(table[place].word, word, (size_t)length) != 0 ||
                                     table[place].word[length] != '\0'))
    place = (place + 1) % kPlaces;
  if (table[place].count++ == 0) {
    if (++used == kPlaces) AMX_SPMDExit(1);  // always a free place, or searching would not end
    memcpy(table[place].word, word, (size_t)length);
  }
  AM_Reply0(token, kSeen);
}

static void on_seen(void* token) {
  (void)token;
  ++seen;
}

// At process 0: the part of process `from` is in place.
static void on_part(void* token, void* part, int nbytes, int32_t from) {
  (void)token, (void)part;
  entries[from] = nbytes / (int)sizeof(Entry);
  ++parts;
}

static void check(int code) {
  if (code == AM_OK) return;
  fprintf(stderr, "%s\n", AM_ErrorSentence());
  AMX_SPMDExit(1);
}

// The words that begin in bytes [begin, end) of the file.
static void send_words(FILE* text, long begin, long end) {
  char word[kLongest];
  size_t length = 0;
  int before = ' ';
  fseek(text, begin > 0 ? begin - 1 : 0, SEEK_SET);
  if (begin > 0) before = fgetc(text);
  int mine = !isalpha(before);  // a word that has begun before is another's
  for (long at = begin; begin < end; ++at) {
    const int c = fgetc(text);
    if (isalpha(c)) {
      if (mine && length < kLongest) word[length++] = (char)tolower(c);
      continue;
    }
    if (length > 0) {
      const uint32_t owner = hash(word, length) % 64 % (uint32_t)AMX_SPMDNumProcs();
      check(AM_RequestI0(endpoint, (int)owner, kWord, word, length));
      ++sent;
    }
    if (c == EOF || at + 1 >= end) return;
    length = 0;
    mine = 1;
  }
}

static int by_count(const void* a, const void* b) {
  const Entry *one = a, *other = b;
  if (one->count != other->count) return one->count < other->count ? 1 : -1;
  return strcmp(one->word, other->word);
}

int main(int argc, char** argv) {
  check(AMX_SPMDStartup(&argc, &argv, 0, NULL, &bundle, &endpoint));
  const int me = AMX_SPMDMyProc(), procs = AMX_SPMDNumProcs();
  FILE* text = argc == 2 ? fopen(argv[1], "r") : NULL;
  if (text == NULL || procs > 64) {
    if (me == 0) fprintf(stderr, "usage: word_count FILE (with at most 64 processes)\n");
    AMX_SPMDBarrier();
    AMX_SPMDExit(2);
  }
  check(AM_SetHandler(endpoint, kWord, on_word));
  check(AM_SetHandler(endpoint, kSeen, on_seen));
  check(AM_SetHandler(endpoint, kPart, on_part));
  Entry* all = me == 0 ? calloc((size_t)procs * kPlaces, sizeof(Entry)) : NULL;
  if (me == 0) check(AM_SetSeg(endpoint, all, (size_t)procs * kPlaces * sizeof(Entry)));
  AMX_SPMDBarrier();  // all have their handlers

  fseek(text, 0, SEEK_END);
  const long size = ftell(text);
  send_words(text, size * me / procs, size * (me + 1) / procs);
  fclose(text);
  while (seen < sent) AM_Poll(bundle);
  AMX_SPMDBarrier();  // every word is in its table

  Entry* part = calloc((size_t)used + 1, sizeof(Entry));
  for (int place = 0, i = 0; place < kPlaces; ++place)
    if (table[place].count != 0) part[i++] = table[place];
  check(AM_RequestXfer1(endpoint, 0, (uintptr_t)me * kPlaces * sizeof(Entry), kPart, part,
                        (size_t)used * sizeof(Entry), me));
  free(part);

  if (me == 0) {
    int words = 0, total = 0;
    while (parts < procs) AM_Poll(bundle);
    for (int from = 0; from < procs; ++from)
      for (int i = 0; i < entries[from]; ++i)
        all[words++] = all[(size_t)from * kPlaces + (size_t)i];
    qsort(all, (size_t)words, sizeof(Entry), by_count);
    for (int i = 0; i < words; ++i) total += all[i].count;
    printf("%d words, %d of them different\n", total, words);
    for (int i = 0; i < words && i < 10; ++i) printf("%7d %s\n", all[i].count, all[i].word);
  }
  AMX_SPMDBarrier();
  AMX_SPMDExit(0);
}
