// A launcher that speaks PMI-1, for the tests of those who speak with it.
#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "am/job/config/config.h"

namespace am::test {

// The value behind "name=" in a line of the protocol.
inline std::string field(const std::string& line, const std::string& name) {
  const std::size_t begin = line.find(name + "=");
  if (begin == std::string::npos) return "";
  const std::size_t value = begin + name.size() + 1;
  return line.substr(value, line.find(' ', value) - value);
}

// A launcher of one process at the other end of a socket pair. It answers what a launcher answers,
// but for the commands in `lies`; an empty lie closes the connection instead.
class FakeLauncher {
 public:
  struct Options {
    std::uint32_t size = 1;
    std::string value_max = "1024";
    std::map<std::string, std::string> lies = {};  // command -> what is said instead, verbatim
    bool byte_by_byte = false;
  };

  explicit FakeLauncher(Options options) : options_(std::move(options)) {
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends_) != 0) std::abort();
    thread_ = std::thread([this] { serve(); });
  }
  FakeLauncher(const FakeLauncher&) = delete;
  ~FakeLauncher() {
    close(ends_[0]);
    thread_.join();
    close(ends_[1]);
  }

  PmiConnection connection() const { return {.rank = 0, .size = options_.size, .fd = ends_[0]}; }

  // All commands up to now. Ends the conversation.
  std::vector<std::string> heard() {
    shutdown(ends_[0], SHUT_RDWR);
    thread_.join();
    thread_ = std::thread([] {});
    return heard_;
  }

 private:
  void serve() {
    std::string line;
    for (char one; read(ends_[1], &one, 1) == 1;) {
      if (one != '\n') {
        line.push_back(one);
        continue;
      }
      if (!answer(std::exchange(line, ""))) break;
    }
    shutdown(ends_[1], SHUT_RDWR);
  }

  bool answer(const std::string& line) {
    heard_.push_back(line);
    const std::string command = field(line, "cmd");
    const auto lie = options_.lies.find(command);
    if (lie != options_.lies.end()) return !lie->second.empty() && say(lie->second);
    if (command == "init") return say("cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n");
    if (command == "get_maxes") {
      return say("cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=" + options_.value_max + "\n");
    }
    if (command == "get_my_kvsname") return say("cmd=my_kvsname kvsname=kvs_1\n");
    if (command == "put") {
      // All ranks say what this one says.
      std::string key = field(line, "key");
      const std::size_t rank = key.find("-0-", key.find('-') + 2);
      for (std::uint32_t other = 0; other < options_.size; ++other) {
        std::string theirs = key;
        theirs.replace(rank, 3, "-" + std::to_string(other) + "-");
        values_[theirs] = field(line, "value");
      }
      return say("cmd=put_result rc=0 msg=success\n");
    }
    if (command == "get") {
      const auto value = values_.find(field(line, "key"));
      if (value == values_.end()) return say("cmd=get_result rc=-1 msg=key_not_found\n");
      return say("cmd=get_result rc=0 msg=success value=" + value->second + "\n");
    }
    if (command == "abort") return true;  // what it does then is not to answer
    if (command == "barrier_in") return say("cmd=barrier_out\n");
    return say("cmd=" + command + "_ack\n");
  }

  bool say(const std::string& text) {
    const std::size_t step = options_.byte_by_byte ? 1 : text.size();
    for (std::size_t at = 0; at < text.size(); at += step) {
      if (send(ends_[1], &text[at], std::min(step, text.size() - at), MSG_NOSIGNAL) < 0)
        return false;
    }
    return true;
  }

  const Options options_;
  int ends_[2];
  std::map<std::string, std::string> values_;
  std::vector<std::string> heard_;
  std::thread thread_;
};

}  // namespace am::test
