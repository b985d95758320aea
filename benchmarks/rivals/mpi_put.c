// BYTES there and back between ranks 0 and 1, by each way that MPI has of doing what a put channel
// does, in turn. Prints a line for each, WAY,BYTES,NS: the least of SAMPLES samples of ITERATIONS
// round trips, fewer where that would be more than kSampleBytes, and fewer samples where they take
// more than kMostMilliseconds.
//
//   send        MPI_Send, MPI_Recv
//   persistent  MPI_Send_init, MPI_Recv_init, MPI_Start, MPI_Wait
//   put         MPI_Put in a window; post, start, complete, wait
//   put_nocheck the same with MPI_MODE_NOCHECK: each post is known to precede its start
//
// Each sends from one buffer and receives into another; nobody looks at the bytes. What can be done
// before the data comes (the next receive, the next post) is done before the answer leaves.
//
// WINDOW: `shared` (MPI_Win_allocate_shared, for processes of one node) or `apart`
// (MPI_Win_allocate). WAYS: how many of them are measured.
//
//   mpicc -O3 -o mpi_put mpi_put.c
//   mpirun -n 2 mpi_put WINDOW WAYS ITERATIONS SAMPLES BYTES...

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  kSampleBytes = 10000000,
  kLeastIterations = 20,
  kWarmUps = 2,
  kMostMilliseconds = 300,
  kWays = 4
};

static int rank;
static char* source;  // what this process sends
static char* target;  // where what it receives goes, in the window
static MPI_Win window;
static MPI_Group other;
static MPI_Request sending, receiving;

static void send(int bytes) { MPI_Send(source, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD); }
static void receive(int bytes) {
  MPI_Recv(target, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void round_trips_by_send(int bytes, int times) {
  for (int i = 0; i < times; ++i) {
    if (rank == 0) send(bytes);
    receive(bytes);
    if (rank == 1) send(bytes);
  }
}

// The first receive has been started.
static void round_trips_by_persistent(int bytes, int times) {
  (void)bytes;
  for (int i = 0; i < times; ++i) {
    if (rank == 0) MPI_Start(&sending);
    MPI_Wait(&receiving, MPI_STATUS_IGNORE);
    if (i + 1 < times) MPI_Start(&receiving);
    if (rank == 1) MPI_Start(&sending);
    MPI_Wait(&sending, MPI_STATUS_IGNORE);
  }
}

static void put(int bytes, int assertion) {
  MPI_Win_start(other, assertion, window);
  MPI_Put(source, bytes, MPI_BYTE, 1 - rank, 0, bytes, MPI_BYTE, window);
  MPI_Win_complete(window);
}

// The first post has been made, and both processes know it.
static void round_trips_by_put(int bytes, int times, int assertion) {
  for (int i = 0; i < times; ++i) {
    if (rank == 0) put(bytes, assertion);
    MPI_Win_wait(window);
    if (i + 1 < times) MPI_Win_post(other, assertion, window);
    if (rank == 1) put(bytes, assertion);
  }
}

static double sample_ns(int way, int bytes, int times) {
  const int assertion = way == 3 ? MPI_MODE_NOCHECK : 0;
  if (way == 1) {
    MPI_Send_init(source, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, &sending);
    MPI_Recv_init(target, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, &receiving);
    MPI_Start(&receiving);
  } else if (way > 1) {
    MPI_Win_post(other, assertion, window);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  if (way == 0) {
    round_trips_by_send(bytes, times);
  } else if (way == 1) {
    round_trips_by_persistent(bytes, times);
  } else {
    round_trips_by_put(bytes, times, assertion);
  }
  const double seconds = MPI_Wtime() - start;
  if (way == 1) {
    MPI_Request_free(&sending);
    MPI_Request_free(&receiving);
  }
  return seconds / times * 1e9;
}

static int iterations_for(int bytes, int wanted) {
  int most = kSampleBytes / bytes;
  if (most < kLeastIterations) most = kLeastIterations;
  return wanted < most ? wanted : most;
}

static void open_window(int shared, int bytes) {
  if (shared) {
    MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &target, &window);
  } else {
    MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &target, &window);
  }
  memset(target, 1, (size_t)bytes);
  if (posix_memalign((void**)&source, 4096, (size_t)bytes) != 0) MPI_Abort(MPI_COMM_WORLD, 1);
  memset(source, 1, (size_t)bytes);
  MPI_Group all;
  const int peer = 1 - rank;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, 1, &peer, &other);
  MPI_Group_free(&all);
}

static void measure(int bytes, int ways, int iterations, int samples) {
  static const char* const names[kWays] = {"send", "persistent", "put", "put_nocheck"};
  const int times = iterations_for(bytes, iterations);
  double least[kWays], spent[kWays] = {0};
  for (int sample = 0; sample < samples; ++sample) {
    for (int way = 0; way < ways; ++way) {
      int more = spent[way] * 1e3 < kMostMilliseconds;  // as rank 0 sees it
      MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
      if (!more) continue;
      const double start = MPI_Wtime();
      sample_ns(way, bytes, kWarmUps);
      const double ns = sample_ns(way, bytes, times);
      if (sample == 0 || ns < least[way]) least[way] = ns;
      spent[way] += MPI_Wtime() - start;
    }
  }
  if (rank != 0) return;
  for (int way = 0; way < ways; ++way) printf("%s,%d,%.1f\n", names[way], bytes, least[way]);
  fflush(stdout);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int size, numbers[64], count = 0, sound = argc > 5, largest = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 2; i < argc && count < 64; ++i) {
    numbers[count] = atoi(argv[i]);
    if (numbers[count] < 1) sound = 0;
    if (i > 4 && numbers[count] > largest) largest = numbers[count];
    ++count;
  }
  if (!sound || size != 2 || numbers[0] > kWays) {
    if (rank == 0) {
      fprintf(stderr, "mpi_put: 2 processes, WINDOW WAYS ITERATIONS SAMPLES BYTES...\n");
    }
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  open_window(strcmp(argv[1], "shared") == 0, largest);
  for (int i = 3; i < count; ++i) measure(numbers[i], numbers[0], numbers[1], numbers[2]);
  MPI_Win_free(&window);
  MPI_Group_free(&other);
  free(source);
  MPI_Finalize();
  return 0;
}
