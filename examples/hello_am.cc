// Hello, Active Messages: every process asks the next one a question, and that one answers.
//
//   ./run hello_am            4 processes
//   ./run -n 2 hello_am       2 of them
//
// A message carries the name of the function that shall run where it arrives, and its arguments. So
// there is nothing to receive: polling runs what has come.

#include <cstdint>
#include <cstdio>
#include <exception>

#include "am/am.h"

namespace {

bool answered = false;

// Runs where the question came from. Its first parameter says that this is a reply, and a reply can
// send nothing: chains of messages end here, which is why they cannot deadlock.
void on_answer(am::Reply reply, std::uint64_t n, std::uint64_t square) {
  std::printf("rank %u says that %lu squared is %lu\n", reply.source(), n, square);
  answered = true;
}

// Runs at the process that is asked. The right to answer is an object, used up by answering: a
// second answer does not compile.
void on_question(am::Request request, std::uint64_t n) {
  std::move(request).reply<&on_answer>(n, n * n);
}

void hello() {
  am::Job job;             // who am I, how many are we: a job of one when started without ./run
  am::Bundle bundle(job);  // all that is polled together
  am::Endpoint endpoint(bundle);
  endpoint.add_handlers<&on_question, &on_answer>();  // the same in every process
  job.connect(endpoint);  // from now on index r is the endpoint of rank r

  const am::Rank next = (job.rank() + 1) % job.size();  // in a job of one that is itself
  endpoint.request<&on_question>(next, std::uint64_t{job.rank() + 10});

  // While this process waits for its answer, it answers the others.
  bundle.wait_until([] { return answered; });

  // It still does here: nobody leaves before all have come.
  job.finish(bundle);
}

}  // namespace

int main() {
  try {
    hello();
  } catch (const std::exception& error) {  // such as a misspelt SPLITC_ variable
    std::fprintf(stderr, "hello_am: %s\n", error.what());
    return 1;  // ends the other processes too
  }
}
