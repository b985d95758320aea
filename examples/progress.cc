#include "examples/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>

#include "splitc/splitc.h"

namespace examples {
namespace {

constexpr double kQuiet = 1;          // seconds before the line comes,
constexpr double kBetween = 0.1;      // ... between two of its changes,
constexpr double kLookAfter = 0.004;  // ... and, about, between two looks at the clock
constexpr std::size_t kBar = 30;      // characters

bool is_for_a_person() { return splitc::my_proc() == 0 && isatty(STDERR_FILENO) == 1; }

// What a job in the background draws would fall into the line that is typed there meanwhile.
bool in_foreground() {
  const pid_t group = tcgetpgrp(STDERR_FILENO);
  return group < 0 || group == getpgrp();
}

// Characters of a line that does not wrap.
std::size_t columns() {
  winsize size{};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  return known ? size.ws_col - 1u : 79;
}

// In one piece; a terminal that is gone is no reason to fail.
void write_out(std::string_view text) { (void)!write(STDERR_FILENO, text.data(), text.size()); }

// "[#####.....]  50 %, about 1:05 left".
std::string line_of(double share, double seconds_left) {
  const auto full = static_cast<std::size_t>(share * kBar);
  const long left = std::lround(std::min(seconds_left, 1e9));
  std::array<char, 96> text{};
  std::snprintf(text.data(), text.size(), "] %3d %%, about %ld:%02ld left",
                static_cast<int>(share * 100), left / 60, left % 60);
  return "[" + std::string(full, '#') + std::string(kBar - full, '.') + text.data();
}

}  // namespace

Progress::Progress(std::uint64_t steps)
    : steps_(std::max<std::uint64_t>(steps, 1)),
      start_(splitc::get_seconds()),
      look_at_(is_for_a_person() ? 1 : std::numeric_limits<std::uint64_t>::max()),
      looked_(start_),
      drawn_(start_ + kQuiet - kBetween) {}

Progress::~Progress() { erase(); }

// The next look is after as many steps as went by in kLookAfter at the pace since the last one, but
// not more than twice as many as since then: the first ones may have been the quick ones.
void Progress::look() {
  const double now = splitc::get_seconds();
  const double passed = std::max(now - looked_, 1e-9);
  const auto stepped = static_cast<double>(done_ - seen_);
  const double next = std::min(stepped * kLookAfter / passed, 2 * stepped);
  look_at_ = done_ + std::max<std::uint64_t>(1, static_cast<std::uint64_t>(next));
  seen_ = done_;
  looked_ = now;
  if (now - drawn_ >= kBetween && in_foreground()) draw();
}

void Progress::draw() {
  if (done_ >= steps_) return erase();
  const double share = static_cast<double>(done_) / static_cast<double>(steps_);
  drawn_ = looked_;
  std::string line = line_of(share, (looked_ - start_) * (1 - share) / share);
  line.resize(std::min(line.size(), columns()));
  const std::size_t before = std::exchange(width_, line.size());
  line.append(before > width_ ? before - width_ : 0, ' ');
  write_out("\r" + line);
}

void Progress::erase() {
  if (width_ == 0) return;
  write_out("\r" + std::string(std::exchange(width_, 0), ' ') + "\r");
}

}  // namespace examples
