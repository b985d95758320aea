// One program for all cases of mpi_test.sh: mpi_program CASE. A case that is to succeed prints
// "process P of N agrees" on each process for every job: results of the global address space are
// the same as those of MPI over the same values.
#include <mpi.h>
#include <signal.h>

#include <cstdio>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "am/am.h"
#include "splitc/splitc.h"
#include "splitc/with_mpi.h"

namespace {

// What MPI says of one job's processes, gathered where MPI may be called.
struct Expected {
  int rank = 0;
  int size = 1;
  long sum = 0;
  std::vector<int> world;  // ranks in MPI_COMM_WORLD
};

long value_of(int world_rank) { return 1000 + 7L * world_rank * world_rank; }

Expected ask_mpi(MPI_Comm comm) {
  Expected expected;
  int world = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &world);
  MPI_Comm_rank(comm, &expected.rank);
  MPI_Comm_size(comm, &expected.size);
  const long mine = value_of(world);
  MPI_Allreduce(&mine, &expected.sum, 1, MPI_LONG, MPI_SUM, comm);
  expected.world.resize(expected.size);
  MPI_Allgather(&world, 1, MPI_INT, expected.world.data(), 1, MPI_INT, comm);
  return expected;
}

void want(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(std::string("differs from MPI: ") + what);
}

// Global pointers, collectives, messages and atomics in the running job.
void compare(const Expected& expected) {
  want(int(splitc::my_proc()) == expected.rank, "rank");
  want(int(splitc::procs()) == expected.size, "size");
  const int me = expected.rank;
  const int next = (me + 1) % expected.size;
  const int before = (me + expected.size - 1) % expected.size;
  {
    splitc::spread_array<long> box(splitc::procs());
    box[next] = value_of(expected.world[me]);
    splitc::barrier();
    want(long(box[me]) == value_of(expected.world[before]), "what the neighbour wrote");
    splitc::barrier();
    box[me] = 0;
    splitc::barrier();
    splitc::fetch_and_add(&box[0], value_of(expected.world[me]));
    splitc::barrier();
    want(long(box[0]) == expected.sum, "sum by atomics");
    splitc::barrier();
    splitc::store(&box[next], long{me});
    splitc::all_store_sync();
    want(long(box[me]) == before, "what was stored");
  }
  want(splitc::all_reduce(value_of(expected.world[me]), std::plus()) == expected.sum, "sum");
  splitc::barrier();  // MPI may wait behind it: nobody needs this process any more
}

void agrees() {
  std::printf("process %u of %u agrees\n", splitc::my_proc(), splitc::procs());
  std::fflush(stdout);
}

struct Main {
  int argc;
  char** argv;

  int job(MPI_Comm comm) const {
    const Expected expected = ask_mpi(comm);
    return splitc::run_with_mpi(comm, argc, argv, [&](splitc::Args) {
      compare(expected);
      // MPI in the middle of the job, over the same processes.
      compare(ask_mpi(comm));
      agrees();
    });
  }
};

// A part of the world.
MPI_Comm part(int color, int key) {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, color, key, &comm);
  return comm;
}

int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

// The cases that have called MPI_Init, and call MPI_Finalize behind unless that has happened.
int initialized(const Main& main, const std::string& which) {
  const int me = world_rank();
  if (which == "world") return main.job(MPI_COMM_WORLD);
  if (which == "alternate") return main.job(part(me % 2, 0));  // ranks 0 2 4, and 1 3
  if (which == "reversed") return main.job(part(0, -me));
  if (which == "alone") return main.job(MPI_COMM_SELF);
  if (which == "some") {
    MPI_Comm comm = part(me > 1 ? 0 : MPI_UNDEFINED, me);
    const int code = comm == MPI_COMM_NULL ? 0 : main.job(comm);
    MPI_Barrier(MPI_COMM_WORLD);
    return code;
  }
  if (which == "again") {
    for (int round = 0; round < 5; ++round) {
      MPI_Comm comm = round % 2 == 0 ? MPI_COMM_WORLD : part(me % 2, round - me);
      if (main.job(comm) != 0) return 1;
    }
    return 0;
  }
  if (which == "object") {
    const Expected expected = ask_mpi(MPI_COMM_WORLD);
    for (int round = 0; round < 2; ++round) {
      splitc::MpiJob job(MPI_COMM_WORLD);
      compare(expected);
      agrees();
      if (round == 0) job.finish();
    }
    return 0;
  }
  if (which == "finalize-inside" || which == "finalize-then-channel") {
    const Expected expected = ask_mpi(MPI_COMM_WORLD);
    splitc::MpiJob job(MPI_COMM_WORLD);
    compare(expected);
    splitc::barrier();
    MPI_Finalize();
    compare(expected);
    if (which == "finalize-then-channel") {
      am::Endpoint second(splitc::world().bundle());
      splitc::world().job().connect(second, 2);
    }
    agrees();
    job.finish();
    return 0;
  }
  if (which == "null") {
    return splitc::run_with_mpi(MPI_COMM_NULL, main.argc, main.argv, [](splitc::Args) {});
  }
  if (which == "other-thread") {
    int code = 0;
    std::thread([&] {
      code = splitc::run_with_mpi(MPI_COMM_SELF, main.argc, main.argv, [](splitc::Args) {});
    }).join();
    return code;
  }
  if (which == "nested") {
    return splitc::run_with_mpi(MPI_COMM_WORLD, main.argc, main.argv,
                                [&](splitc::Args) { main.job(MPI_COMM_WORLD); });
  }
  if (which == "throws") {
    return splitc::run_with_mpi(MPI_COMM_WORLD, main.argc, main.argv, [&](splitc::Args) {
      if (me == 1) throw std::runtime_error("nothing left to do");
      splitc::barrier();
    });
  }
  if (which == "object-throws") {
    try {
      splitc::MpiJob job(MPI_COMM_WORLD);
      if (me == 1) throw std::runtime_error("nothing left to do");
      splitc::barrier();
      job.finish();
    } catch (const std::exception&) {
    }
    return 0;
  }
  if (which == "dies-before") {
    if (me == 1) raise(SIGKILL);
    return main.job(MPI_COMM_WORLD);
  }
  if (which == "dies-inside") {
    return splitc::run_with_mpi(MPI_COMM_WORLD, main.argc, main.argv, [&](splitc::Args) {
      if (me == 1) raise(SIGKILL);
      splitc::barrier();
    });
  }
  if (which == "leaves") {
    return splitc::run_with_mpi(MPI_COMM_WORLD, main.argc, main.argv, [&](splitc::Args) {
      if (me == 1) exit(0);
      splitc::barrier();
    });
  }
  if (which == "cannot-join") {  // its settings differ from those of the others
    if (me == 1) setenv("SPLITC_SEGMENT", "1M", 1);
    return main.job(MPI_COMM_WORLD);
  }
  if (which == "bad-setting") {
    if (me == 1) setenv("SPLITC_SEGMENT", "much", 1);
    return main.job(MPI_COMM_WORLD);
  }
  std::fprintf(stderr, "no case %s\n", which.c_str());
  return 2;
}

// The ways without the header.
int plain_run(const Main& main, bool init, bool finalize) {
  return splitc::run(main.argc, main.argv, [&](splitc::Args) {
    if (init) MPI_Init(nullptr, nullptr);
    if (init) compare(ask_mpi(MPI_COMM_WORLD));
    if (finalize) MPI_Finalize();
    splitc::barrier();
    agrees();
  });
}

}  // namespace

int main(int argc, char** argv) {
  const Main main{argc, argv};
  const std::string which = argc > 1 ? argv[1] : "";
  int code = 0;
  if (which == "library-initializes") {
    return splitc::run_with_mpi(argc, argv, [&](splitc::Args) {
      compare(ask_mpi(MPI_COMM_WORLD));
      agrees();
    });
  }
  if (which == "no-init") {
    return splitc::run_with_mpi(MPI_COMM_WORLD, argc, argv, [](splitc::Args) {});
  }
  if (which == "too-late") {
    MPI_Init(&argc, &argv);
    MPI_Finalize();
    return splitc::run_with_mpi(MPI_COMM_WORLD, argc, argv, [](splitc::Args) {});
  }
  if (which == "plain-behind-finalize") {
    MPI_Init(&argc, &argv);
    MPI_Finalize();
    return plain_run(main, false, false);
  }
  if (which == "plain-without-init") return plain_run(main, false, false);
  if (which == "plain-init-inside") {
    code = plain_run(main, true, false);
  } else if (which == "plain-finalize-inside") {
    return plain_run(main, true, true);
  } else if (which == "plain-then-init") {
    code = plain_run(main, false, false);
    if (code == 0) code = plain_run(main, false, false);
    MPI_Init(&argc, &argv);
    const Expected expected = ask_mpi(MPI_COMM_WORLD);
    std::printf("MPI has %d processes\n", expected.size);
  } else {
    int provided = 0;
    if (which == "multiple") {
      MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    } else {
      MPI_Init(&argc, &argv);
    }
    code = which == "multiple"    ? main.job(MPI_COMM_WORLD)
           : which == "plain-run" ? plain_run(main, false, false)
                                  : initialized(main, which);
  }
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (!finalized) MPI_Finalize();
  return code;
}
