// Messages in the event loop of Asio, beside its timers: process 0 asks at each tick of a timer,
// the others answer, and all sleep in io_context::run() meanwhile.
#include <asio.hpp>
#include <chrono>
#include <cstdio>
#include <exception>
#include <functional>
#include <utility>

#include "am/am.h"

namespace {

constexpr int kQuestions = 100;

// The place of a bundle in Asio's loop.
class InLoop {
 public:
  InLoop(asio::io_context& loop, am::Bundle& bundle)
      : bundle_(bundle), readable_(loop, bundle.event_fd()) {
    wait();
  }
  ~InLoop() { readable_.release(); }  // the descriptor is the bundle's

  // After everything in the loop that has called the library: does what there is to do, and arms.
  void settle() {
    while (!bundle_.arm()) bundle_.poll();
  }

 private:
  void wait() {
    settle();
    readable_.async_wait(asio::posix::stream_descriptor::wait_read, [this](asio::error_code error) {
      if (error) return;
      bundle_.poll();
      wait();
    });
  }

  am::Bundle& bundle_;
  asio::posix::stream_descriptor readable_;
};

asio::io_context* loop = nullptr;
int answers = 0, right = 0;
void on_answer(am::Reply, int n, int square) {
  ++answers;
  right += square == n * n;
}
void on_question(am::Request from, int n) { std::move(from).reply<&on_answer>(n, n * n); }
void on_stop(am::OneWay) { loop->stop(); }

void run() {
  am::Job job;
  am::Bundle bundle(job);
  am::Endpoint endpoint(bundle);
  endpoint.add_handlers<&on_answer, &on_question, &on_stop>();
  job.connect(endpoint);
  asio::io_context context;
  loop = &context;
  InLoop in_loop(context, bundle);
  asio::steady_timer timer(context);
  int asked = 0;
  std::function<void(asio::error_code)> tick = [&](asio::error_code error) {
    if (error) return;
    if (asked < kQuestions) {
      endpoint.request<&on_question>(asked % job.size(), asked);
      ++asked;
    } else if (answers == kQuestions) {
      for (am::Rank to = 0; to < job.size(); ++to) endpoint.request<&on_stop>(to);
    }
    in_loop.settle();
    timer.expires_after(std::chrono::milliseconds(1));
    timer.async_wait(tick);
  };
  if (job.rank() == 0) tick({});
  context.run();
  if (job.rank() == 0) std::printf("%d answers, %d of them right\n", answers, right);
  job.finish(bundle);
}

}  // namespace

int main() {
  try {
    run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "asio_program: %s\n", error.what());
    return 1;
  }
}
