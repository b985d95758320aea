// One parcel of values from each process to each that has ghosts of some, by MPI. Who needs which
// is found out once; then every exchange is one message to each neighbour, by requests that were
// made once, or one MPI_Neighbor_alltoallv. Parcels arrive in the order of the ghosts: unpacked.
#pragma once

#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>

// Where a value is: its index at the process that owns it. Ordered by owner.
struct place {
  int owner;
  int index;
};

// The neighbours on one end, each with what it sends or gets: so many values from a position on.
struct ends {
  int many;
  int *rank, *count, *at;
};

struct parcels {
  struct ends in, out;
  int values;   // in all parcels that are sent
  int* wanted;  // the index of each
  double *packed, *ghosts;
  MPI_Request *receives, *sends;
  MPI_Comm graph;  // of these neighbours
};

static int compare_places(const void* a, const void* b) {
  const struct place *const x = a, *const y = b;
  if (x->owner != y->owner) return x->owner < y->owner ? -1 : 1;
  return (x->index > y->index) - (x->index < y->index);
}

// Sorts them, drops those that are there twice, and returns how many are left.
static int sort_places(struct place* places, int many) {
  int left = 0;
  qsort(places, (size_t)many, sizeof *places, compare_places);
  for (int i = 0; i < many; ++i) {
    if (left == 0 || compare_places(&places[left - 1], &places[i]) != 0) places[left++] = places[i];
  }
  return left;
}
static int find_place(const struct place* places, int many, struct place place) {
  const struct place* const found =
      bsearch(&place, places, (size_t)many, sizeof place, compare_places);
  return (int)(found - places);
}

static void* room_for(size_t count, size_t each) {
  void* const room = calloc(count + 1, each);
  if (room == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  return room;
}

// Those processes whose count is not 0. Sets at[p] of all processes.
static struct ends make_ends(const int* count, int procs, int* at) {
  struct ends ends = {0, room_for((size_t)procs, sizeof(int)), room_for((size_t)procs, sizeof(int)),
                      room_for((size_t)procs, sizeof(int))};
  int next = 0;
  for (int p = 0; p < procs; ++p) {
    at[p] = next;
    if (count[p] > 0) {
      ends.rank[ends.many] = p;
      ends.count[ends.many] = count[p];
      ends.at[ends.many++] = next;
    }
    next += count[p];
  }
  return ends;
}

// Collective. This process needs the values at `many` sorted places of other processes in `ghosts`,
// in that order.
static void make_parcels(struct parcels* all, const struct place* places, int many,
                         double* ghosts) {
  int procs;
  MPI_Comm_size(MPI_COMM_WORLD, &procs);
  int* const needed = room_for((size_t)procs, sizeof(int));
  int* const wanted = room_for((size_t)procs, sizeof(int));
  int* const in_at = room_for((size_t)procs, sizeof(int));
  int* const out_at = room_for((size_t)procs, sizeof(int));
  int* const index = room_for((size_t)many, sizeof(int));
  for (int i = 0; i < many; ++i) {
    ++needed[places[i].owner];
    index[i] = places[i].index;
  }
  MPI_Alltoall(needed, 1, MPI_INT, wanted, 1, MPI_INT, MPI_COMM_WORLD);
  all->in = make_ends(needed, procs, in_at);
  all->out = make_ends(wanted, procs, out_at);
  all->values = out_at[procs - 1] + wanted[procs - 1];
  all->wanted = room_for((size_t)all->values, sizeof(int));
  MPI_Alltoallv(index, needed, in_at, MPI_INT, all->wanted, wanted, out_at, MPI_INT,
                MPI_COMM_WORLD);
  free(needed), free(wanted), free(in_at), free(out_at), free(index);

  MPI_Comm comm;  // of its own: the messages of two exchanges may be in flight together
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  all->packed = room_for((size_t)all->values, sizeof(double));
  all->ghosts = ghosts;
  all->receives = room_for((size_t)all->in.many, sizeof(MPI_Request));
  all->sends = room_for((size_t)all->out.many, sizeof(MPI_Request));
  for (int i = 0; i < all->in.many; ++i) {
    MPI_Recv_init(ghosts + all->in.at[i], all->in.count[i], MPI_DOUBLE, all->in.rank[i], 0, comm,
                  &all->receives[i]);
  }
  for (int i = 0; i < all->out.many; ++i) {
    MPI_Send_init(all->packed + all->out.at[i], all->out.count[i], MPI_DOUBLE, all->out.rank[i], 0,
                  comm, &all->sends[i]);
  }
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, all->in.many, all->in.rank, MPI_UNWEIGHTED,
                                 all->out.many, all->out.rank, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                 &all->graph);
}

static void pack_parcels(struct parcels* all, const double* values) {
  for (int i = 0; i < all->values; ++i) all->packed[i] = values[all->wanted[i]];
}

// --- By requests. The receives of an exchange are started before its messages can come.

static void start_receives(struct parcels* all) { MPI_Startall(all->in.many, all->receives); }
static void start_sends(struct parcels* all, const double* values) {
  pack_parcels(all, values);
  MPI_Startall(all->out.many, all->sends);
}
static void wait_for_receives(struct parcels* all) {
  MPI_Waitall(all->in.many, all->receives, MPI_STATUSES_IGNORE);
}
static void wait_for_sends(struct parcels* all) {
  MPI_Waitall(all->out.many, all->sends, MPI_STATUSES_IGNORE);
}
// Those that were started and that nobody will send to.
static void cancel_receives(struct parcels* all) {
  for (int i = 0; i < all->in.many; ++i) MPI_Cancel(&all->receives[i]);
  wait_for_receives(all);
}

// --- By one call

static inline void exchange_parcels(struct parcels* all, const double* values) {
  pack_parcels(all, values);
  MPI_Neighbor_alltoallv(all->packed, all->out.count, all->out.at, MPI_DOUBLE, all->ghosts,
                         all->in.count, all->in.at, MPI_DOUBLE, all->graph);
}
