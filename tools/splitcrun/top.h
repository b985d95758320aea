// --top: what each process of a job does, about once a second.
//
//   after 12.0 s: 4 processes, of which 3 wait; 1.2 M messages/s
//    rank      pid   cpu   memory  messages/s  polls/s  does
//       0    12345   98%    34 MB       312 k    1.2 M  running and polling
//       1    12346    3%    34 MB           0       12  in barrier at heat.cc:40 for 12 s
//
// Of several nodes there are also the packets that have come from others, and the bytes that each
// process has sent to them, or read and written there.
//
// It reads what the processes show anyway (am/observe/activity.h) and what the system says of them,
// so it costs them nothing.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "am/job/config/control.h"
#include "am/job/stall/watch.h"
#include "tools/splitcrun/children.h"
#include "tools/splitcrun/console.h"
#include "tools/splitcrun/options.h"

namespace am::launcher {

class Top {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kShown = 16;  // processes; of more, those that wait longest

  // Looks every options.top_s. On a terminal each table replaces the one before.
  Top(const Options& options, Control& control, const Children& children);

  std::optional<Clock::time_point> deadline() const;  // none: all have ended
  // Prints a table on standard error if it is time. `is_stopped` by rank.
  void look(Clock::time_point now, const std::vector<bool>& is_stopped, Console& console);

 private:
  // One process as it was at the last look.
  struct Seen {
    std::uint64_t polls = 0;
    std::uint32_t handled = 0;
    std::uint64_t far_packets = 0;
    std::uint64_t far_bytes = 0;
    std::uint64_t cpu_ticks = 0;
    std::uint64_t progress = 0;  // of its wait
    std::uint64_t pieces = 0;
    bool waited = false;
    Clock::time_point since{};  // it waits without progress
  };
  // What it has done since then.
  struct Row {
    Rank rank = 0;
    pid_t pid = 0;             // 0: has ended
    double cpu = 0;            // processors
    std::uint64_t memory = 0;  // bytes
    double handled = 0;        // a second
    double polls = 0;          // a second
    double far_packets = 0;    // a second, that have come from other nodes
    double far_bytes = 0;      // a second, that it has exchanged with them
    bool waits = false;
    Clock::duration waited{};
    std::string does = {};
  };

  Row observe(Rank rank, bool is_stopped, Clock::time_point now, double passed_s);
  std::string line_of(const Row& row) const;
  // Has the heads of the columns: one line for one node, one for several.
  std::string table(std::vector<Row> rows, double elapsed_s) const;

  const Options& options_;
  Control& control_;
  const Children& children_;
  const bool terminal_;
  const Clock::duration interval_;
  const Clock::time_point begin_;
  Clock::time_point last_;
  Clock::time_point next_;
  std::vector<Seen> seen_;         // by rank
  std::size_t lines_ = 0;          // of the last table
  std::uint64_t bytes_after_ = 0;  // that the console had been given with it
};

}  // namespace am::launcher
