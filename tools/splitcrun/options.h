// What a person asks of splitcrun.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "am/types/types.h"

namespace am::launcher {

// Why splitcrun gives up before the job runs: a sentence and its own exit code.
struct Failure : std::runtime_error {
  Failure(int code, const std::string& sentence) : std::runtime_error(sentence), exit_code(code) {}
  int exit_code;
};

constexpr int kExitUsage = 2;
constexpr int kExitMissingProgram = 127;
constexpr int kExitTimeout = 124;
constexpr int kExitDeadlock = 1;  // a process waits for one that has finished
constexpr int kExitSurvived = 3;  // the job went on without processes that died, and ended well

enum class Bind { kNone, kAuto, kCore, kL3, kNuma, kSocket };

struct Options {
  static constexpr std::uint32_t kMaxProcesses = 4096;  // each maps the memory of all the others
  static constexpr std::uint32_t kMaxThreads = 65536;

  std::uint32_t processes = 0;
  std::uint32_t nodes = 0;  // that the machine pretends to be; 0: it is what it is
  Bind bind = Bind::kAuto;
  std::uint32_t threads = 1;  // of a process, that are to have a core each
  bool label = false;
  bool verbose = false;
  std::string statistics;   // SPLITC_STATS; "": as it is
  bool watch_near = false;  // in these, and in a trace: accesses within the node, too
  std::string trace;        // the file to write one to; "": none
  double top_s = 0;         // between tables of what the processes do; 0: none
  bool survive = false;     // a death does not end the job
  std::optional<double> timeout_s;
  double stall_report_s = 0;              // without progress, before that is reported; 0: never
  std::optional<double> stall_timeout_s;  // ... before the job is ended
  std::string on_crash;  // the last line to say when a process has crashed, with its newline; or ""
  std::vector<std::string> command;  // program and arguments; never empty
};

// The node that `rank` pretends to be on: blocks of ranks, as equal as possible. -1: the real one.
inline int node_of(Rank rank, const Options& options) noexcept {
  if (options.nodes == 0) return -1;
  return static_cast<int>(std::uint64_t{rank} * options.nodes / options.processes);
}

// The options, or none when help was asked for and printed. Throws Failure for nonsense.
std::optional<Options> parse_options(int argc, char** argv);

}  // namespace am::launcher
