// A server with one event loop: questions of a client come through a socket, answers of the workers
// as messages, and all processes sleep in epoll_wait while neither comes.
//
//   ./run event_loop_epoll                   4 processes, three of them workers
//   ./run -n 3 --nodes 3 event_loop_epoll    each on a node of its own

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <system_error>
#include <thread>
#include <utility>

#include "am/am.h"

namespace {

constexpr std::uint64_t kQuestions = 1000;

int checked(int result, const char* call) {
  if (result < 0) throw std::system_error(errno, std::generic_category(), call);
  return result;
}

// Sleeps until a descriptor is readable, or until the bundle has something to do.
class Loop {
 public:
  explicit Loop(am::Bundle& bundle)
      : bundle_(bundle), set_(checked(epoll_create1(EPOLL_CLOEXEC), "epoll_create1")) {
    watch(bundle.event_fd(), nullptr);
  }
  ~Loop() { close(set_); }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  // Calls `on_readable`, which lives as long as the loop, whenever `fd` is readable.
  void watch(int fd, std::function<void()>* on_readable) {
    epoll_event wanted{};
    wanted.events = EPOLLIN;
    wanted.data.ptr = on_readable;
    checked(epoll_ctl(set_, EPOLL_CTL_ADD, fd, &wanted), "epoll_ctl");
  }

  // arm() comes last before the sleep, and after it nothing of the library is called.
  template <class Condition>
  void run_until(const Condition& condition) {
    while (!condition()) {
      if (bundle_.arm()) sleep();
      bundle_.poll();
    }
  }

 private:
  void sleep() {
    std::array<epoll_event, 8> found;
    const int count = epoll_wait(set_, found.data(), static_cast<int>(found.size()), -1);
    for (int i = 0; i < count; ++i) {
      auto* const on_readable = static_cast<std::function<void()>*>(found[i].data.ptr);
      if (on_readable != nullptr) (*on_readable)();
    }
  }

  am::Bundle& bundle_;
  int set_;
};

struct Server {
  int client = -1;  // the server's end of the socket
  std::uint64_t asked = 0, answered = 0;
  bool client_is_gone = false;
} server;
bool stopped = false;  // a worker

std::uint64_t divisors(std::uint64_t n) {
  std::uint64_t count = 0;
  for (std::uint64_t i = 1; i <= n; ++i) count += n % i == 0;
  return count;
}

void on_answer(am::Reply, std::uint64_t answer) {
  ++server.answered;
  checked(static_cast<int>(write(server.client, &answer, sizeof answer)), "write");
}
void on_question(am::Request from, std::uint64_t n) {
  std::move(from).reply<&on_answer>(divisors(n));
}
void on_stop(am::OneWay) { stopped = true; }

// A socket carries whole questions here, as both ends write eight bytes at a time.
void take_question(am::Endpoint& endpoint, std::uint32_t procs) {
  std::uint64_t n = 0;
  if (checked(static_cast<int>(read(server.client, &n, sizeof n)), "read") == 0) {
    server.client_is_gone = true;
    return;
  }
  const am::Rank worker = procs == 1 ? 0 : 1 + server.asked % (procs - 1);
  ++server.asked;
  endpoint.request<&on_question>(worker, n);
}

// Knows nothing of jobs: asks through its socket, and adds up what it is told.
void ask(int socket, std::uint64_t& sum) {
  for (std::uint64_t n = 1; n <= kQuestions; ++n) {
    std::uint64_t answer = 0;
    if (write(socket, &n, sizeof n) < 0 || read(socket, &answer, sizeof answer) < 0) break;
    sum += answer;
  }
  shutdown(socket, SHUT_WR);
}

void serve(am::Bundle& bundle, am::Endpoint& endpoint, std::uint32_t procs) {
  std::array<int, 2> ends{};
  checked(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()), "socketpair");
  server.client = ends[0];
  std::uint64_t sum = 0;
  std::thread client([&] { ask(ends[1], sum); });
  std::function<void()> on_readable = [&] {
    if (!server.client_is_gone) take_question(endpoint, procs);
  };
  Loop loop(bundle);
  loop.watch(server.client, &on_readable);
  loop.run_until([] { return server.client_is_gone && server.answered == server.asked; });
  client.join();
  for (am::Rank worker = 1; worker < procs; ++worker) endpoint.request<&on_stop>(worker);
  std::printf("%lu questions were answered; all answers together: %lu\n", server.answered, sum);
  for (const int end : ends) close(end);
}

void run() {
  am::Job job;
  am::Bundle bundle(job);
  am::Endpoint endpoint(bundle);
  endpoint.add_handlers<&on_question, &on_answer, &on_stop>();
  job.connect(endpoint);
  if (job.rank() == 0) {
    serve(bundle, endpoint, job.size());
  } else {
    Loop(bundle).run_until([] { return stopped; });
  }
  job.finish(bundle);
}

}  // namespace

int main() {
  try {
    run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "event_loop_epoll: %s\n", error.what());
    return 1;
  }
}
