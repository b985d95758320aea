// What is known of a machine and of a job: plain values, gathered by tools/doctor/facts, or made up
// by a test.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rdma/choose.h"
#include "rdma/interface.h"

namespace am::doctor {

inline constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

// The job for which the machine is to be good. 0: not known.
struct JobShape {
  std::uint32_t processes = 0;  // of all nodes
  std::uint32_t nodes = 0;      // that they are on, pretended ones among them
  std::uint32_t near = 0;       // processes of this node
  std::uint32_t here = 0;       // processes of this machine

  // They pretend to be on several nodes, or are on one.
  bool one_machine() const { return processes != 0 && here == processes; }
};

struct SharedMemoryFacts {
  std::string memfd_refusal = {};   // why memfd_create fails; "": it works
  std::string region_refusal = {};  // why a segment cannot be made; "": one was
  std::string node_refusal = {};    // why this node cannot be told from others; "": it can
  bool mounted = false;             // there is a /dev/shm
  std::uint64_t bytes = 0;          // size of its file system
  std::uint64_t free_bytes = 0;
  std::uint64_t segment_bytes = 0;  // SPLITC_SEGMENT
};

struct MemoryFacts {
  std::uint64_t segment_bytes = 0;
  std::optional<std::uint64_t> available_bytes = {};  // MemAvailable; none: it cannot be read
  std::optional<std::uint64_t> cgroup_bytes = {};  // what the cgroup's limit leaves; none: no limit
  std::optional<std::uint64_t> commit_bytes = {};  // left, where overcommit is strict
  std::uint64_t file_bytes = kUnlimited;           // RLIMIT_FSIZE
  std::uint64_t address_space_bytes = kUnlimited;  // RLIMIT_AS
};

struct MemlockFacts {
  std::uint64_t soft_bytes = 0;  // RLIMIT_MEMLOCK
  std::uint64_t hard_bytes = 0;
  bool privileged = false;    // CAP_IPC_LOCK: the limit does not hold
  std::string provider = {};  // that would be used between nodes; "": none
  bool hardware = false;      // it pins the memory that it reads and writes
  std::uint64_t segment_bytes = 0;
};

struct OpenFilesFacts {
  std::uint64_t soft = 0;  // RLIMIT_NOFILE
  std::uint64_t hard = 0;
  std::uint64_t open = 0;  // now, by a process of the job that has opened nothing yet
};

struct LeftoverFile {
  std::string name = {};  // in /dev/shm
  std::uint64_t bytes = 0;
  std::int32_t pid = 0;  // of the process that made it
  bool in_use = false;   // that process lives and has the file mapped
};
struct LeftoverFacts {
  bool listed = false;                   // /dev/shm could be read
  std::uint32_t others = 0;              // files there that are not of this kind
  std::vector<LeftoverFile> files = {};  // of libfabric's provider shm
};

// One process has read a word of another, both children of a third as the processes of a job are.
struct CrossMemoryFacts {
  bool wanted = true;                    // SPLITC_CROSS_MEMORY is not off
  bool tried = false;                    // two processes could be started
  int error = 0;                         // errno of process_vm_readv; 0: the word was read
  std::optional<int> ptrace_scope = {};  // kernel.yama.ptrace_scope; none: no such security module
};

struct UserfaultFacts {
  std::string refusal = {};  // "": unmapped memory is reported
  bool hardware = false;     // the provider that would be used registers by hardware
};

struct MembarrierFacts {
  bool enrolled = false;
};

struct ClockFacts {
  std::string source = {};                  // the kernel's current clocksource; "": it does not say
  std::vector<std::string> available = {};  // others that it has
  double read_ns = 0;  // what reading the clock takes, the best of several times
};

struct CoresFacts {
  std::uint32_t online = 0;  // processors of the machine
  std::vector<int> allowed =
      {};              // those on which the processes of the job here, or this one, may run
  unsigned quota = 0;  // processors' worth of time that the cgroup gives; 0: no limit
  bool spins = false;  // SPLITC_WAIT=spin
  std::vector<std::vector<int>> bound =
      {};                                 // by process of the job here: where it may run; or empty
  std::vector<std::uint32_t> ranks = {};  // of these processes
};

// Versions of libfabric, as it says them itself: without the third number.
constexpr std::uint32_t version_of(std::uint32_t major, std::uint32_t minor) {
  return major << 16 | minor;
}

std::string version_text(std::uint32_t version);  // "1.17"

struct NetworkFacts {
  std::uint32_t version = 0;    // of libfabric: major << 16 | minor; 0: not known
  std::string load_error = {};  // why libfabric cannot be loaded or cannot list
  std::string failure = {};     // how it has failed: "crashed (SIGSEGV)", ..; "": it has not
  std::string said = {};        // by libfabric meanwhile, on standard error
  std::vector<rdma::Offer> offers = {};
  std::vector<rdma::Interface> interfaces = {};
  rdma::FabricOptions options = {};
  std::string opened = {};          // what the one that was chosen says of itself
  std::string open_error = {};      // why it could not be opened
  double listing_s = 0;             // what the first listing took
  std::uint64_t listing_bytes = 0;  // that it has read from files
  bool has_verbs = false;           // its verbs provider is loaded
  std::vector<std::pair<std::string, std::string>> variables =
      {};  // FI_ variables of the environment
};

struct Program {
  std::string name = {};
  std::string path = {};  // "": not found
};
struct LaunchersFacts {
  std::vector<Program> programs = {};  // that can start jobs
  std::string splitcrun_beside = {};  // path of the splitcrun installed with this program; "": none
  std::string pmix_refusal = {};      // why libpmix cannot be loaded; "": it can
  std::string sodium_refusal = {};    // likewise libsodium
  bool sodium_needed = false;         // by the job as it is set up
};

struct SettingsFacts {
  // Variables of the library with their values, but those that say which process this is.
  std::vector<std::pair<std::string, std::string>> set = {};
  std::string refusal = {};  // why a job would refuse them
};

// How the start of the job went that this process is part of.
struct StartFacts {
  bool tried = false;         // there is such a job
  std::string launcher = {};  // that started it, as far as known
  std::string error = {};     // "": it has started
};

struct Facts {
  JobShape job;
  SharedMemoryFacts shared_memory;
  MemoryFacts memory;
  MemlockFacts memlock;
  OpenFilesFacts open_files;
  LeftoverFacts leftovers;
  CrossMemoryFacts cross_memory;
  UserfaultFacts userfault;
  MembarrierFacts membarrier;
  ClockFacts clock;
  CoresFacts cores;
  NetworkFacts network;
  LaunchersFacts launchers;
  SettingsFacts settings;
  StartFacts start;
};

}  // namespace am::doctor
