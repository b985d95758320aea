// What the ways of waiting cost: the time of a round trip, and the processor time that goes into
// it. Polling, system calls and interrupts were compared like that in "The influence of system
// calls and interrupts on the performances of a PC cluster using a Remote DMA communication
// primitive". One job waits in one way; benchmarks/waits.sh compares them:
//   SPLITC_WAIT=spin|yield|block splitcrun -n 2 [--nodes 2] waits

#include <time.h>

#include <string>
#include <utility>

#include "am/am.h"
#include "benchmarks/support/clock.h"
#include "benchmarks/support/program.h"

namespace {

using bench::Bench;
using bench::Samples;

constexpr double kComputing = 1e6;  // ns

std::uint64_t answers = 0;
std::uint64_t questions = 0;
double computed_ns = 0;  // of all late answers

void on_answer(am::Reply) { ++answers; }
void on_question(am::Request request) {
  ++questions;
  std::move(request).reply<&on_answer>();
}
void on_late_question(am::OneWay) { ++questions; }
void on_late_answer(am::OneWay, double computed) {
  ++answers;
  computed_ns += computed;
}

void add_handlers(am::Endpoint& endpoint) {
  endpoint.add_handlers<&on_answer, &on_question, &on_late_question, &on_late_answer>();
}

// Of this process, all threads.
double processor_ns() noexcept {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

// What the two processes need for a measurement.
struct Cost {
  double ns = 0;
  double asker = 0;     // processor time at rank 0, ns
  double answerer = 0;  // at rank 1
};

// Runs `ask()` at rank 0 and `answer()` at rank 1, `times` over.
template <class Ask, class Answer>
Cost cost_of(Bench& b, int times, Ask ask, Answer answer) {
  b.messages.swap(0);  // both are here
  const bench::Stopwatch watch;
  const double before = processor_ns();
  for (int i = 0; i < times; ++i) {
    if (b.pair.first()) {
      ask();
    } else {
      answer();
    }
  }
  const double mine = processor_ns() - before;
  const double ns = watch.ns();
  const double theirs = b.messages.swap(mine);
  return {ns / times, mine / times, theirs / times};
}

// Request and reply, `trips` a sample, where wait(count, end) returns when that counter is `end`.
template <class Wait>
void there_and_back(Bench& b, const std::string& name, int trips, const Wait& wait) {
  add_handlers(b.endpoint);
  const int n = b.count(trips);
  Samples time, asker, answerer;
  for (int rep = b.reps(100); rep > 0; --rep) {
    const Cost cost = cost_of(
        b, n,
        [&] {
          const std::uint64_t end = answers + 1;
          b.endpoint.request<&on_question>(1);
          wait(answers, end);
        },
        [&, end = questions + 1]() mutable { wait(questions, end++); });
    time.add(cost.ns);
    asker.add(cost.asker);
    answerer.add(cost.answerer);
  }
  b.report.add_time(name, 8, time);
  b.report.add_time(name + "_cpu_asking", 8, asker);
  b.report.add_time(name + "_cpu_answering", 8, answerer);
}

// Both wait as the library's calls do.
void at_once(Bench& b) {
  there_and_back(b, "round_trip", 200, [&b](const std::uint64_t& count, std::uint64_t end) {
    b.bundle.wait_until([&] { return count >= end; });
  });
}

// The other process computes before it answers.
void late(Bench& b) {
  add_handlers(b.endpoint);
  const int n = b.count(10);
  Samples time, asker;
  for (int rep = b.reps(40); rep > 0; --rep) {
    computed_ns = 0;
    const Cost cost = cost_of(
        b, n,
        [&] {
          const std::uint64_t end = answers + 1;
          b.endpoint.request<&on_late_question>(1);
          b.bundle.wait_until([end] { return answers == end; });
        },
        [&, end = questions + 1]() mutable {
          b.bundle.wait_until([&] { return questions >= end; });
          ++end;
          const bench::Stopwatch watch;
          while (watch.ns() < kComputing) {
          }
          b.endpoint.request<&on_late_answer>(0, watch.ns());
          b.bundle.poll();  // sends what waits to be coalesced
        });
    time.add(cost.ns - computed_ns / n);
    asker.add(cost.asker);
  }
  b.report.add_time("late_round_trip", 8, time);
  b.report.add_time("late_cpu_asking", 8, asker);
}

// Both sleep at once, as servers do that have nothing else to do (AM_Wait).
void asleep(Bench& b) {
  there_and_back(b, "am_wait_round_trip", 100, [&b](const std::uint64_t& count, std::uint64_t end) {
    while (count < end) {
      b.bundle.wait(am::Events::kNotEmpty);
      b.bundle.poll();
    }
  });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_program(
      argc, argv,
      {.name = "waits",
       .what = "round trips and their processor time, in the way of waiting of SPLITC_WAIT",
       .measurements =
           {
               {"at_once", "request and reply; the processor time at both ends", at_once},
               {"late",
                "a question whose answer takes 1 ms of computing: time beside that, and "
                "the processor time of who waits",
                late},
               {"asleep", "request and reply, by Bundle::wait() and poll()", asleep},
           },
       .anywhere = true});
}
