// What descriptors_test starts with closed standard streams: a job that prints much, to descriptors
// that the library must not have taken, and looks at its messages and memory all the while. The
// exit code says whether all was well, as nothing else can be said.
//
//   printer            prints to whatever 1 and 2 are
//   printer close      closes 0, 1 and 2 when the job has started, and expects that they stay
//   closed
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "am/am.h"

namespace {

enum ExitCode { kWell = 0, kWrongBytes = 3, kTaken = 4, kError = 5 };

constexpr int kRounds = 20;
constexpr std::size_t kBytes = 64 << 10;

std::uint64_t pongs = 0;
void on_pong(am::Reply, std::uint64_t) { ++pongs; }
void on_ping(am::Request request, std::uint64_t n) { std::move(request).reply<&on_pong>(n); }

void print_much() {
  const std::string text(4096, 'x');
  for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) {
    for (int i = 0; i < 8; ++i) (void)!write(fd, text.data(), text.size());
  }
}

std::byte value(am::Rank rank, int round, std::size_t i) {
  return static_cast<std::byte>(rank * 31 + static_cast<am::Rank>(round) * 7 + i);
}

// A round: everybody writes into its own segment, prints, answers, and looks at its segment again.
bool is_sound(am::Job& job, am::Bundle& bundle, am::Endpoint& endpoint, int round) {
  const std::span segment(job.router().segment(), kBytes);
  for (std::size_t i = 0; i < segment.size(); ++i) segment[i] = value(job.rank(), round, i);
  print_much();
  const std::uint64_t before = pongs;
  for (am::Rank to = 0; to < job.size(); ++to) endpoint.request<&on_ping>(to, 1ull);
  bundle.wait_until([&] { return pongs == before + job.size(); });
  job.barrier(bundle);
  for (std::size_t i = 0; i < segment.size(); ++i) {
    if (segment[i] != value(job.rank(), round, i)) return false;
  }
  return true;
}

ExitCode run(bool close_streams) {
  am::Job job;
  if (close_streams) {
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) close(fd);
  }
  am::Bundle bundle(job);
  std::vector<std::unique_ptr<am::Endpoint>> endpoints;
  for (int round = 0; round < kRounds; ++round) {
    endpoints.push_back(std::make_unique<am::Endpoint>(bundle));
    endpoints.back()->add_handlers<&on_pong, &on_ping>();
    job.connect(*endpoints.back());
    if (!is_sound(job, bundle, *endpoints.back(), round)) return kWrongBytes;
  }
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (close_streams && (fcntl(fd, F_GETFD) != -1 || errno != EBADF)) return kTaken;
  }
  job.finish(bundle);
  return kWell;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc > 1 && std::string_view(argv[1]) == "close");
  } catch (const am::Error& error) {
    (void)!write(STDERR_FILENO, error.what(), std::strlen(error.what()));
    return kError;
  }
}
