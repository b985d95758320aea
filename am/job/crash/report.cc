#include "am/job/crash/report.h"

#include <cxxabi.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <typeinfo>

#include "am/job/crash/text.h"
#include "am/types/thread.h"

namespace am {
namespace {

constexpr std::size_t kStackBytes = 128 << 10;  // the unwinder takes some ten thousand
constexpr unsigned kMostSeconds = 10;           // for a report; then the process ends without one

// What the handlers know. Constant while they are installed, but for the segments.
Rank own_rank = 0;
pid_t own_pid = 0;
std::atomic<const CrashSegment*> segments{nullptr};
std::size_t segment_count = 0;
std::atomic<const Activity*> activity{nullptr};
std::atomic<CrashFrames*> frames{nullptr};

// The thread that reports (0: none yet) and what becomes of it.
std::atomic<pid_t> reporter{0};
std::atomic<bool> reported{false};
std::atomic<int> last_signal{SIGABRT};

CrashText text;  // the reporter's

pid_t this_thread() noexcept { return static_cast<pid_t>(syscall(SYS_gettid)); }

// The default action, once this handler has returned: the process's status says the signal, and a
// core file shows where it came from.
void end_by(int signal) noexcept {
  ::signal(signal, SIG_DFL);
  syscall(SYS_tgkill, getpid(), this_thread(), signal);
}

// These signals are blocked or not in this thread while the object lives.
class Mask {
 public:
  Mask(int how, std::span<const int> signals) noexcept {
    sigset_t set;
    sigemptyset(&set);
    for (const int one : signals) sigaddset(&set, one);
    pthread_sigmask(how, &set, &before_);
  }
  ~Mask() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  Mask(const Mask&) = delete;
  Mask& operator=(const Mask&) = delete;

 private:
  sigset_t before_;
};

// A report that hangs, in a lock or in a write that nobody reads, must not keep the job waiting.
void on_alarm(int) {
  const Mask mask(SIG_UNBLOCK, kFaults);
  end_by(last_signal.load(std::memory_order_relaxed));
}

void limit_time() noexcept {
  struct sigaction action {};
  action.sa_handler = on_alarm;
  sigaction(SIGALRM, &action, nullptr);
  sigset_t alarm_only;
  sigemptyset(&alarm_only);
  sigaddset(&alarm_only, SIGALRM);
  pthread_sigmask(SIG_UNBLOCK, &alarm_only, nullptr);
  alarm(kMostSeconds);
}

// True for the first thread that crashes. Others wait for the end of the process; the first itself,
// crashing again, and whoever comes after the report, is not to report.
bool begin_report() noexcept {
  pid_t nobody = 0;
  if (reporter.compare_exchange_strong(nobody, this_thread(), std::memory_order_relaxed)) {
    limit_time();
    return true;
  }
  // pairs with: end_report
  while (nobody != this_thread() && !reported.load(std::memory_order_acquire)) pause();
  return false;
}

void end_report() noexcept {
  text.write();
  // pairs with: begin_report
  reported.store(true, std::memory_order_release);
}

void add_who() noexcept {
  text.clear();
  if (getpid() != own_pid) text.add("a child of ");
  text.add("rank ").add(own_rank).add(" (pid ").add(static_cast<std::uint64_t>(getpid()));
  const pid_t thread = this_thread();
  if (thread != getpid()) text.add(", thread ").add(static_cast<std::uint64_t>(thread));
  text.add(")");
}

// `by_address`: an address was used that is none here, and not nearly null.
void add_handler(bool by_address) noexcept {
  // pairs with: set_activity
  const Activity* const known = activity.load(std::memory_order_acquire);
  if (known == nullptr) return;
  const Activity::Running running = known->running();
  if (running.is_function()) {
    text.add("  in a handler of a message of rank ").add(running.source);
    if (by_address) {
      text.add("; a pointer or reference that came with it means something else here");
    }
    text.add("\n");
  } else if (running.handler == Activity::kReturned) {
    text.add("  in on_returned, for a message to rank ").add(running.source).add("\n");
  }
}

// A child is not the launcher's.
CrashFrames* frames_for_launcher() noexcept {
  return getpid() == own_pid ? frames.load(std::memory_order_relaxed) : nullptr;
}

void report(const siginfo_t& info, const void* context) noexcept {
  add_who();
  // pairs with: set_segments
  const CrashSegment* first = segments.load(std::memory_order_acquire);
  add_crash_cause(text, info, interrupted_stack(context),
                  std::span(first, first == nullptr ? 0 : segment_count));
  constexpr std::uintptr_t kNull = 4096;
  add_handler(info.si_signo == SIGSEGV && info.si_code > 0 &&
              reinterpret_cast<std::uintptr_t>(info.si_addr) >= kNull);
  text.write();
  text.clear();
  add_crash_trace(text, context, frames_for_launcher(), own_rank);
}

void on_signal(int signal, siginfo_t* info, void* context) {
  if (begin_report()) {
    last_signal.store(signal, std::memory_order_relaxed);
    const Mask mask(SIG_UNBLOCK, kFaults);  // a crash in the report is to come here as well
    report(*info, context);
    end_report();
  } else if (!reported.load(std::memory_order_relaxed)) {
    text.add("  (it crashed again while it reported this)\n");
    end_report();
    signal = last_signal.load(std::memory_order_relaxed);
  }
  end_by(signal);
}

void add_exception() noexcept {
  const std::type_info* type = abi::__cxa_current_exception_type();
  if (type == nullptr) {
    text.add(" has called std::terminate without an exception: a thread that was not joined, or ");
    text.add("an exception in a destructor or noexcept function\n");
    return;
  }
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(type->name(), nullptr, nullptr, &status), &std::free);
  text.add(" ends by an exception that nobody catches, ").add(name ? name.get() : type->name());
  try {
    throw;
  } catch (const std::exception& error) {
    text.add(": ").add(error.what());
  } catch (...) {
    // Its type has to do.
  }
  text.add("\n");
}

// What was called before, but for the one that would print the exception once more.
std::terminate_handler terminate_before = nullptr;

void on_terminate() {
  if (begin_report()) {
    add_who();
    add_exception();
    add_handler(false);
    text.write();
    text.clear();
    add_crash_trace(text, nullptr, frames_for_launcher(), own_rank);
    end_report();
  }
  if (terminate_before != nullptr) terminate_before();
  std::abort();
}

// A second stack for this thread, for the handlers, unless it has one. It stays for good.
void provide_stack() {
  stack_t now{};
  if (sigaltstack(nullptr, &now) != 0 || (now.ss_flags & SS_DISABLE) == 0) return;
  void* memory = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) return;  // reports of overflows only
  const stack_t own{.ss_sp = memory, .ss_flags = 0, .ss_size = kStackBytes};
  sigaltstack(&own, nullptr);
}

bool is_ours(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == on_signal;
}

}  // namespace

CrashReport::CrashReport(Rank rank) : terminate_before_(std::set_terminate(on_terminate)) {
  own_rank = rank;
  own_pid = getpid();
  if (terminate_before_ != on_terminate) {
    terminate_before =
        terminate_before_ == __gnu_cxx::__verbose_terminate_handler ? nullptr : terminate_before_;
  }
  prepare_crash_trace();
  provide_stack();
  for (const int signal : kFaults) {
    struct sigaction before {};
    if (sigaction(signal, nullptr, &before) != 0 || (before.sa_flags & SA_SIGINFO) != 0 ||
        before.sa_handler != SIG_DFL) {
      continue;
    }
    struct sigaction action {};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(signal, &action, nullptr);
  }
}

CrashReport::~CrashReport() {
  for (const int signal : kFaults) {
    struct sigaction now {};
    if (sigaction(signal, nullptr, &now) == 0 && is_ours(now)) ::signal(signal, SIG_DFL);
  }
  if (std::get_terminate() == on_terminate) std::set_terminate(terminate_before_);
  segments.store(nullptr, std::memory_order_relaxed);
  activity.store(nullptr, std::memory_order_relaxed);
  frames.store(nullptr, std::memory_order_relaxed);
}

void CrashReport::set_network(std::string_view library, std::string_view description) {
  const std::string_view provider = description.substr(0, description.find(" ("));
  name_network(std::string(library) + "'s " + std::string(provider));
}

void CrashReport::set_activity(const Activity& of_this_process) {
  // pairs with: add_handler
  activity.store(&of_this_process, std::memory_order_release);
}

void CrashReport::set_frames(CrashFrames* for_launcher) {
  frames.store(for_launcher, std::memory_order_relaxed);
}

void CrashReport::set_segments(std::span<const CrashSegment> all) {
  segments_ = std::make_unique<CrashSegment[]>(all.size());
  std::ranges::copy(all, segments_.get());
  segment_count = all.size();
  // pairs with: on_signal
  segments.store(segments_.get(), std::memory_order_release);
}

}  // namespace am
