// What crash_test starts: a job whose rank RANK crashes, as HOW says.
//
//   crasher RANK HOW [thread]      in a second thread
#include <dlfcn.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>

#include "am/am.h"

struct OwnError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

namespace {

int* volatile nothing = nullptr;
volatile int zero = 0;
void (*volatile no_function)() = nullptr;

void on_own_signal(int) {
  (void)!write(STDERR_FILENO, "own handler\n", 12);
  _exit(7);
}

[[noreturn]] void on_own_terminate() {
  (void)!write(STDERR_FILENO, "own terminate\n", 14);
  _exit(8);
}

// The protected page in the middle of the segment of `rank`.
constexpr std::size_t kProtected = 1 << 20;
char* protected_page(am::Job& job, am::Rank rank) {
  char* page = reinterpret_cast<char*>(job.router().peer(rank).segment) + kProtected;
  if (mprotect(page, 4096, PROT_NONE) != 0) std::perror("mprotect");
  return page;
}

}  // namespace

// A null pointer is to crash and not to be found out by the undefined-behaviour sanitizer.
#define CRASHES __attribute__((noinline, no_sanitize("undefined")))

// Named as C names them, so that a test finds them in a backtrace.
extern "C" {

CRASHES void crash_libfabric() {
  void* const library = dlopen("libfabric.so.1", RTLD_NOW);
  auto* const dup = reinterpret_cast<void* (*)(void*)>(dlsym(library, "fi_dupinfo"));
  dup(reinterpret_cast<void*>(16));
}

CRASHES void crash_child() {
  const pid_t child = fork();
  if (child == 0) *nothing = 1;
  int status = 0;
  waitpid(child, &status, 0);
  _exit(WIFSIGNALED(status) ? 9 : 0);
}

CRASHES int recurse_for_ever(int depth) {
  volatile char local[512];
  local[0] = static_cast<char>(depth);
  return (zero == 0 ? recurse_for_ever(depth + 1) : 0) + local[0];
}

CRASHES void crash_here(const std::string& how, am::Job& job) {
  if (how == "segv") *nothing = 1;
  if (how == "segment") protected_page(job, job.size() - 1)[40] = 1;
  if (how == "libfabric") crash_libfabric();
  if (how == "fpe") zero = 7 / zero;
  if (how == "ill") __builtin_trap();
  if (how == "abort") std::abort();
  if (how == "call") no_function();
  if (how == "raise") raise(SIGSEGV);
  if (how == "trap") raise(SIGTRAP);
  if (how == "deep") zero = recurse_for_ever(0);
  if (how == "throw") throw OwnError("the text of it");
  if (how == "throw_int") throw 3;
  if (how == "terminate") std::terminate();
  if (how == "child") crash_child();
  if (how == "bus") {
    const int file = memfd_create("small", 0);
    if (ftruncate(file, 4096) != 0) std::perror("ftruncate");
    static_cast<char*>(mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0))[5000] = 1;
  }
}

CRASHES void crash_in_handler(am::OneWay) { *nothing = 1; }
void use_pointer(am::Request, std::uint64_t address) {
  *reinterpret_cast<volatile int*>(address) = 1;
}
void throw_in_handler(am::OneWay) { throw OwnError("the text of it"); }

}  // extern "C"

namespace {

void install_own(const std::string& what) {
  if (what == "own_signal") signal(SIGSEGV, on_own_signal);
  if (what == "own_terminate") std::set_terminate(on_own_terminate);
}

void run(int argc, char** argv) {
  const auto victim = static_cast<am::Rank>(argc > 1 ? std::atoi(argv[1]) : 0);
  const std::string how = argc > 2 ? argv[2] : "";
  const std::string where = argc > 3 ? argv[3] : "";
  if (where == "before") install_own(argv[4]);
  am::Job job;
  if (where == "after") install_own(argv[4]);
  am::Bundle bundle(job);
  am::Endpoint endpoint(bundle);
  endpoint.add_handlers<&crash_in_handler, &use_pointer, &throw_in_handler>();
  job.connect(endpoint);
  if (job.rank() == 0 && how == "handler") endpoint.request<&crash_in_handler>(victim);
  if (job.rank() == 0 && how == "handler_pointer") {
    endpoint.request<&use_pointer>(victim, std::uint64_t{1} << 44);  // where nothing is
  }
  if (job.rank() == 0 && how == "handler_throws") endpoint.request<&throw_in_handler>(victim);
  if (job.rank() == victim && !how.starts_with("handler")) {
    if (where == "thread") {
      std::thread([&] { crash_here(how, job); }).join();
    } else {
      crash_here(how, job);
    }
  }
  bundle.wait_until([] { return false; });
}

}  // namespace

int main(int argc, char** argv) { run(argc, argv); }
