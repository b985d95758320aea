// am/job/config: the settings of a job from outside: environment variables, of which this is the
// one table (no other file reads the environment), and what splitcrun passes (control.h). It uses
// am/types, am/observe/activity.h, am/link/datagram/faults.h and am/collective/limits.h. Nothing
// in it acts.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "am/collective/limits.h"
#include "am/job/config/out_of_band.h"
#include "am/link/datagram/faults.h"
#include "am/types/types.h"

namespace am {

// The version of Splitphase that people see. What the processes of a job must agree on has numbers
// of its own: Control::kVersion and Card::kVersion.
inline constexpr std::string_view kVersion = "0.8";

inline constexpr std::string_view kSettingPrefix = "SPLITC_";  // of all their names

// One row of the table.
struct Setting {
  std::string_view name;
  std::string_view kind;  // the form of a value, with its unit
  std::string_view default_value;
  std::string_view sentence;
  bool internal = false;  // set by splitcrun for its processes, never by a person
};

// Where the processes of a job meet that no launcher starts (SPLITC_RENDEZVOUS).
struct Rendezvous {
  std::string host;  // of rank 0, name or address
  std::string port;
  std::string secret;
};

// The connection to a launcher that speaks PMI-1 (MPICH's mpiexec, srun --mpi=pmi2).
struct PmiConnection {
  Rank rank;
  std::uint32_t size;
  int fd;
};

// How packets between nodes travel (SPLITC_LINK; docs/datagram.md).
enum class LinkChoice : std::uint8_t {
  kFabric,    // over reliable endpoints of libfabric
  kDatagram,  // over unreliable ones, under a window of the library's own
};

// How the accesses of a Split-C program travel, of the ways that it has been built (SPLITC_WAY;
// docs/transports.md). All but kUsual and kMemory make each process a node of its own.
enum class Way : std::uint8_t {
  kUsual,        // memory within a node, and between nodes as the settings below say
  kMessages,     // requests and replies of Active Messages
  kSpecialised,  // packets of their own, without handlers, and stores without answers
  kDatagram,     // the same over LinkChoice::kDatagram
  kMemory,       // shared memory alone: a job of one node
};

// How statistics are reported at the end of a program.
enum class StatisticsForm : std::uint8_t { kNone, kText, kJson };

struct Config {
  std::uint64_t segment_bytes = std::uint64_t{256} << 20;  // per process; a multiple of 4096
  std::uint64_t books_bytes = 0;  // of these, not for the program, as said to people; by splitc
  bool verbose = false;
  StatisticsForm statistics = StatisticsForm::kNone;  // of calls (docs/observing.md)
  // Statistics and the trace include accesses within the node. (Only splitc uses it, in World.)
  bool watch_near = false;
  std::string trace;  // the file that process 0 writes at the end (docs/observing.md); "": none
  std::uint64_t trace_bytes = std::uint64_t{64} << 20;  // memory for it, per process
  WaitPolicy wait = WaitPolicy::kAuto;
  Way way = Way::kUsual;
  LinkChoice link = LinkChoice::kFabric;
  link::FaultPlan faults;        // of datagrams; for tests
  std::string provider;          // libfabric's name of one; "": chosen
  std::string interface;         // a network interface or address of this machine; "": chosen
  bool progress_thread = false;  // the network goes on while the program computes
  bool rma = true;               // the network itself reads and writes far memory, where it can
  bool learn = true;             // stores that repeat get put channels
  double stall_s = 30;           // without progress, before that is reported; 0: never
  double start_limit_s = 300;    // for a job to start in, unless splitcrun watches it; 0: none
  bool crash_report = true;      // a crash is reported by the process itself
  bool survive = false;          // the job goes on without processes that die
  bool huge_pages = true;        // segments ask for them
  schedule::Limits limits;       // of algorithms of collective calls
  bool cross_memory = true;      // the kernel copies between processes of a node, where allowed

  Rank rank = 0;           // with job_fd or rendezvous
  std::uint32_t size = 1;  // likewise
  int job_fd = -1;         // splitcrun's control region; -1: splitcrun did not start this process
  int node = -1;  // the pretended node of this process (splitcrun --nodes); -1: the real one
  std::optional<Rendezvous> rendezvous;

  // What other launchers say. Used only when splitcrun and rendezvous say nothing. Also asked for
  // by make_bootstrap(), the functions of joined.cc, make_start_watch() (am/job/job.cc), and the
  // doctor (tools/doctor/in_job.cc).
  bool pmix = false;  // there is a PMIx server
  std::optional<PmiConnection> pmi;
  std::string stranger;  // why the launcher cannot be talked to, with the remedy; "": no such one

  std::string inherited;  // why this process is no rank although all says so; "": it is one

  // Given by the program, never by the environment: goes before all of the above.
  std::uint32_t threads = 1;  // of each process in the global address space; by splitc
  std::optional<OutOfBand> out_of_band;
};

// Whether that way makes each process a node of its own.
inline bool is_apart(Way way) noexcept { return way != Way::kUsual && way != Way::kMemory; }

// The settings of this process. Throws Error: an unknown SPLITC_ variable (says what was meant),
// a nonsense value, or only some of the variables that belong together.
Config read_config();

std::span<const Setting> settings();

// The table for people, one variable a paragraph, without the internal ones.
std::string describe_settings();

// The name for people that is closest to `name` in spelling, or "" when none is close.
std::string_view closest_setting(std::string_view name);

// What launchers have set in the environment of a process, and the mark that a process of a job
// leaves there: a program that it starts inherits what the launcher has set for it, and is no rank
// all the same.

// For the programs that this process starts from now on, as `rank` of `size` of the job that
// `config` describes. Writes the environment, which no other thread may read meanwhile.
void leave_mark(const Config& config, Rank rank, std::uint32_t size);
// They are what they were: the job has ended for this process.
void remove_mark();

// Why this process, which is to become what `config` says, is no rank of that job: a process that
// is one has started it. "": it is none of these, or a launcher has started it anew; then what that
// one says is all that is left of launchers in `config`.
std::string settle_launcher(Config& config);

// Sets Config::pmix, pmi and stranger from what launchers other than splitcrun have given this
// process. Throws Error if that is invalid.
void read_other_launchers(Config& config);

// Where both pmix and pmi are set, as one launcher has started the other, leaves that which has
// started this process.
void choose_launcher(Config& config);

}  // namespace am
