#include "am/job/launcher/supervisor.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>

#include "am/job/control.h"
#include "am/job/launcher/children.h"
#include "am/job/launcher/guard.h"
#include "am/job/launcher/output.h"
#include "am/job/launcher/verdict.h"
#include "shmem/node.h"
#include "shmem/region.h"

namespace am::launcher {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kGrace = std::chrono::milliseconds(200);  // between SIGTERM and SIGKILL

shmem::Region make_control(std::uint32_t size) {
  shmem::Region region =
      shmem::Region::create({.what = "splitcrun control", .bytes = control_bytes(size)});
  Control& control = control_at(region.data());
  control.magic = Control::kMagic;
  control.version = Control::kVersion;
  control.size = size;
  return region;
}

// One processor for each rank, or none for any.
std::vector<int> choose_processors(const Options& options) {
  if (options.bind == Bind::kNone) return {};
  std::vector<int> processors = shmem::allowed_processors();
  const std::size_t cores = std::min<std::size_t>(processors.size(), shmem::usable_cores());
  if (options.processes <= cores) {
    // A process alone has nobody to keep off its core; jobs of one would all meet on the first.
    if (options.processes == 1 && options.bind == Bind::kAuto) return {};
    processors.resize(options.processes);
    return processors;
  }
  if (options.bind == Bind::kAuto) return {};
  throw Failure(kExitUsage, "--bind core: " + std::to_string(options.processes) +
                                " processes need as many cores, and " + std::to_string(cores) +
                                " can be used here; write --bind auto or start fewer");
}

class Supervisor {
 public:
  Supervisor(const Options& options, const sigset_t& mask);
  ~Supervisor() { close(signals_); }
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  int run();

 private:
  void sleep_until_something_happens();
  void take_signals();
  void take_ends();
  void begin_to_end();
  void end_job(std::string_view why, int exit_code);
  void look_at_clock();

  const shmem::Region region_;
  Control& control_;
  const int signals_;
  std::unique_ptr<Output> output_;  // only with --label
  Children children_;
  std::optional<Clock::time_point> timeout_at_;  // none: no limit, or the job is ending
  std::optional<Clock::time_point> kill_at_;     // set when the job begins to end
  bool killing_ = false;
  int exit_code_ = 0;
};

int make_signal_fd() {
  const sigset_t watched = watched_signals();
  const int fd = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
  if (fd >= 0) return fd;
  throw Failure(kExitUsage, std::string("cannot watch signals (") + std::strerror(errno) + ")");
}

Supervisor::Supervisor(const Options& options, const sigset_t& mask)
    : region_(make_control(options.processes)),
      control_(control_at(region_.data())),
      signals_(make_signal_fd()),
      output_(options.label ? std::make_unique<Output>() : nullptr),
      children_({.options = options,
                 .job_fd = region_.fd(),
                 .signal_mask = mask,
                 .processors = choose_processors(options),
                 .output = output_.get()}) {
  if (!options.timeout_s) return;
  const std::chrono::duration<double> timeout(*options.timeout_s);
  timeout_at_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(timeout);
}

int Supervisor::run() {
  while (!children_.none_left()) {
    sleep_until_something_happens();
    if (output_) output_->pump();
    take_signals();
    look_at_clock();
  }
  if (output_) output_->finish();
  return exit_code_;
}

void Supervisor::sleep_until_something_happens() {
  pollfd watched[] = {{.fd = signals_, .events = POLLIN, .revents = 0},
                      {.fd = output_ ? output_->fd() : -1, .events = POLLIN, .revents = 0}};
  const auto deadline = kill_at_ && !killing_ ? kill_at_ : timeout_at_;
  timespec left{};
  if (deadline) {
    const auto ns =
        std::max<std::int64_t>(0, std::chrono::nanoseconds(*deadline - Clock::now()).count());
    left = {.tv_sec = ns / 1'000'000'000, .tv_nsec = ns % 1'000'000'000};
  }
  ppoll(watched, 2, deadline ? &left : nullptr, nullptr);
}

void Supervisor::take_signals() {
  signalfd_siginfo info{};
  bool ends = false;
  while (read(signals_, &info, sizeof(info)) == sizeof(info)) {
    const int signal = static_cast<int>(info.ssi_signo);
    if (signal == SIGCHLD) {
      ends = true;
    } else if (signal == kGuardDied) {
      end_job("splitcrun itself was killed", 128 + SIGKILL);
      kill_at_ = Clock::now();
    } else if (!from_terminal(info.ssi_code)) {
      children_.signal_all(signal);
    }
  }
  if (ends) take_ends();
}

void Supervisor::take_ends() {
  const std::vector<Ended> ended = children_.reap();
  if (!kill_at_) {
    const auto verdict = judge(ended, children_, control_);
    if (verdict) {
      if (output_) output_->pump();  // the last words before the sentence
      end_job(verdict->sentence + ending_text(children_.running()), verdict->exit_code);
    }
  }
  if (children_.running() > 0 || children_.none_left()) return;
  // Only what the processes left behind is alive.
  begin_to_end();
  children_.signal_orphans(killing_ ? SIGKILL : SIGTERM);
}

void Supervisor::begin_to_end() {
  timeout_at_.reset();
  if (!kill_at_) kill_at_ = Clock::now() + kGrace;
}

void Supervisor::end_job(std::string_view why, int exit_code) {
  say(why);
  exit_code_ = exit_code;
  begin_to_end();
  children_.signal_all(SIGTERM);
}

void Supervisor::look_at_clock() {
  const auto now = Clock::now();
  if (timeout_at_ && now >= *timeout_at_) {
    const auto running = children_.running();
    end_job("the job did not end in time (--timeout); ending its " + std::to_string(running) +
                (running == 1 ? " process" : " processes"),
            kExitTimeout);
  }
  if (killing_ || !kill_at_ || now < *kill_at_) return;
  killing_ = true;
  children_.signal_all(SIGKILL);
  children_.signal_orphans(SIGKILL);
}

}  // namespace

int supervise(const Options& options, const sigset_t& mask) {
  return Supervisor(options, mask).run();
}

}  // namespace am::launcher
