#include "am/types/forked.h"

#include <pthread.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <string>

#include "shmem/region.h"

namespace am {
namespace {

// Of the process that has the job.
bool watched = false;
Rank job_rank = 0;
pid_t job_process = 0;

std::array<void (*)() noexcept, 16> spoilers{};
std::size_t spoiler_count = 0;

void in_child() {
  if (!watched || detail::forked) return;
  detail::forked = true;
  for (std::size_t i = 0; i < spoiler_count; ++i) spoilers[i]();
}

}  // namespace

ForkWatch::ForkWatch(Rank rank) {
  static const int registered = pthread_atfork(nullptr, nullptr, &in_child);
  if (registered != 0) throw Error("Job: no memory to notice forks");
  job_rank = rank;
  job_process = getpid();
  shmem::Region::keep_children_out(true);
  watched = true;
}

ForkWatch::~ForkWatch() {
  watched = false;
  shmem::Region::keep_children_out(false);
}

void spoil_in_children(void (*spoil)() noexcept) {
  for (std::size_t i = 0; i < spoiler_count; ++i) {
    if (spoilers[i] == spoil) return;
  }
  spoilers.at(spoiler_count++) = spoil;
}

std::string fork_sentence() {
  return "this process, " + std::to_string(getpid()) + ", was forked from rank " +
         std::to_string(job_rank) + ", and has no part in its job; only process " +
         std::to_string(job_process) +
         " may call the library; let the child call exec() or _exit()";
}

void refuse_forked(Call call) { throw Error(refusal_text(job_rank, call, fork_sentence())); }

void end_forked(const char* call) noexcept {
  std::fprintf(stderr, "a child of rank %u: %s: %s\n", job_rank, call, fork_sentence().c_str());
  _exit(1);
}

}  // namespace am
