#include "tools/splitcrun/top.h"

#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <numeric>
#include <utility>

#include "am/route/process_stat.h"
#include "tools/splitcrun/standstill.h"

namespace am::launcher {
namespace {

double seconds_between(Top::Clock::time_point from, Top::Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

// 0 where it has become less.
double difference(std::uint64_t now, std::uint64_t before) {
  return static_cast<double>(now - std::min(now, before));
}

// 0, 12, 312 k, 1.2 M.
std::string number_text(double value) {
  std::array<char, 32> text{};
  if (value < 9999.5) {
    std::snprintf(text.data(), text.size(), "%.0f", value);
  } else if (value < 999'500) {
    std::snprintf(text.data(), text.size(), "%.0f k", value * 1e-3);
  } else {
    std::snprintf(text.data(), text.size(), "%.1f M", value * 1e-6);
  }
  return text.data();
}

// Whether all that comes to the terminal of standard error is written by this process: what goes
// through a pipe, as to tee, may come there as well.
bool is_own_terminal() {
  struct stat out {};
  return isatty(STDERR_FILENO) != 0 &&
         (isatty(STDOUT_FILENO) != 0 || (fstat(STDOUT_FILENO, &out) == 0 && S_ISREG(out.st_mode)));
}

// Of the terminal; 0: not known.
std::size_t columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

// No line shall take two of the terminal's.
std::string cut_to(std::size_t width, const std::string& text) {
  if (width < 2) return text;
  std::string cut;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    cut += text.substr(begin, std::min(end - begin, width - 1)) + "\n";
    begin = end + 1;
  }
  return cut;
}

}  // namespace

Top::Top(const Options& options, Control& control, const Children& children)
    : options_(options),
      control_(control),
      children_(children),
      terminal_(is_own_terminal()),
      interval_(duration_of(options.top_s)),
      begin_(Clock::now()),
      last_(begin_),
      next_(begin_ + interval_),
      seen_(options.processes) {}

std::optional<Top::Clock::time_point> Top::deadline() const {
  return children_.none_left() ? std::nullopt : std::optional(next_);
}

void Top::look(Clock::time_point now, const std::vector<bool>& is_stopped, Console& console) {
  if (now < next_ || !deadline()) return;
  next_ = now + interval_;
  if (!console.idle(STDERR_FILENO)) return;  // the last one has not been read
  // Stopped meanwhile, when others may have written to the terminal.
  if (now - last_ > 3 * interval_) lines_ = 0;
  std::vector<Row> rows;
  for (Rank rank = 0; rank < options_.processes; ++rank) {
    rows.push_back(observe(rank, is_stopped[rank], now, seconds_between(last_, now)));
  }
  last_ = now;
  const std::string text =
      cut_to(terminal_ ? columns() : 0, table(std::move(rows), seconds_between(begin_, now)));
  // Where somebody has written below the last table, that stays.
  const bool replaces = terminal_ && lines_ != 0 && console.given() == bytes_after_;
  if (replaces) console.add(STDERR_FILENO, "\r\x1b[" + std::to_string(lines_) + "A\x1b[J");
  console.add(STDERR_FILENO, text);
  lines_ = static_cast<std::size_t>(std::ranges::count(text, '\n'));
  bytes_after_ = console.given();
}

Top::Row Top::observe(Rank rank, bool is_stopped, Clock::time_point now, double passed_s) {
  using Life = ProcessView::Life;
  ProcessView view = view_of(rank, is_stopped, control_, children_);
  const bool running = view.life != Life::kEnded;
  const auto& activity = view.activity;
  Seen& seen = seen_[rank];
  Row row{.rank = rank, .pid = running ? children_.pid(rank) : 0};
  // A program that was started by a shell is another process than the one that splitcrun started.
  const pid_t inside = activity.pid;
  if (running && inside != 0 && inside != row.pid) {
    if (has_ended(inside)) {
      view.life = Life::kEnded;
    } else {
      row.pid = inside;
    }
  }
  // Another job has begun.
  if (activity.polls < seen.polls) seen.polls = seen.far_packets = seen.far_bytes = 0;
  const std::uint32_t handled = activity.handled - seen.handled;  // modulo 2^32
  const std::uint64_t polls = activity.polls - seen.polls;
  row.handled = handled / passed_s;
  row.polls = static_cast<double>(polls) / passed_s;
  row.far_packets = difference(activity.far_packets, seen.far_packets) / passed_s;
  row.far_bytes = difference(activity.far_bytes, seen.far_bytes) / passed_s;
  row.does = describe_process(view, polls != 0);
  row.waits = view.life != Life::kEnded && activity.state == Activity::State::kWaiting;
  const bool goes_on = row.waits && seen.waited && activity.wait.progress == seen.progress &&
                       activity.pieces == seen.pieces;
  if (!goes_on) seen.since = now;
  row.waited = now - seen.since;
  if (const auto stat = running ? read_process_stat(row.pid) : std::nullopt) {
    const double ticks = difference(stat->cpu_ticks, seen.cpu_ticks);
    row.cpu = ticks / static_cast<double>(sysconf(_SC_CLK_TCK)) / passed_s;
    row.memory = stat->resident_pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    seen.cpu_ticks = stat->cpu_ticks;
  }
  seen.polls = activity.polls;
  seen.handled = activity.handled;
  seen.far_packets = activity.far_packets;
  seen.far_bytes = activity.far_bytes;
  seen.progress = activity.wait.progress;
  seen.pieces = activity.pieces;
  seen.waited = row.waits;
  return row;
}

std::string Top::line_of(const Row& row) const {
  std::array<char, 128> line{};
  std::snprintf(line.data(), line.size(), "%5u %8d %4.0f%% %6.0f MB %11s ", row.rank,
                static_cast<int>(row.pid), 100 * row.cpu, static_cast<double>(row.memory) * 1e-6,
                number_text(row.handled).c_str());
  std::string text = line.data();
  if (options_.nodes > 1) {
    std::snprintf(line.data(), line.size(), "%8s %9.1f ", number_text(row.far_packets).c_str(),
                  row.far_bytes * 1e-6);
    text += line.data();
  }
  std::snprintf(line.data(), line.size(), "%9s  ", number_text(row.polls).c_str());
  text += line.data() + row.does;
  if (row.waits && row.waited >= std::chrono::seconds(1)) {
    text += row.does.find(", ") == std::string::npos ? " for " : ", for ";
    text += seconds_text(row.waited);
  }
  return text + "\n";
}

std::string Top::table(std::vector<Row> rows, double elapsed_s) const {
  const auto waiting = std::ranges::count_if(rows, &Row::waits);
  const double handled = std::accumulate(
      rows.begin(), rows.end(), 0.0, [](double sum, const Row& row) { return sum + row.handled; });
  std::array<char, 256> line{};
  std::snprintf(line.data(), line.size(), "after %.1f s: %u %s, of which %td %s; %s messages/s\n",
                elapsed_s, options_.processes, options_.processes == 1 ? "process" : "processes",
                waiting, waiting == 1 ? "waits" : "wait", number_text(handled).c_str());
  std::string text = line.data();
  text += options_.nodes > 1
              ? " rank      pid   cpu    memory  messages/s    far/s  far MB/s   polls/s  does\n"
              : " rank      pid   cpu    memory  messages/s   polls/s  does\n";
  const std::size_t all = rows.size();
  if (all > kShown) {
    // Those that have ended come last.
    std::ranges::stable_sort(rows, std::greater(),
                             [](const Row& row) { return std::pair(row.pid != 0, row.waited); });
    rows.resize(kShown);
  }
  for (const Row& row : rows) text += line_of(row);
  if (all > kShown) text += "      and " + std::to_string(all - kShown) + " others\n";
  return text;
}

}  // namespace am::launcher
