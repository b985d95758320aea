// What kill_test starts under splitcrun: a job that does not end by itself. Each process prints
// "RANK PID" and then goes on for ever.
//
//   victim flood     requests to everybody, all kinds, as many as credits allow
//   victim barriers  one barrier after the other
//   victim channels  puts round and round, on channels from each process to the next
//   victim zero_copy puts, gets and requests to everybody, in the segment and outside
//   victim mourned   rank 1 takes time to end (its memory); once it does, the others give up
//   victim headless  the first thread of rank 0 ends, another lives on; then rank 1 leaves with 3
//   victim blocked   asleep, waiting for a message that nobody sends
#include <sched.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "am/am.h"
#include "am/route/process_stat.h"

namespace {

std::uint64_t pongs = 0;
void on_pong(am::Reply, std::uint64_t) { ++pongs; }
void on_ping(am::Request request, std::uint64_t n) { std::move(request).reply<&on_pong>(n); }
void on_bytes(am::Request, std::span<const std::byte>) {}
void on_block(am::OneWay, std::span<std::byte>) {}

void tell(const am::Job& job) {
  const std::string line = std::to_string(job.rank()) + " " + std::to_string(getpid()) + "\n";
  if (write(STDOUT_FILENO, line.data(), line.size()) < 0) _exit(99);
}

[[noreturn]] void flood(am::Job& job, am::Endpoint& endpoint) {
  static const std::array<std::byte, 4096> kBytes{};
  for (std::uint64_t n = 0;; ++n) {
    const auto to = static_cast<am::Rank>(n % job.size());
    endpoint.request<&on_ping>(to, n);
    if (n % 3 == 0) endpoint.request_medium<&on_bytes>(to, kBytes);
    if (n % 5 == 0) endpoint.request_long<&on_block>(to, 0, kBytes);
  }
}

// Every put is answered by one of the next process, from the callback.
[[noreturn]] void put(am::Job& job, am::Bundle& bundle) {
  constexpr std::size_t kBytes = 64 << 10;
  static const std::array<std::byte, kBytes> kSource{};
  std::optional<am::SendChannel> out;
  am::ReceiveChannel in(bundle, std::span(job.router().segment(), kBytes), [&] {
    in.ready();
    out->put();
  });
  out.emplace(bundle, job.exchange(in.handle())[(job.rank() + 1) % job.size()]);
  out->associate(kSource);
  job.barrier(bundle);
  if (job.rank() == 0) out->put();
  bundle.wait_until([] { return false; });
  std::abort();
}

constexpr std::size_t kMuch = 256 << 10;
std::array<std::byte, kMuch> taken;
void on_payload(am::ZeroCopyRequest& request) { request.receive(taken); }

[[noreturn]] void move_zero_copy(am::Job& job, am::Bundle& bundle) {
  static std::array<std::byte, kMuch> memory;
  am::ZeroCopy zero(job, bundle);
  zero.add_handlers<&on_payload>();
  am::ZeroCopyBuffer mapped(zero, std::span(job.router().segment(), kMuch));
  am::ZeroCopyBuffer large(zero, memory);
  am::ZeroCopyBuffer small(zero, std::span(memory).first(8));
  const auto all = job.exchange(std::array{mapped.info(), large.info(), small.info()});
  tell(job);
  for (std::uint64_t n = 0;; ++n) {
    const auto to = static_cast<am::Rank>(n % job.size());
    large.put(all[to][0]);
    large.get(all[to][1]);
    small.get(all[to][2]);
    zero.request_zero_copy<&on_payload>(to, memory, {});
    if (n % 8 == 0) zero.wait();
  }
}

// Ends with code 3 before the launcher can have learned what has become of rank 1.
[[noreturn]] void mourn(am::Job& job, am::Bundle& bundle) {
  const std::vector<pid_t> pids = job.exchange(getpid());
  const std::vector<char> memory(job.rank() == 1 ? 64 << 20 : 0, 'm');
  job.barrier(bundle);
  tell(job);
  while (job.rank() == 1 || !am::has_ended(pids[1])) sched_yield();
  _exit(3);
}

// Rank 0 lives on in a thread that is not its first; rank 1 ends with code 3 when it sees that.
[[noreturn]] void lose_head(am::Job& job, am::Bundle& bundle) {
  const std::vector<pid_t> pids = job.exchange(getpid());
  job.barrier(bundle);
  tell(job);
  if (job.rank() == 0) {
    std::thread([] { pause(); }).detach();
    syscall(SYS_exit, 0);  // of this thread
  }
  const auto has_lost_it = [&] {
    const auto stat = am::read_process_stat(pids[0]);
    return stat && stat->state == 'Z';
  };
  while (job.rank() != 1 || !has_lost_it()) sched_yield();
  _exit(am::has_ended(pids[0]) ? 4 : 3);
}

void run(const std::string& how) {
  am::Job job;
  am::Bundle bundle(job);
  am::Endpoint endpoint(bundle);
  endpoint.add_handlers<&on_pong, &on_ping, &on_bytes, &on_block>();
  job.connect(endpoint);
  if (how == "zero_copy") move_zero_copy(job, bundle);
  if (how == "mourned") mourn(job, bundle);
  if (how == "headless") lose_head(job, bundle);
  tell(job);
  if (how == "flood") flood(job, endpoint);
  while (how == "barriers") job.barrier(bundle);
  if (how == "channels") put(job, bundle);
  bundle.wait_until([] { return false; });
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(argc > 1 ? argv[1] : "");
  } catch (const am::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
