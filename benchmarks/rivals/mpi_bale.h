// What the parts of mpi_bale.c have in common.
#pragma once

#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>

#include "examples/bale/input.h"
#include "mpi_rounds.h"

static const uint64_t kSeed = 1;
extern uint32_t rank, procs, size, degree;  // size: of each process

struct kernel {
  const char* name;
  size_t words;  // of an item
  void (*make)(void);
  void (*run)(struct rounds* rounds);
  uint64_t (*answer)(void);
  uint64_t (*updates)(void);
};
enum { kMatrixKernels = 3 };
extern const struct kernel matrix_kernels[kMatrixKernels];

static inline void* room_for(size_t count, size_t each) {
  void* const room = calloc(count + 1, each);
  if (room == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  return room;
}
static inline uint64_t sum_of_all(uint64_t mine) {
  uint64_t all;
  MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return all;
}
static inline uint32_t owner(uint32_t index) { return index % procs; }
static inline uint32_t local(uint32_t index) { return index / procs; }
static inline uint32_t global(uint32_t local_index) { return local_index * procs + rank; }
