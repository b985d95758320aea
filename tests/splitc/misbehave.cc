// What program_test starts: a Split-C program that ends, or fails, as its first argument says. The
// process that fails is the one of rank RANK.
//
//   misbehave result CODE       every process returns CODE
//   misbehave nothing           a program without a result
//   misbehave throw RANK        it throws a std::runtime_error
//   misbehave refused RANK      it makes a call that throws splitc::Error
//   misbehave strange RANK      it throws an int
//   misbehave mismatch          process 0 makes another collective call than the others
//   misbehave half              the program ends between the halves of a barrier
//   misbehave argument          it asks for an argument that is not there
//   misbehave handler RANK      a function that atomic() runs there throws
//   misbehave call              process 0 calls a function in the last one
//   misbehave rpc RANK          so does one that rpc() runs there
//   misbehave verdict           every process returns 1, and process 0 exits last
//   misbehave unsynced RANK     it ends while a get into its frame is under way
//   misbehave left RANK         a function that started such a get has returned when it polls
//   misbehave kept RANK         it ends while a get into memory that stays is under way
//   misbehave waiting RANK      it ends while another thread of it waits, for ever
//   misbehave polling RANK      it ends while another thread of it polls, until that is refused
//   misbehave word              all add to a word of process 0, which prints it
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>

#include "splitc/splitc.h"

namespace {

using namespace splitc;

int answer(int& x, int y) { return x + y; }
int fail(int&, int) { throw std::runtime_error("no more of this"); }

void fail_there() { throw std::runtime_error("no more of this"); }

double stays = 0;

[[gnu::noinline]] void start_and_return(global_ref<double> from) {
  double gone = 0;
  get(gone, from);
}

// Starts to read from the next process, and does not wait.
int forget_sync(const std::string& how, bool me) {
  const auto all = all_spread_malloc<double>(procs());
  barrier();
  const global_ptr<double> next = all.on((my_proc() + 1) % procs());
  double local = 0;
  if (me && how == "unsynced") get(local, next);
  if (me && how == "kept") get(stays, next);
  if (me && how == "left") start_and_return(*next);
  if (how == "left") barrier();
  return 0;
}

void add_together() {
  const spread_array<int> a(procs());
  fetch_and_add(a[procs() - 1], 10);
  barrier();
  on_one([&] { std::printf("sum %d\n", static_cast<int>(a[procs() - 1])); });
  barrier();
}

// Another thread, which ends when it is refused.
std::jthread other_thread;

void start_thread(bool waits) {
  static std::atomic<int> calls{0};
  other_thread = std::jthread([waits] {
    const auto never = [] {
      ++calls;
      return false;
    };
    try {
      if (waits) wait_until(never);
      for (;; ++calls) poll();
    } catch (const Error& error) {
      std::fprintf(stderr, "%s\n", error.what());
    }
  });
  while (calls < 10) std::this_thread::yield();
}

int chosen(const std::string& how, Args args) {
  const int number = args.size() > 2 ? std::stoi(args[2]) : 0;
  const bool me = static_cast<int>(my_proc()) == number;
  if (how == "result") return number;
  if (how == "throw" && me) throw std::runtime_error("the disk is full");
  if (how == "refused" && me) toglobal(&args);
  if (how == "strange" && me) throw 42;
  if (how == "mismatch") my_proc() == 0 ? all_bcast(1) : all_reduce(1, std::plus());
  if (how == "half") barrier_notify();
  if (how == "argument") args[7];
  if (how == "handler" || how == "call") {
    const spread_array<int> a(procs());
    a[my_proc()] = 40;
    barrier();
    const std::uint32_t target = how == "call" ? procs() - 1 : static_cast<std::uint32_t>(number);
    on_one([&] {
      if (how == "call") std::printf("answer %d\n", atomic<&answer>(a.pointer(target), 2));
      if (how == "handler") atomic<&fail>(a.pointer(target), 2);
    });
    barrier();
  }
  if (how == "rpc") {
    on_one([&] { rpc(static_cast<std::uint32_t>(number), [] { fail_there(); }).wait(); });
  }
  if (how == "verdict") {
    on_one([] { std::puts("WRONG"); });  // to a pipe: it is in a buffer
    return 1;
  }
  if (how == "word") add_together();
  if (how == "unsynced" || how == "kept" || how == "left") return forget_sync(how, me);
  if (how != "half") barrier();
  if (me && (how == "waiting" || how == "polling")) start_thread(how == "waiting");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "nothing") {
    return run(argc, argv, [](Args args) { std::printf("%d arguments\n", args.size() - 1); });
  }
  const std::string how = argc > 1 ? argv[1] : "";
  const RunOptions options{.threads = how == "waiting" || how == "polling" ? 2u : 1u};
  bool stays = false;
  const int code = run(argc, argv, options, [&](Args args) {
    stays = std::string(args[1]) == "verdict" && my_proc() == 0;
    return chosen(args[1], args);
  });
  if (other_thread.joinable()) other_thread.join();
  while (stays) pause();  // until the job is ended
  return code;
}
