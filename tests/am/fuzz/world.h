// One process of a job of three nodes, as far as it deals with packets, on a link without a
// network: it has an endpoint, accesses, stores that repeat, channels and zero-copy buffers.
#pragma once

#include <memory>
#include <optional>
#include <stdexcept>

#include "am/channel/channel.h"
#include "am/collective/barrier.h"
#include "am/core/bundle.h"
#include "am/core/endpoint.h"
#include "am/core/process.h"
#include "am/route/router.h"
#include "am/zero_copy/zero_copy.h"
#include "tests/am/fuzz/fake_link.h"

namespace am::fuzz {

// The job would end here, with that sentence.
struct Refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class World {
 public:
  static constexpr std::uint32_t kProcesses = 3;
  static constexpr std::size_t kSegment = 1 << 20;
  static constexpr std::size_t kBlock = 10'000;  // bytes: more than one packet

  // What the others must know of it.
  struct Names {
    Name endpoint;
    ChannelHandle whole, strided;
    ZeroCopyInfo source, target, small;
  };

  World(Rank me, const FakeLinkOptions& options);
  ~World();

  Names names() const;
  // Sends all kinds of messages to `peer` from now on, at step().
  void talk_to(Rank peer, const Names& names);
  // Delivers `packet`, which says its length, if it is not empty, and polls. Throws Refused or
  // am::Error if that is nothing that a correct process sends.
  void step(Rank from, std::span<const std::byte> packet);

  FakeLink& link() noexcept { return *link_; }

 private:
  void talk();
  void start_accesses();
  void start_transfers();

  Router router_;
  std::optional<Process> process_;
  std::optional<Barrier> barrier_;
  FakeLink* link_;
  std::unique_ptr<Bundle> bundle_;
  std::unique_ptr<Endpoint> endpoint_;
  std::unique_ptr<ReceiveChannel> whole_, strided_;
  std::unique_ptr<ZeroCopy> zero_;
  Bytes source_, target_, posted_, small_, local_;
  std::unique_ptr<ZeroCopyBuffer> from_, to_, by_message_;
  // What it says to the other.
  Rank peer_ = 0;
  Names theirs_{};
  std::unique_ptr<SendChannel> out_;
  int said_ = 0;
  link::Completion completion_;
};

}  // namespace am::fuzz
