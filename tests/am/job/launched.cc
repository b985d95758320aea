// What tests start under splitcrun and other launchers: a program that joins its job and then
// behaves, or misbehaves, as its arguments say. The process that misbehaves is the one of rank
// RANK.
//
//   launched finish             all meet, each prints "rank R of N"
//   launched blobs N           they exchange N times, each prints "rank R of N"
//   launched leave RANK         it leaves with 0 while the others wait for it
//   launched quick_leave RANK   likewise, by quick_exit()
//   launched leave_all          all meet, and each leaves with 0 before it has finished
//   launched absent RANK        it leaves with 0 and never joins
//   launched exit RANK CODE     it exits with CODE
//   launched raise RANK SIGNAL  it raises SIGNAL
//   launched abort RANK CODE    it aborts the job
//   launched wait SIGNAL        each prints its pid, waits for SIGNAL, prints it, finishes
//   launched hang               each prints its pid and stays, ignoring SIGTERM
//   launched leave_behind NAME  each leaves a process of that name behind and finishes
//   launched lines N LENGTH     each prints N lines of one letter, in pieces; no last newline
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "am/job/config/config.h"
#include "am/job/make_bootstrap.h"

namespace {

void print(const std::string& text) {
  if (write(STDOUT_FILENO, text.data(), text.size()) < 0) _exit(99);
}

void print_lines(int count, int length, am::Rank rank) {
  const std::string line(static_cast<std::size_t>(length), static_cast<char>('a' + rank));
  std::string all;
  for (int i = 0; i < count; ++i) all += line + "\n";
  all.pop_back();
  for (std::size_t begin = 0; begin < all.size(); begin += 777) print(all.substr(begin, 777));
}

// Exchanges blobs of all sizes that are allowed, other ones in every round and rank.
void exchange_blobs(int rounds, am::Bootstrap& job) {
  for (int round = 0; round < rounds; ++round) {
    const auto blob_of = [round](am::Rank rank) {
      const std::size_t length = round == 0 ? am::Bootstrap::kMaxBlob
                                            : (round * 37 + rank * 101) % am::Bootstrap::kMaxBlob;
      return std::vector<std::byte>(length, static_cast<std::byte>(round * 16 + rank));
    };
    const auto all = job.exchange(blob_of(job.rank()));
    for (am::Rank rank = 0; rank < job.size(); ++rank) {
      if (all.at(rank) != blob_of(rank)) throw am::Error("wrong blob of " + std::to_string(rank));
    }
    if (round % 2 == 0) job.barrier();
  }
}

void leave_behind(const char* name) {
  if (fork() != 0) return;
  setsid();
  signal(SIGTERM, SIG_IGN);
  prctl(PR_SET_NAME, name);
  while (true) pause();
}

void wait_for(int signal) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  print(std::to_string(getpid()) + "\n");
  int got = 0;
  sigwait(&set, &got);
  print("got " + std::to_string(got) + "\n");
}

[[noreturn]] void hang() {
  signal(SIGTERM, SIG_IGN);
  print(std::to_string(getpid()) + "\n");
  while (true) pause();
}

// What the process of rank RANK does instead of meeting the others.
void misbehave(const std::string& how, int argument, am::Bootstrap& job) {
  if (how == "leave") std::exit(0);
  if (how == "quick_leave") std::quick_exit(0);
  if (how == "exit") std::exit(argument);
  if (how == "raise") raise(argument);
  if (how == "abort") job.abort(argument, "rank " + std::to_string(job.rank()) + ": no more room");
}

void behave(const std::string& how, const char* argument, int first, int second,
            am::Bootstrap& job) {
  if (how == "leave_all") std::exit(0);
  if (how == "wait") wait_for(first);
  if (how == "hang") hang();
  if (how == "leave_behind") leave_behind(argument);
  if (how == "lines") print_lines(first, second, job.rank());
  if (how == "blobs") exchange_blobs(first, job);
  if (how != "finish" && how != "blobs") return;
  print("rank " + std::to_string(job.rank()) + " of " + std::to_string(job.size()) + "\n");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "finish";
  const int first = argc > 2 ? std::atoi(argv[2]) : 0;
  const int second = argc > 3 ? std::atoi(argv[3]) : 0;
  try {
    const am::Config config = am::read_config();
    const auto chosen = static_cast<am::Rank>(first);
    if (how == "absent" && config.rank == chosen) return 0;
    const auto job = am::make_bootstrap(config);
    if (job->rank() == chosen) misbehave(how, second, *job);
    job->barrier();
    behave(how, argc > 2 ? argv[2] : "", first, second, *job);
    job->barrier();
    job->finished();
  } catch (const am::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 42;
  }
}
