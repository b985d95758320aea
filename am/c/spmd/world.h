// am/c/spmd: jobs of processes that all run one program (am/c/spmd.h), above the binding.
//
// What the SPMD layer has of its own: a bundle with one endpoint, by which processes give each
// other what they gather, beside the ones that the program gets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <vector>

#include "am/collective/nodes.h"
#include "am/core/bundle.h"
#include "am/core/endpoint.h"
#include "am/core/token.h"
#include "am/job/job.h"

namespace am::c {

// Thread rule: the thread that has started.
class SpmdWorld {
 public:
  // Collective. Gathers the environment of rank 0, and the job's number.
  explicit SpmdWorld(Job& job);
  SpmdWorld(const SpmdWorld&) = delete;
  SpmdWorld& operator=(const SpmdWorld&) = delete;

  Job& job() noexcept { return job_; }
  // A number by which rank 0 has distinguished the job from others.
  std::uint64_t id() const noexcept { return id_; }
  // Collective. If a handler throws out of it, call it again: it goes on with the same barrier.
  void barrier(Call call) { job_.barrier(bundle_, call); }
  // Everybody's `mine`, by rank, at `all`, which has room for them. Collective. What a handler
  // throws meanwhile comes out when it is done.
  void all_gather(std::span<const std::byte> mine, std::byte* all, Call call);
  // A variable of rank 0; nullptr: it had none such. Any thread.
  const char* variable(const char* name) const noexcept;
  // All of them, NAME=VALUE each, and nullptr. Any thread.
  const char* const* variables() const noexcept { return variables_.data(); }
  // Any thread.
  const Nodes& nodes() const noexcept { return nodes_; }

 private:
  void on_piece(OneWay message, std::span<const std::byte> piece, std::uint64_t offset);
  // give() sends `bytes` to all other processes, which expect them; await() waits until `bytes` of
  // theirs have arrived here.
  void give(std::span<const std::byte> bytes);
  void await(std::uint64_t bytes);
  template <class Step>
  void finish(Step&& step);
  void share_environment();

  Job& job_;
  Bundle bundle_;
  Endpoint endpoint_;
  std::uint64_t id_ = 0;
  // For the current gather: the bytes of rank r go to r * stride_ from here.
  std::byte* all_ = nullptr;
  std::uint64_t stride_ = 0;
  std::uint64_t received_ = 0;
  std::exception_ptr thrown_;  // by a handler that ran meanwhile
  const Nodes nodes_;
  std::string environment_;             // of rank 0: NAME=VALUE, each ended by 0
  std::vector<const char*> variables_;  // in it, and nullptr
};

// AMX_SPMDExit(): how a process asks all others to end, and hears that it is to end itself.
//
// A thread of its own sleeps until an end is requested, runs the exit callback and ends the
// process. So the program's threads may be doing anything: they may compute, sleep, or be in a
// signal handler.

// This process is part of `job` and ends when a process of it asks for that. Once per process;
// throws std::system_error if no thread can be made.
void start_exit_watch(Job& job);

// The job ends. Whether the thread waits in memory of it, which may not be destroyed then.
bool exit_watch_uses_job() noexcept;

}  // namespace am::c
