// A request, two waits and a put on a channel, in a program of am/ alone: what statistics_test.cc
// finds again.
#include <array>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <optional>
#include <span>
#include <utility>

#include "am/am.h"

namespace {

bool answered = false;
bool arrived = false;

void on_answer(am::Reply) { answered = true; }
void on_question(am::Request request) { std::move(request).reply<&on_answer>(); }

void ask_and_put(am::Bundle& bundle, am::Endpoint& endpoint, const am::ChannelHandle& to) {
  endpoint.request<&on_question>(1);
  bundle.wait_until([] { return answered; });  // line: answer
  const std::array<std::byte, 100> source{};
  am::SendChannel out(bundle, to);
  out.associate(source);
  out.put();
  out.close();
}

void run() {
  am::Job job;
  am::Bundle bundle(job);
  am::Endpoint endpoint(bundle);
  endpoint.add_handlers<&on_question, &on_answer>();
  job.connect(endpoint);
  std::optional<am::ReceiveChannel> in;
  if (job.rank() == 1) {
    const std::span<std::byte> buffer(job.router().segment(), 100);
    in.emplace(bundle, buffer, [] { arrived = true; });
  }
  const auto handles = job.exchange(in ? in->handle() : am::ChannelHandle{});
  if (job.rank() == 0) {
    ask_and_put(bundle, endpoint, handles[1]);
  } else {
    bundle.wait_until([] { return arrived; });
  }
  job.barrier(bundle);
  in.reset();
  job.finish(bundle);
}

}  // namespace

int main() {
  try {
    run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "counted_am: %s\n", error.what());
    return 1;
  }
}
