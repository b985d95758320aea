// Small items for any process, by MPI: they are put into a parcel for each, and in a round all
// processes exchange their parcels by MPI_Alltoallv. Its displacements are those of the parcels, so
// nothing is sorted or packed. The numbers of items, which go before by MPI_Alltoall, also say
// which processes have more to send: the last round is that in which none has.
#pragma once

#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { kRoom = 16384 };  // items of a parcel

struct rounds {
  int procs;
  size_t words;  // of 32 bits, of an item
  MPI_Datatype type;
  uint32_t *out, *in;
  int *out_count, *out_at, *in_count, *in_at;
  int *said, *heard;  // to and from each process: how many items, and whether there will be more
};

static void make_rounds(struct rounds* all, size_t words) {
  MPI_Comm_size(MPI_COMM_WORLD, &all->procs);
  const size_t procs = (size_t)all->procs;
  all->words = words;
  MPI_Type_contiguous((int)words, MPI_UINT32_T, &all->type);
  MPI_Type_commit(&all->type);
  all->out = malloc(procs * kRoom * words * sizeof(uint32_t));
  all->in = malloc(procs * kRoom * words * sizeof(uint32_t));
  int* const numbers = calloc(6 * procs, sizeof(int));
  if (all->out == NULL || all->in == NULL || numbers == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  all->out_count = numbers, all->out_at = numbers + procs;
  all->in_count = numbers + 2 * procs, all->in_at = numbers + 3 * procs;
  all->said = numbers + 4 * procs, all->heard = numbers + 5 * procs;
  for (int p = 0; p < all->procs; ++p) all->out_at[p] = p * kRoom;
}
static inline void free_rounds(struct rounds* all) {
  MPI_Type_free(&all->type);
  free(all->out), free(all->in), free(all->out_count);
}

static inline int parcel_is_full(const struct rounds* all, int to) {
  return all->out_count[to] == kRoom;
}
// The place of the next item for a process whose parcel is not full.
static inline uint32_t* next_item(struct rounds* all, int to) {
  return all->out + ((size_t)to * kRoom + (size_t)all->out_count[to]++) * all->words;
}

// Collective: what has arrived is in `in`, as many items as it returns, those of process p from
// in_at[p] on. `more` is whether this process will have more to send, and becomes whether any
// process will. The parcels are full still; empty_parcels() empties them.
static int exchange_parcels_of(struct rounds* all, int* more) {
  int total = 0;
  for (int p = 0; p < all->procs; ++p) all->said[p] = 2 * all->out_count[p] + *more;
  MPI_Alltoall(all->said, 1, MPI_INT, all->heard, 1, MPI_INT, MPI_COMM_WORLD);
  for (int p = 0; p < all->procs; ++p) {
    *more |= all->heard[p] & 1;
    all->in_count[p] = all->heard[p] / 2;
    all->in_at[p] = total;
    total += all->in_count[p];
  }
  MPI_Alltoallv(all->out, all->out_count, all->out_at, all->type, all->in, all->in_count,
                all->in_at, all->type, MPI_COMM_WORLD);
  return total;
}
static void empty_parcels(struct rounds* all) {
  memset(all->out_count, 0, sizeof(int) * (size_t)all->procs);
}
