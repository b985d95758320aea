#pragma once

#include <netinet/in.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "benchmarks/support/pair.h"

namespace bench {

// Datagrams between the two processes of a pair by sendto() and recvfrom() on the loopback, polled:
// the limit of the library's link over datagrams. Nothing that is lost is sent again, and nothing
// is checked. Both processes call the same functions in the same order; each returns nanoseconds
// per operation at rank 0.
class RawUdp {
 public:
  static constexpr std::size_t kDatagram = 65'504;

  // Collective over the job.
  RawUdp(am::Job& job, Pair& pair);
  ~RawUdp();
  RawUdp(const RawUdp&) = delete;
  RawUdp& operator=(const RawUdp&) = delete;

  // Returns when both are here, calling `meanwhile` again and again; see Pair::meet_over().
  void meet(const std::function<void()>& meanwhile);

  double round_trip(std::size_t bytes, int times);
  // `bytes` at a time from rank 0 to rank 1, in datagrams of kDatagram, at most kWindow of them in
  // flight, and a word back for every quarter of that.
  double stream(std::size_t bytes, int times);

 private:
  static constexpr std::uint64_t kWindow = 16;

  void send(std::size_t bytes);
  bool try_receive();
  void receive() {
    while (!try_receive()) {
    }
  }

  Pair& pair_;
  const int fd_;
  sockaddr_in other_{};
  std::vector<std::byte> buffer_;
};

}  // namespace bench
