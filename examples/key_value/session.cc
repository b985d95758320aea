#include "examples/key_value/session.h"

#include <algorithm>
#include <span>

namespace key_value {

using namespace splitc;

Session::Session(const Workload& workload, Store& store)
    : store_(store),
      clients_(workload.outstanding),
      requests_(make_requests(workload, my_proc())),
      known_(workload.keys, 1),  // every key has been put once
      latest_(procs()),
      value_(workload.bytes / sizeof(std::uint64_t)) {}

void Session::run() {
  std::vector<task<>> clients;
  clients.reserve(clients_);
  for (std::uint32_t i = 0; i < clients_; ++i) clients.push_back(client());
  when_all(std::move(clients)).wait();
}

std::uint64_t Session::requests_for(Key key) const noexcept {
  return std::ranges::count(requests_, key, &Request::key);
}

// Where it waits, the other clients go on, and the requests of other processes are served.
task<> Session::client() {
  while (next_ < requests_.size()) {
    const Request request = requests_[next_++];
    const std::uint64_t known = known_[request.key];
    const double start = get_seconds();
    if (request.kind == Kind::kRead) {
      const Words answer = co_await store_.get(request.key);
      check_read(request.key, known, answer);
    } else if (request.kind == Kind::kPut) {
      make_value(request.key, Stamp::of(my_proc(), ++writes_), value_);
      const std::uint64_t writes = co_await store_.put(request.key, value_);
      check_writes(request.key, known + 1, writes);
    } else {
      const Stamp stamp = Stamp::of(my_proc(), ++writes_);
      const std::uint64_t writes = co_await store_.update(request.key, &change_value, stamp);
      check_writes(request.key, known + 1, writes);
    }
    add_latency(request, get_seconds() - start);
  }
}

void Session::add_latency(const Request& request, double seconds) {
  const bool here = Store::owner(request.key) == my_proc();
  Histogram& latencies = here ? latencies_here_ : latencies_[static_cast<int>(request.kind)];
  latencies.add(static_cast<std::uint64_t>(1e9 * std::max(0.0, seconds)));
}

void Session::check_read(Key key, std::uint64_t known, const Words& answer) {
  const auto words = std::span(answer).subspan(answer.empty() ? 0 : 1);
  if (words.size() != value_.size() || !is_value(key, words)) {
    ++wrong_;
    return;
  }
  const Stamp stamp{words[1]};
  if (stamp.writer() >= latest_.size()) {
    ++wrong_;
    return;
  }
  std::uint64_t& latest = latest_[stamp.writer()];
  latest = std::max(latest, stamp.number());
  check_writes(key, known, answer[0]);
}

void Session::check_writes(Key key, std::uint64_t at_least, std::uint64_t writes) {
  if (writes < at_least) ++wrong_;
  known_[key] = std::max(known_[key], writes);
}

}  // namespace key_value
