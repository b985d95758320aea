// Programs that stand still or end the job, each for one mistake: hang <mistake>. The lines that
// are marked are those that the report shall name.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "am/am.h"
#include "splitc/splitc.h"

namespace {

using splitc::my_proc;
using splitc::procs;

void on_pong(am::Reply) {}
void on_ping(am::Request) {}
void on_wrong(am::Request) { throw std::runtime_error("nothing is right"); }
void on_endless(am::Request) {
  for (;;) pause();
}

constexpr auto on_lambda = [](am::OneWay) {
  for (;;) pause();
};
constexpr auto* kLambda = +on_lambda;
std::unique_ptr<am::Bundle> second;
void on_end(am::OneWay) { second.reset(); }

am::Endpoint& endpoint() { return splitc::world().endpoint(); }

// Without a call of the library, and without an end.
[[noreturn]] void compute() {
  for (;;) pause();
}

void miss_a_barrier() {
  if (my_proc() == 1) splitc::store_sync(8);  // line: elsewhere
  splitc::barrier();                          // line: barrier
}

void await_too_many_bytes() {
  splitc::spread_array<std::uint64_t> words(procs());
  if (my_proc() == 0) splitc::store(words[1], 7);
  if (my_proc() == 1) splitc::store_sync(128);  // line: store_sync
  splitc::barrier();                            // line: after_store
}

void keep_a_lock() {
  splitc::spread_array<std::uint64_t> lock(procs());
  if (my_proc() == 0) splitc::test_and_set(lock[0]);
  splitc::barrier();
  if (my_proc() == 0) splitc::barrier();                                   // line: owner
  splitc::wait_until([&] { return splitc::test_and_set(lock[0]) == 0; });  // line: lock
  splitc::write(&lock[0], 0);
  splitc::barrier();
}

void wait_for_each_other() {
  static bool arrived = false;
  endpoint().bundle().wait_until([] { return arrived; });  // line: first
  endpoint().request<&on_ping>(1 - my_proc());
}

void never_return_from_a_handler() {
  splitc::barrier();
  if (my_proc() == 0) endpoint().request<&on_endless>(1);
  if (my_proc() == 0) splitc::store_sync(1);  // line: handler
  splitc::barrier();
}

// Until the end of the job.
[[noreturn]] void call_each_other() {
  for (;;) {
    splitc::rpc(
        1 - my_proc(), [](int x) { return x; }, 1)
        .wait();
  }
}

void await_a_put() {
  splitc::spread_array<double> ghost(8 * procs());
  const bool sends = my_proc() == 0;
  splitc::put_channel<double> channel(sends ? ghost.on(1) : splitc::global_ptr<double>(),
                                      ghost.mine());
  if (my_proc() == 1) channel.wait();  // line: put
  splitc::barrier();                   // line: after_put
}

void miss_a_channel() {
  splitc::spread_array<double> ghost(8 * procs());
  if (my_proc() == 1) splitc::store_sync(8);                       // line: no_channel
  splitc::put_channel<double> channel(ghost.on(0), ghost.mine());  // line: channel
}

void stop_a_peer() {
  splitc::barrier();
  if (my_proc() == 1) raise(SIGSTOP);
  splitc::barrier();  // line: stopped
}

void send_to_the_deaf() {
  splitc::barrier();
  if (my_proc() == 1) compute();
  for (;;) endpoint().request<&on_ping>(1);  // line: credit
}

void transfer_to_nobody() {
  static std::vector<std::byte> memory(1 << 20);
  am::ZeroCopy zero(splitc::world().job(), splitc::world().bundle());
  am::ZeroCopyBuffer buffer(zero, memory);
  const auto all = splitc::world().job().exchange(buffer.info());
  if (my_proc() == 1) compute();
  for (;;) {  // not one alone: rank 1 may still be in the exchange, where it polls
    buffer.put(all[1]);
    zero.wait();  // line: transfer
  }
}

void finish_early() {
  if (my_proc() == 0) return;
  am::Job& job = splitc::world().job();
  for (;;) job.barrier(splitc::world().bundle());  // line: widowed
}

void get_from_the_deaf() {
  splitc::spread_array<std::uint64_t> words(procs());
  splitc::barrier();
  if (my_proc() == 1) compute();
  std::uint64_t value = 0;
  // Not one alone: rank 1 may still be in the barrier, where it polls and answers.
  for (;;) splitc::sync(splitc::get(value, words[1]));  // line: get
}

void wait_alone() {
  splitc::store_sync(16);  // line: alone
}

void never_return_from_on_returned() {
  splitc::barrier();
  if (my_proc() == 1) {
    endpoint().on_returned([](const am::Returned&) {
      for (;;) pause();
    });
    endpoint().request_index(0, 77, {});
  }
  splitc::barrier();
}

void never_return_from_a_lambda() {
  splitc::barrier();
  if (my_proc() == 0) endpoint().request<kLambda>(1);
  splitc::barrier();
}

void block_in_an_exchange() {
  splitc::barrier();
  if (my_proc() == 0) splitc::world().job().exchange(1);
  splitc::barrier();  // line: before_exchange
}

// While it waits, by a handler of another bundle of its thread.
template <class Wait>
void end_a_bundle(const Wait& wait) {
  if (my_proc() == 0) splitc::store_sync(1);
  second = std::make_unique<am::Bundle>(splitc::world().job());
  endpoint().request<&on_end>(my_proc());
  wait(*second);
}
void end_a_bundle_in_a_barrier() {
  end_a_bundle([](am::Bundle& bundle) { splitc::world().job().barrier(bundle); });
}
void end_a_bundle_in_quiesce() {
  end_a_bundle([](am::Bundle& bundle) { splitc::world().job().quiesce(bundle); });
}

void throw_in_a_child() {
  splitc::barrier();
  if (my_proc() == 0) {
    const pid_t child = fork();
    if (child == 0) throw std::runtime_error("a mistake of the child");
    int status = 0;
    waitpid(child, &status, 0);
    throw std::runtime_error("the child left " + std::to_string(WEXITSTATUS(status)));
  }
  splitc::barrier();
}

void throw_after_a_handler_has() {
  try {
    if (my_proc() == 1) endpoint().request<&on_wrong>(1);
    splitc::store_sync(1);
  } catch (const std::runtime_error&) {
    throw std::runtime_error("a mistake of its own");
  }
}

void throw_in_a_handler() {
  splitc::barrier();
  if (my_proc() == 0) endpoint().request<&on_wrong>(1);
  splitc::store_sync(1);
}

const std::map<std::string_view, void (*)()> kMistakes{
    {"barrier", miss_a_barrier},
    {"store_sync", await_too_many_bytes},
    {"lock", keep_a_lock},
    {"call", call_each_other},
    {"each_other", wait_for_each_other},
    {"handler", never_return_from_a_handler},
    {"put", await_a_put},
    {"channel", miss_a_channel},
    {"stopped", stop_a_peer},
    {"credit", send_to_the_deaf},
    {"transfer", transfer_to_nobody},
    {"finished", finish_early},
    {"get", get_from_the_deaf},
    {"alone", wait_alone},
    {"throw", throw_in_a_handler},
    {"returned", never_return_from_on_returned},
    {"lambda", never_return_from_a_lambda},
    {"exchange", block_in_an_exchange},
    {"end_in_barrier", end_a_bundle_in_a_barrier},
    {"end_in_quiesce", end_a_bundle_in_quiesce},
    {"child", throw_in_a_child},
    {"throw_later", throw_after_a_handler_has},
    {"none", [] {}},
};

}  // namespace

int main(int argc, char** argv) {
  const int code = splitc::run(argc, argv, [](splitc::Args args) {
    endpoint().add_handlers<&on_pong, &on_ping, &on_endless, &on_wrong, kLambda, &on_end>();
    kMistakes.at(args[1])();
  });
  raise(SIGUSR1);  // as if it was asked too late
  return code;
}
