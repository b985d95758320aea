// What a job asks of MPI: the out-of-band collectives of am::OutOfBand over a communicator.
// Compiled by programs that include splitc/with_mpi.h, and by nothing in the library.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>

#include "am/job/job.h"
#include "splitc/world/place.h"

namespace splitc::detail {

inline bool mpi_is_initialized() {
  int flag = 0;
  MPI_Initialized(&flag);
  return flag != 0;
}
inline bool mpi_is_finalized() {
  int flag = 0;
  MPI_Finalized(&flag);
  return flag != 0;
}

// One job's duplicate of a communicator, which ends with the job or in MPI_Finalize. All but
// abort() is called by the thread that made it.
class MpiGroup {
 public:
  // Collective over `comm`, which check_mpi() has accepted.
  explicit MpiGroup(MPI_Comm comm) {
    check(MPI_Comm_dup(comm, &comm_), "MPI_Comm_dup");
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
    // MPI_Finalize begins with the deletion of what is attached to MPI_COMM_SELF.
    check(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &on_delete, &keyval_, nullptr),
          "MPI_Comm_create_keyval");
    check(MPI_Comm_set_attr(MPI_COMM_SELF, keyval_, this), "MPI_Comm_set_attr");
  }
  ~MpiGroup() { release(); }
  MpiGroup(const MpiGroup&) = delete;
  MpiGroup& operator=(const MpiGroup&) = delete;

  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }

  void allgather(const void* mine, std::size_t bytes, void* all) {
    want_mpi("what processes exchange (Job::exchange, connect)");
    const int count = static_cast<int>(bytes);
    check(MPI_Allgather(mine, count, MPI_BYTE, all, count, MPI_BYTE, comm_), "MPI_Allgather");
  }
  void barrier() {
    want_mpi("a job across nodes, to end");
    check(MPI_Barrier(comm_), "MPI_Barrier");
  }
  void release() {
    if (comm_ == MPI_COMM_NULL) return;
    ending_ = true;
    MPI_Comm_delete_attr(MPI_COMM_SELF, keyval_);
    leave();
  }

 private:
  static int on_delete(MPI_Comm, int, void* group, void*) {
    auto& self = *static_cast<MpiGroup*>(group);
    if (!self.ending_) self.mpi_ends();
    return MPI_SUCCESS;
  }
  void mpi_ends() {
    if (has_far_peers()) {
      am::Job::abort({}, 1,
                     who() +
                         "MPI_Finalize: the Split-C job over MPI is running, and has processes "
                         "on other nodes, so it needs MPI at its end; end it before "
                         "(run_with_mpi returns, MpiJob::finish)");
    }
    leave();
  }
  void leave() {
    MPI_Comm_free_keyval(&keyval_);
    MPI_Comm_free(&comm_);
    comm_ = MPI_COMM_NULL;
  }
  void want_mpi(const std::string& what) const {
    if (comm_ != MPI_COMM_NULL) return;
    throw am::Error(who() + "MPI_Finalize was called during the job, and " + what +
                    ", needs MPI; do it before MPI_Finalize");
  }
  void check(int status, const char* call) const {
    if (status == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(status, text, &length);
    throw am::Error(who() + call + ": " + text +
                    "; a process of the communicator has died, or MPI is out of resources");
  }
  std::string who() const { return "rank " + std::to_string(rank_) + ": "; }

  MPI_Comm comm_ = MPI_COMM_NULL;  // MPI_COMM_NULL: has ended
  int keyval_ = MPI_KEYVAL_INVALID;
  int rank_ = 0;
  int size_ = 1;
  bool ending_ = false;  // by release(), not by MPI_Finalize
};

// Throws Error unless `call` may begin a job over `comm`. Does not wait.
inline void check_mpi(MPI_Comm comm, const std::string& call) {
  const std::string remedy = "; call " + call + " between MPI_Init and MPI_Finalize";
  if (mpi_is_finalized()) throw am::Error(call + ": MPI_Finalize was called already" + remedy);
  if (!mpi_is_initialized()) {
    throw am::Error(call + ": MPI is not initialised" + remedy +
                    ", or run_with_mpi(argc, argv, program), which initialises it");
  }
  int threads = MPI_THREAD_SINGLE;
  int is_main = 0;
  MPI_Query_thread(&threads);
  MPI_Is_thread_main(&is_main);
  if (threads < MPI_THREAD_SERIALIZED && is_main == 0) {
    throw am::Error(call +
                    ": called by another thread than the one that initialised MPI, without "
                    "MPI_THREAD_SERIALIZED; call it there, or ask MPI_Init_thread for more");
  }
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::string who = "rank " + std::to_string(rank) + " of MPI_COMM_WORLD: " + call + ": ";
  if (comm == MPI_COMM_NULL) {
    throw am::Error(who +
                    "the communicator is MPI_COMM_NULL, as MPI_Comm_split gives it with "
                    "MPI_UNDEFINED; only members of a communicator may begin a job on it");
  }
  int is_inter = 0;
  MPI_Comm_test_inter(comm, &is_inter);
  if (is_inter != 0) {
    throw am::Error(who +
                    "this is an inter-communicator, whose two groups have no common ranks; "
                    "merge them before (MPI_Intercomm_merge)");
  }
}

// A duplicate of `comm`, of which the others wait already: an error ends this process.
inline std::shared_ptr<MpiGroup> make_group(MPI_Comm comm) {
  try {
    return std::make_shared<MpiGroup>(comm);
  } catch (const std::exception& error) {
    am::Job::abort({}, 1, error.what());
  }
}

// What brings a job together over a duplicate of `comm`. Collective. Throws Error as check_mpi().
inline am::OutOfBand meet_by_mpi(MPI_Comm comm, const std::string& call) {
  check_mpi(comm, call);
  const auto group = make_group(comm);
  return {.name = "MPI",
          .rank = static_cast<am::Rank>(group->rank()),
          .size = static_cast<std::uint32_t>(group->size()),
          .allgather = [group](const void* mine, std::size_t bytes,
                               void* all) { group->allgather(mine, bytes, all); },
          .barrier = [group] { group->barrier(); },
          .release = [group] { group->release(); },
          // Not by MPI_Abort, which may wait for ever for processes that are not in MPI (MPICH
          // 4.0.2): launchers of MPI end all when a process leaves with another exit code than 0.
          .abort = {}};
}

}  // namespace splitc::detail
