#pragma once

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>

#include "am/job/bootstrap/endings.h"
#include "am/types/thread.h"
#include "am/types/types.h"

namespace am {

// Says that a job does not start, and ends this process when it has waited for long. A thread of
// its own, as it is calls of launchers and of other runtimes that wait, most without a limit. Its
// end takes it away.
class StartWatch {
 public:
  // Waited for `say_s` seconds before that is said, 0: it is not; and `limit_s` before the process
  // leaves with 1, 0: never.
  StartWatch(double say_s, double limit_s)
      : say_s_(say_s), limit_s_(limit_s), who_("process " + std::to_string(getpid())) {
    if (say_s <= 0 && limit_s <= 0) return;
    try {
      thread_ = start_thread(who_, "that waits for the start of the job", [this] { watch(); });
    } catch (const Error&) {
      // Where there can be no thread the job starts without.
    }
  }
  ~StartWatch() {
    {
      const std::lock_guard lock(mutex_);
      started_ = true;
    }
    changed_.notify_one();
    if (thread_.joinable()) thread_.join();
  }

  // The launcher has answered; from here on the other processes are waited for.
  void met_launcher(Rank rank, const std::string& launcher) {
    const std::lock_guard lock(mutex_);
    who_ = "rank " + std::to_string(rank);
    needs_ = "the other processes of the job (by " + launcher + ")";
  }

 private:
  void watch() {
    const auto begin = std::chrono::steady_clock::now();
    std::unique_lock lock(mutex_);
    const auto started_within = [&](double seconds) {
      return changed_.wait_until(lock, begin + std::chrono::duration<double>(seconds),
                                 [&] { return started_; });
    };
    if (say_s_ > 0 && (limit_s_ <= 0 || say_s_ < limit_s_)) {
      if (started_within(say_s_)) return;
      print_sentence(
          sentence(say_s_) +
          (limit_s_ > 0 ? "; it ends after " + text_of(limit_s_) + " (SPLITC_START_LIMIT)" : ""));
    }
    if (limit_s_ <= 0 || started_within(limit_s_)) return;
    print_last_sentence(sentence(limit_s_) + "; so it ends (SPLITC_START_LIMIT)");
    _exit(1);
  }
  std::string sentence(double seconds) const {
    return who_ + ": Job: the job has not started within " + text_of(seconds) + ": this process (" +
           std::to_string(getpid()) + ") waits for " + needs_ +
           "; each process of a launcher has to run a program of the job, and one that such a "
           "process starts by itself is none of them: start that with splitcrun -n 1";
  }
  static std::string text_of(double seconds) {
    std::ostringstream text;
    text << seconds << " s";
    return text.str();
  }

  const double say_s_;
  const double limit_s_;
  std::mutex mutex_;  // guards the rest
  std::condition_variable changed_;
  std::string who_;                               // "rank 3"
  std::string needs_ = "the launcher to answer";  // what is waited for
  bool started_ = false;
  std::thread thread_;
};

}  // namespace am
