// The child's side of starting a process.
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <string>
#include <vector>

#include "am/types/types.h"
#include "tools/splitcrun/inherited.h"
#include "tools/splitcrun/output.h"
#include "tools/splitcrun/topology.h"

namespace am::launcher {

// All that one process of the job is given.
struct Role {
  Rank rank;
  std::uint32_t size;
  int job_fd;
  int node;                      // that it pretends to be on; -1: the real one
  const Processors* processors;  // that it may run on; null: any
  bool verbose;
  const std::string& statistics;  // SPLITC_STATS; "": as it is
  bool watch_near;
  const std::string& trace;  // "": none
  int null_fd;               // /dev/null, standard input of all but rank 0
  Output::Ends ends;         // -1: as splitcrun's
  const Inherited& inherited;
  pid_t supervisor;
};

// What a role comes to, made before fork: the child of a process with threads may not allocate.
class Image {
 public:
  Image(const Role& role, const std::vector<std::string>& command);
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;
  ~Image();

  // Called between fork and exec: takes the role and becomes the program. Returns an errno when
  // that fails; never returns otherwise.
  int become() const noexcept;

 private:
  const Role& role_;
  std::vector<std::string> variables_;
  std::vector<char*> arguments_;  // with a null at the end, as environment_
  std::vector<char*> environment_;
  cpu_set_t* processors_ = nullptr;  // null: any
  std::size_t processors_bytes_ = 0;
};

}  // namespace am::launcher
