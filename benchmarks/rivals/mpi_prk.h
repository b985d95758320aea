// What the parts of mpi_prk.c have in common.
#pragma once

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

extern int rank, procs;
extern unsigned long sizes[4];  // of the problem, from the command line
extern int turn;                // 0 and 1 alternate from one iteration to the next

// One way of a kernel. What it needs it makes before every repetition, with memory from room_of(),
// which is freed behind it.
struct way {
  const char* name;
  void (*begin)(void);
  void (*iterate)(void);
  double (*found)(double iterations);  // this process's share of the number that is verified
  void (*end)(void);                   // NULL: nothing is to be done
};
// Prints the rate of each, if it is right. `work` is that of all processes in an iteration.
void measure(const struct way* ways, int count, double work, double (*expected)(double iterations));
void* room_of(size_t count, size_t each);  // zeros

struct span {
  size_t begin, end;
};
static inline struct span part_of(size_t n, int parts, int i) {
  return (struct span){n * (size_t)i / (size_t)parts, n * ((size_t)i + 1) / (size_t)parts};
}
static inline size_t length_of(struct span span) { return span.end - span.begin; }

// The most square grid of all processes: `down` is the longer side.
struct tiles {
  int across, down, x, y;  // and the place of this process
};
struct tiles make_tiles(void);

void stencil(void);
void transpose(void);
void synch_p2p(void);
void sparse(void);
void random_access(void);
void dgemm(void);
void reduce(void);
void pic(void);
