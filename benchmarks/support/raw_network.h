#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "benchmarks/support/pair.h"
#include "benchmarks/support/raw_fabric.h"

namespace bench {

// What two processes can do by libfabric alone: the limits of the library's figures across nodes.
// Both processes call the same functions in the same order; each returns nanoseconds per operation
// at rank 0. The other one polls until it hears that the operations are over.
class RawNetwork {
 public:
  // How a message leaves: without a completion, or with one that is waited for.
  enum class Way { kShortest, kInject, kSend };
  // When a write is complete.
  enum class Done { kLocal, kDelivered };

  RawNetwork(Pair& pair, RawFabric& fabric);
  RawFabric& fabric() noexcept { return fabric_; }

  // Returns when both are here, calling `meanwhile` again and again; see Pair::meet_over().
  void meet(const std::function<void()>& meanwhile);

  // One at a time.
  double round_trip(std::size_t bytes, int times, Way way = Way::kShortest);
  double write_data_round_trip(std::size_t bytes, int times);
  double read(std::size_t bytes, int times);
  double write(std::size_t bytes, int times, Done done);
  double barrier(int times);  // each sends, then waits for the other's

  // As many at once as the window allows, until the last is complete; to `places` places in turn.
  double stream_read(std::size_t bytes, int times, std::size_t places);
  double stream_write(std::size_t bytes, int times, std::size_t places, Done done);
  // Until rank 1 has seen the last.
  double inject_writes(int times);
  double sends(int times, Way way);
  // Requests of 8 bytes, each answered by 8 bytes; as many at once as the window allows.
  double answered_sends(int times);

  // An empty look into the completion queue.
  double empty_poll(int times);

  // A write to a process that looks away for kStallMs: how long until it is complete, and whether
  // the other process saw the bytes before it looked into its queue again.
  struct Stalled {
    double ns = 0;
    bool seen = false;
  };
  static constexpr int kStallMs = 100;
  Stalled stalled_write(std::size_t bytes, Done done);

 private:
  // Rank 1, until rank 0 says that it is through.
  void serve();
  void say_through();
  // Handles messages until `count` more have come.
  void receive(std::uint64_t count);
  void send(std::size_t bytes, Way way);
  void write_once(std::size_t offset, std::size_t bytes, Done done);

  template <class Operation>
  double timed(int times, Operation&& operation);

  am::Rank other() const noexcept { return pair_.other(); }

  Pair& pair_;
  RawFabric& fabric_;
  // In step on both sides.
  std::uint64_t expected_ = 0;  // messages
  std::uint64_t expected_writes_ = 0;
  std::uint64_t word_ = 0;  // the last one injected by inject_writes()
};

}  // namespace bench
