#include <cstdint>
#include <memory>

#include "am/am.h"
#include "benchmarks/channel_pingpong.h"
#include "benchmarks/support/clock.h"

namespace channel_pingpong {
namespace {

using bench::Bench;

// A channel there and one back.
class Channels {
 public:
  Channels(Bench& b, std::size_t bytes)
      : bundle_(b.bundle),
        first_(b.pair.first()),
        in_(b.bundle, {b.pair.buffer(b.pair.me()), bytes}, [this] { ++arrived_; }),
        out_(b.bundle, b.messages.swap(in_.handle())) {
    out_.associate({b.pair.source(), bytes});
  }

  double round_trips(int times) {
    const bench::Stopwatch watch;
    for (int i = 0; i < times; ++i) {
      if (first_) out_.put();
      bundle_.wait_until([this, end = expected_ + 1] { return arrived_ == end; });
      ++expected_;
      in_.ready();  // before the answer: its receiver may put again
      if (!first_) out_.put();
    }
    return watch.ns() / times;
  }

 private:
  am::Bundle& bundle_;
  const bool first_;
  std::uint64_t arrived_ = 0;
  std::uint64_t expected_ = 0;
  am::ReceiveChannel in_;
  am::SendChannel out_;
};

}  // namespace

void add_channel(std::vector<Way>& ways, Bench& b, std::size_t bytes) {
  ways.push_back({"channel", [channels = std::make_shared<Channels>(b, bytes)](int n) {
                    return channels->round_trips(n);
                  }});
}

}  // namespace channel_pingpong
