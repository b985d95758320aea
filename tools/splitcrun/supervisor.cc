#include "tools/splitcrun/supervisor.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>

#include "am/job/config/control.h"
#include "shmem/descriptor.h"
#include "shmem/region.h"
#include "tools/splitcrun/children.h"
#include "tools/splitcrun/console.h"
#include "tools/splitcrun/guard.h"
#include "tools/splitcrun/memory_limits.h"
#include "tools/splitcrun/output.h"
#include "tools/splitcrun/patience.h"
#include "tools/splitcrun/placement.h"
#include "tools/splitcrun/source_lines.h"
#include "tools/splitcrun/standstill.h"
#include "tools/splitcrun/survival.h"
#include "tools/splitcrun/top.h"
#include "tools/splitcrun/verdict.h"

namespace am::launcher {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kGrace = std::chrono::milliseconds(200);  // between SIGTERM and SIGKILL
// How long one that is ending, whose end the kernel has not reported, keeps others from being
// judged.
constexpr auto kLateEnd = std::chrono::milliseconds(500);
// Between the end of the first process and SIGKILL, when a process has asked all to end: the others
// have heard of it as well, and end by themselves when their exit callbacks have returned.
constexpr auto kExitGrace = std::chrono::seconds(2);

std::string name_of(Rank rank, pid_t pid) {
  return "rank " + std::to_string(rank) + " (pid " + std::to_string(pid) + ")";
}

// The memory that splitcrun and its processes share, as the first of them finds it.
shmem::Region make_control(const Options& options) {
  shmem::Region region = shmem::Region::create(
      {.what = "splitcrun control", .bytes = control_bytes(options.processes)});
  Control& control = control_at(region.data());
  control.magic = Control::kMagic;
  control.version = Control::kVersion;
  control.size = options.processes;
  control.survives = options.survive ? 1 : 0;
  return region;
}

class Supervisor {
 public:
  Supervisor(const Options& options, const Inherited& inherited, pid_t guard)
      : options_(options),
        guard_(guard),
        processors_(choose_processors(options)),
        region_(make_control(options)),
        control_(control_at(region_.data())),
        signals_(make_signal_fd()),
        output_(options.label ? std::make_unique<Output>(console_) : nullptr),
        children_({.options = options,
                   .inherited = inherited,
                   .job_fd = region_.fd(),
                   .processors = processors_,
                   .output = output_.get()}),
        standstill_(options, control_, children_),
        is_stopped_(options.processes, false) {
    if (options.top_s != 0) top_.emplace(options, control_, children_);
    if (options.survive) survival_.emplace(control_, limits_);
    if (options.verbose) say_where_they_run();
    if (!options.timeout_s) return;
    const std::chrono::duration<double> timeout(*options.timeout_s);
    timeout_at_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(timeout);
  }

  int run() {
    while (!children_.none_left()) step();
    if (survival_ && !has_verdict_) {
      exit_code_ = survival_->exit_code();
      crashed_ = survival_->crashed();
    }
    patience_.begin();
    pass_on_the_rest();
    // Said by the process that could not write it.
    if (control_.output_lost.load(std::memory_order_relaxed) != 0) exit_code_of_loss_ = 1;
    return exit_code_ != 0 ? exit_code_ : exit_code_of_loss_;
  }

 private:
  void say_where_they_run() {
    for (Rank rank = 0; rank < options_.processes; ++rank) {
      const int node = node_of(rank, options_);
      console_.answer(
          "rank " + std::to_string(rank) + " is process " + std::to_string(children_.pid(rank)) +
          (processors_.empty() ? ", bound to no processor" : " on " + describe(processors_[rank])) +
          (node < 0 ? "" : ", pretended node " + std::to_string(node)));
    }
  }

  void step() {
    sleep_until_something_happens();
    console_.acknowledge();
    take_write_errors();
    if (output_) output_->pump();
    take_start_failure();
    take_signals();
    look_at_clock();
  }

  void sleep_until_something_happens() {
    const auto watch = [](int fd) { return pollfd{.fd = fd, .events = POLLIN, .revents = 0}; };
    pollfd watched[] = {watch(signals_.fd()), watch(console_.fd()), watch(children_.start_fd()),
                        watch(output_ ? output_->fd(STDOUT_FILENO) : -1),
                        watch(output_ ? output_->fd(STDERR_FILENO) : -1)};
    std::optional<Clock::time_point> deadline = patience_.deadline();
    const auto stall_at = kill_at_ ? std::nullopt : standstill_.deadline();
    const auto top_at = top_ && !kill_at_ ? top_->deadline() : std::nullopt;
    for (const auto& one :
         {timeout_at_, stall_at, top_at, judge_at_, killing_ ? std::nullopt : kill_at_}) {
      if (one && (!deadline || *one < *deadline)) deadline = one;
    }
    timespec left{};
    if (deadline) {
      const auto ns =
          std::max<std::int64_t>(0, std::chrono::nanoseconds(*deadline - Clock::now()).count());
      left = {.tv_sec = ns / 1'000'000'000, .tv_nsec = ns % 1'000'000'000};
    }
    ppoll(watched, std::size(watched), deadline ? &left : nullptr, nullptr);
  }

  void take_write_errors() {
    for (const int to : {STDOUT_FILENO, STDERR_FILENO}) {
      const auto [queued, in_file, error, is_lossy] = console_.state(to);
      if (error == 0) continue;
      const bool lost = output_ || is_lossy;
      if (lost) exit_code_of_loss_ = error == EPIPE ? 128 + SIGPIPE : 1;
      // (Its reader has gone: who does so does not want to know.)
      if (!output_ || !output_->give_up(to) || error == EPIPE) continue;
      console_.say("cannot write to descriptor " + std::to_string(to) + " (" +
                   std::strerror(error) + "), so what the processes print there is lost");
    }
  }

  void take_start_failure() {
    while (const auto failure = children_.start_failure()) {
      if (kill_at_) continue;
      end_job(failure->what(), failure->exit_code);
      kill_at_ = Clock::now();
    }
  }

  void take_signals() {
    signalfd_siginfo info{};
    bool news = false;
    while (read(signals_.fd(), &info, sizeof(info)) == sizeof(info)) {
      const int signal = static_cast<int>(info.ssi_signo);
      if (signal == SIGCHLD) {
        news = true;
      } else {
        take_one_signal(signal, from_terminal(info.ssi_code));
      }
    }
    if (news) take_news();
  }

  void take_one_signal(int signal, bool everybody_has_it) {
    if (signal == kGuardDied) {
      if (getppid() == guard_) return;  // a process that was stopped goes on: this one
      patience_.hurry(128 + SIGKILL);
      if (!children_.none_left()) end_job("splitcrun itself was killed", 128 + SIGKILL);
      kill_at_ = Clock::now();
      return;
    }
    if (signal == SIGUSR1 || signal == SIGQUIT) say_what_all_do();
    if (!everybody_has_it) children_.signal_all(signal);
    if (signal == SIGUSR1 || signal == SIGUSR2) return;
    patience_.hurry(128 + signal);
    for (Rank rank = 0; rank < is_stopped_.size(); ++rank) {
      if (is_stopped_[rank]) children_.signal_one(rank, SIGCONT);  // so that it can obey
    }
  }

  void take_news() {
    const Children::News news = children_.reap();
    for (const Stopped& stop : news.stopped) take_stop(stop);
    take_start_failure();  // said by a process before it ended, so it is there if one of these did
    if (!kill_at_) take_ended(news.ended);
    if (children_.running() > 0 || children_.none_left()) return;
    // Only what the processes left behind is alive.
    begin_to_end();
    children_.signal_orphans(killing_ ? SIGKILL : SIGTERM);
  }

  void take_ended(std::vector<Ended> ended) {
    if (survival_) take_survived(ended);
    undecided_.insert(undecided_.end(), ended.begin(), ended.end());
    if (undecided_.empty()) return;
    // They may have left because of one that is being killed, whose end the kernel reports soon;
    // not so soon if a debugger holds it.
    if (!judge_at_) judge_at_ = Clock::now() + kLateEnd;
    const bool may_follow = std::ranges::any_of(
        undecided_, [this](const Ended& end) { return left_by_itself(end, control_); });
    if (may_follow && Clock::now() < *judge_at_ && children_.one_is_ending()) return;
    judge_at_.reset();
    const auto verdict = judge(undecided_, children_, control_, limits_);
    undecided_.clear();
    if (!verdict) return;
    if (output_) output_->pump();  // the last words before the sentence
    take_verdict(*verdict);
  }

  // Leaves those after whose end the job cannot go on.
  void take_survived(std::vector<Ended>& ended) {
    std::erase_if(ended, [this](const Ended& end) {
      const std::optional<std::string> sentence = survival_->take(end, children_);
      if (!sentence) return false;
      if (sentence->empty()) return true;
      if (output_) output_->pump();
      console_.say(*sentence);
      return true;
    });
  }

  void take_verdict(const Verdict& verdict) {
    crashed_ = verdict.crashed;
    has_verdict_ = true;
    if (!verdict.asked_for) {
      return end_job(verdict.sentence + ending_text(children_.running()), verdict.exit_code);
    }
    exit_code_ = verdict.exit_code;
    kill_at_ = Clock::now() + kExitGrace;
  }

  void take_stop(const Stopped& stop) {
    const bool stops = stop.signal != 0;
    if (stops == is_stopped_[stop.rank]) return;
    // Ctrl-Z stops splitcrun and its processes together: the shell says that.
    if (stops && stop.signal != SIGSTOP && getpgid(stop.pid) == getpgrp()) return;
    is_stopped_[stop.rank] = stops;
    // Not more than the reader takes, if somebody stops processes again and again.
    if (kill_at_ || !console_.has_room(STDERR_FILENO)) return;
    const std::string who = name_of(stop.rank, stop.pid);
    if (!stops) return console_.say(who + " goes on");
    console_.say(who + " is stopped by signal " + std::to_string(stop.signal) + " (" +
                 strsignal(stop.signal) + "), and those that need it wait; kill -CONT " +
                 std::to_string(stop.pid) + " lets it go on");
  }

  void look_at_clock() {
    const auto now = Clock::now();
    if (timeout_at_ && now >= *timeout_at_) {
      timeout_at_.reset();
      patience_.hurry(kExitTimeout);
      if (children_.running() > 0 && !kill_at_) {
        say_what_all_do();
        end_job("the job did not end in time (--timeout)" + ending(), kExitTimeout);
      }
    }
    look_for_stall();
    if (top_ && !kill_at_) top_->look(now, is_stopped_, console_);
    if (judge_at_ && now >= *judge_at_) kill_at_ ? judge_at_.reset() : take_ended({});
    if (killing_ || !kill_at_ || now < *kill_at_) return;
    killing_ = true;
    children_.signal_all(SIGKILL);
    children_.signal_orphans(SIGKILL);
  }

  void look_for_stall() {
    if (kill_at_) return;
    const Standstill::News news = standstill_.look(Clock::now(), is_stopped_);
    for (const std::string& sentence : news.sentences) console_.say(sentence);
    if (!news.is_over && !news.why_never) return;
    if (news.why_never) return end_job(*news.why_never + ending(), kExitDeadlock);
    patience_.hurry(kExitTimeout);
    end_job("the job made no progress in time (--stall-timeout)" + ending(), kExitTimeout);
  }

  void say_what_all_do() {
    const std::string text = standstill_.describe(Clock::now(), is_stopped_);
    if (!text.empty()) console_.answer("now: " + text);
  }

  // Of a sentence that says why.
  std::string ending() const {
    const auto running = children_.running();
    return "; ending its " + std::to_string(running) + (running == 1 ? " process" : " processes");
  }

  void begin_to_end() {
    if (!kill_at_) kill_at_ = Clock::now() + kGrace;
  }

  void end_job(std::string_view why, int exit_code) {
    console_.say(why);
    has_verdict_ = true;
    exit_code_ = exit_code;
    begin_to_end();
    children_.signal_all(SIGTERM);
  }

  void say_where_it_crashed() {
    for (Rank rank = 0; rank < options_.processes; ++rank) {
      const std::string lines = source_lines(control_.crash.lines_of(rank));
      if (!lines.empty()) console_.say("rank " + std::to_string(rank) + " was in\n" + lines);
    }
    console_.add(STDERR_FILENO, options_.on_crash);
  }

  // What is still in the pipes and in the console's queues.
  void pass_on_the_rest() {
    bool all = true;
    if (output_) {
      output_->last_call();
      all = step_while([this] { return !output_->is_empty(); });
      output_->finish();
    }
    if (crashed_) say_where_it_crashed();
    all = all && step_while([this] {
            if (console_.idle()) take_write_errors();  // which may have something to say
            return !console_.idle();
          });
    if (all) return;
    take_write_errors();
    exit_code_of_loss_ = patience_.exit_code();
    if (!console_.idle(STDERR_FILENO)) return;
    console_.say("nobody has read the last " +
                 std::to_string(console_.state(STDOUT_FILENO).queued) +
                 " bytes of output, which are lost");
    step_while([this] { return !console_.idle(STDERR_FILENO); });
  }

  // False: the reader takes nothing any more.
  template <class Condition>
  bool step_while(const Condition& condition) {
    while (condition()) {
      if (patience_.is_over(console_.written())) return false;
      step();
    }
    return true;
  }

  const Options& options_;
  const pid_t guard_;
  const std::vector<Processors> processors_;
  const shmem::Region region_;
  Control& control_;
  const shmem::OwnFd signals_;
  const MemoryLimits limits_;  // as they were before any process began
  Console console_;
  std::unique_ptr<Output> output_;  // only with --label
  Children children_;

  Standstill standstill_;
  std::optional<Top> top_;                       // only with --top
  std::optional<Survival> survival_;             // only with --survive
  std::vector<Ended> undecided_;                 // not judged before others have ended, too,
  std::optional<Clock::time_point> judge_at_;    // ... or it is that time
  std::vector<bool> is_stopped_;                 // by rank
  std::optional<Clock::time_point> timeout_at_;  // none: no limit, or it has passed
  std::optional<Clock::time_point> kill_at_;     // set when the job begins to end
  bool killing_ = false;
  bool has_verdict_ = false;  // on the whole job, which ends because of it
  bool crashed_ = false;      // the process that ended the job
  Patience patience_;         // with the reader of the output
  int exit_code_ = 0;
  int exit_code_of_loss_ = 0;  // if nothing but output is lost
};

}  // namespace

int supervise(const Options& options, const Inherited& inherited, pid_t guard) {
  return Supervisor(options, inherited, guard).run();
}

}  // namespace am::launcher
