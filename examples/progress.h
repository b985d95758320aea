// How far a program is, on the terminal of whoever waits for it:
//
//   Progress progress(versions * repetitions);
//   for (...) {
//     measure();
//     progress.step();
//   }
//
// Process 0 draws a line on standard error, if that is a terminal and the job is in its foreground.
// Files and pipes get nothing, so neither does splitcrun --label, which passes on whole lines. The
// line comes after a second, changes at most ten times a second, and goes with this object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <utility>

namespace examples {

class Progress {
 public:
  // Of so many steps, of which each takes about as long as another. Any process may have one, and
  // none does anything collective.
  explicit Progress(std::uint64_t steps);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  // One more is done, or several. An addition and a comparison: only every few milliseconds it
  // looks at the clock.
  void step(std::uint64_t steps = 1) {
    done_ += steps;
    if (done_ >= look_at_) [[unlikely]] {
      look();
    }
  }

  // Calls write(), which prints whole lines on standard output, while the line is out of its way.
  template <class F>
  void print(F&& write) {
    const bool drawn = width_ > 0;
    erase();
    std::forward<F>(write)();
    if (!drawn) return;
    std::fflush(stdout);
    draw();
  }

 private:
  void look();
  void draw();
  void erase();

  const std::uint64_t steps_;
  const double start_;
  std::uint64_t done_ = 0;
  std::uint64_t look_at_;   // so many steps done; the largest number: never
  std::uint64_t seen_ = 0;  // steps done at the last look,
  double looked_;           // ... which was at that time
  double drawn_;            // when the line was drawn last
  std::size_t width_ = 0;   // of the line that is there; 0: none
};

}  // namespace examples
