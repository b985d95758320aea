#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "examples/key_value/histogram.h"
#include "examples/key_value/requests.h"
#include "examples/key_value/store.h"
#include "splitc/splitc.h"

namespace key_value {

// The requests of one process, how long they took, and whether the answers can be right:
//
//   - a value that is read is one that was written for its key, whole;
//   - each answer has the number of writes that its key had seen. It is at least that of any answer
//     that this process had before it asked, and more if this request is a write itself.
class Session {
 public:
  Session(const Workload& workload, Store& store);

  // Makes all requests, so many at a time: that many clients, each of which waits for one answer
  // before it asks again. Returns when all have been answered.
  void run();

  // Nanoseconds from a request to another process until its client has the answer; and of any kind
  // of request for a key that is kept here.
  const Histogram& latencies(Kind kind) const noexcept {
    return latencies_[static_cast<std::size_t>(kind)];
  }
  const Histogram& latencies_here() const noexcept { return latencies_here_; }
  std::uint64_t requests_for(Key key) const noexcept;
  std::uint64_t writes() const noexcept { return writes_; }  // that this process has made
  std::uint64_t wrong() const noexcept { return wrong_; }    // answers
  // By writer, the number of the latest of its writes that has been read here.
  const std::vector<std::uint64_t>& latest() const noexcept { return latest_; }

 private:
  splitc::task<> client();
  void add_latency(const Request& request, double seconds);
  void check_read(Key key, std::uint64_t known, const Words& answer);
  void check_writes(Key key, std::uint64_t at_least, std::uint64_t writes);

  Store& store_;
  const std::uint32_t clients_;
  const std::vector<Request> requests_;
  std::size_t next_ = 0;              // that no client has made yet
  std::vector<std::uint64_t> known_;  // by key: writes that this process has heard of
  std::vector<std::uint64_t> latest_;
  Words value_;  // of the put that is being made
  std::uint64_t writes_ = 0;
  std::uint64_t wrong_ = 0;
  Histogram latencies_[std::size(kKinds)];
  Histogram latencies_here_;
};

}  // namespace key_value
