#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "am/types/types.h"

namespace am {

// Says that a job does not start, and ends this process when it has waited for long. A thread of
// its own, as it is calls of launchers and of other runtimes that wait, most without a limit;
// signals never come to it. Its end takes it away.
class StartWatch {
 public:
  struct Options {
    double say_s = 30;     // waited for before that is said; 0: it is not
    double limit_s = 300;  // before the process leaves with 1; 0: never
  };

  explicit StartWatch(Options options);
  ~StartWatch();
  StartWatch(const StartWatch&) = delete;
  StartWatch& operator=(const StartWatch&) = delete;

  // The launcher has answered; from here on the other processes are waited for.
  void met_launcher(Rank rank, const std::string& launcher);

 private:
  void watch();
  std::string sentence(double seconds) const;

  const Options options_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::string who_;    // "rank 3"
  std::string needs_;  // what is waited for
  bool started_ = false;
  std::thread thread_;
};

}  // namespace am
