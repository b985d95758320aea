#include "am/job/start_watch.h"

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <sstream>
#include <system_error>

#include "am/job/bootstrap/endings.h"

namespace am {
namespace {

using Clock = std::chrono::steady_clock;

std::string text_of(double seconds) {
  std::ostringstream text;
  text << seconds << " s";
  return text.str();
}

}  // namespace

StartWatch::StartWatch(Options options)
    : options_(options),
      who_("process " + std::to_string(getpid())),
      needs_("the launcher to answer") {
  if (options.say_s <= 0 && options.limit_s <= 0) return;
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this] { watch(); });
  } catch (const std::system_error&) {
    // Where there can be no thread the job starts without.
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

StartWatch::~StartWatch() {
  {
    const std::lock_guard lock(mutex_);
    started_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void StartWatch::met_launcher(Rank rank, const std::string& launcher) {
  const std::lock_guard lock(mutex_);
  who_ = "rank " + std::to_string(rank);
  needs_ = "the other processes of the job (by " + launcher + ")";
}

void StartWatch::watch() {
  const auto begin = Clock::now();
  std::unique_lock lock(mutex_);
  const auto started_within = [&](double seconds) {
    return changed_.wait_until(lock, begin + std::chrono::duration<double>(seconds),
                               [&] { return started_; });
  };
  const double limit_s = options_.limit_s;
  if (options_.say_s > 0 && (limit_s <= 0 || options_.say_s < limit_s)) {
    if (started_within(options_.say_s)) return;
    print_sentence(
        sentence(options_.say_s) +
        (limit_s > 0 ? "; it ends after " + text_of(limit_s) + " (SPLITC_START_LIMIT)" : ""));
  }
  if (limit_s <= 0 || started_within(limit_s)) return;
  print_last_sentence(sentence(limit_s) + "; so it ends (SPLITC_START_LIMIT)");
  _exit(1);
}

std::string StartWatch::sentence(double seconds) const {
  return who_ + ": Job: the job has not started within " + text_of(seconds) + ": this process (" +
         std::to_string(getpid()) + ") waits for " + needs_ +
         "; each process of a launcher has to run a program of the job, and one that such a "
         "process starts by itself is none of them: start that with splitcrun -n 1";
}

}  // namespace am
