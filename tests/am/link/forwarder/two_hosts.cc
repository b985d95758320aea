#include "tests/am/link/forwarder/two_hosts.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <ostream>
#include <sstream>

#include "tests/am/link/forwarder/forwarder.h"
#include "tests/am/link/forwarder/host.h"

namespace am::link::test {
namespace {

using am::test::Program;
using Words = std::vector<std::string>;

Words command_of(unsigned rank, unsigned size, const Words& program, const Words& settings,
                 const Host& first) {
  // A program that is a test itself leaves alone the files by which this one reports.
  Words words{"env", "--unset=TEST_PREMATURE_EXIT_FILE", "--unset=XML_OUTPUT_FILE"};
  if (std::getenv("SPLITC_LINK") == nullptr) words.emplace_back("SPLITC_LINK=datagram");
  words.insert(words.end(),
               {"SPLITC_INTERFACE=" + std::string(Host::kInterface), "SPLITC_VERBOSE=1",
                "SPLITC_RENDEZVOUS=" + first.address() + ":4711",  // nobody else is there
                "SPLITC_SECRET=known to the test", "SPLITC_SIZE=" + std::to_string(size),
                "SPLITC_RANK=" + std::to_string(rank)});
  words.insert(words.end(), settings.begin(), settings.end());
  words.insert(words.end(), {"timeout", "--foreground", "--signal=KILL", "90"});
  words.insert(words.end(), program.begin(), program.end());
  return words;
}

void print(std::ostream& out, const Path::Stats& path) {
  out << "the path: " << path.datagrams << " datagrams: " << path.dropped << " dropped, "
      << path.cut_off << " cut off, " << path.doubled << " doubled, " << path.overtaken
      << " overtaken, " << path.damaged << " damaged; " << path.others << " other packets; "
      << path.paused << " packets have waited for the end of a pause\n";
}

}  // namespace

bool Outcome::good() const {
  return std::ranges::all_of(processes, [](const auto& one) { return one.exit_code == 0; });
}

std::string Outcome::text() const {
  std::ostringstream out;
  print(out, path);
  for (std::size_t rank = 0; rank < processes.size(); ++rank) {
    const Program::Result& one = processes[rank];
    out << "rank " << rank << " leaves with " << one.exit_code << "\n" << one.out << one.err;
  }
  return out.str();
}

Outcome run_on_two_hosts(const Weather& weather, const Words& program, const Words& settings,
                         unsigned each) {
  const Host hosts[] = {Host("192.0.2.1"), Host("192.0.2.2")};
  Forwarder forwarder(hosts[0].cable(), hosts[1].cable(), weather);
  std::vector<std::unique_ptr<Program>> running;
  for (unsigned rank = 0; rank < 2 * each; ++rank) {
    const Words command = command_of(rank, 2 * each, program, settings, hosts[0]);
    running.push_back(std::make_unique<Program>(hosts[rank / each].command_there(command)));
  }
  Outcome outcome;
  for (const auto& one : running) outcome.processes.push_back(one->finish());
  outcome.path = forwarder.stop();
  return outcome;
}

}  // namespace am::link::test
