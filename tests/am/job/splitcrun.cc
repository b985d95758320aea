#include "tests/am/job/splitcrun.h"

#include <poll.h>

#include <algorithm>
#include <fstream>

namespace am::test {
namespace {

std::vector<pid_t> children_of(pid_t parent) {
  const std::string pid = std::to_string(parent);
  std::ifstream file("/proc/" + pid + "/task/" + pid + "/children");
  std::vector<pid_t> all;
  for (pid_t child = 0; file >> child;) all.push_back(child);
  return all;
}

}  // namespace

Words splitcrun(Words words) {
  words.insert(words.begin(), kSplitcrun);
  return words;
}

Words launched(int size, Words words) {
  words.insert(words.begin(), {"-n", std::to_string(size), kLaunched});
  return splitcrun(std::move(words));
}

Words sorted_lines(const std::string& text) {
  Words lines = lines_of(text);
  std::ranges::sort(lines);
  return lines;
}

std::vector<pid_t> wait_for_children(pid_t parent, std::size_t count) {
  std::vector<pid_t> all;
  while ((all = children_of(parent)).size() < count) poll(nullptr, 0, 1);
  return all;
}

void wait_until_ended(pid_t pid) {
  std::string number, name, state;
  while (std::ifstream("/proc/" + std::to_string(pid) + "/stat") >> number >> name >> state &&
         state != "Z" && state != "X") {
    poll(nullptr, 0, 1);
  }
}

pid_t supervisor_of(const Program& job) { return wait_for_children(job.pid(), 1).front(); }

std::vector<pid_t> processes_of(const Program& job, std::size_t count) {
  return wait_for_children(supervisor_of(job), count);
}

}  // namespace am::test
