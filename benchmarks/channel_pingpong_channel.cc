#include "am/channel.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <span>

#include "benchmarks/channel_pingpong.h"
#include "benchmarks/support/clock.h"

namespace channel_pingpong {
namespace {

using bench::Bench;

// Those that the other process has sent and this one has not used yet.
std::deque<am::ChannelHandle> handles;
void on_handle(am::OneWay, const am::ChannelHandle& handle) { handles.push_back(handle); }

am::ChannelHandle next_handle(Bench& b) {
  b.bundle.wait_until([] { return !handles.empty(); });
  const am::ChannelHandle handle = handles.front();
  handles.pop_front();
  return handle;
}

// A channel there and one back.
class Channels {
 public:
  Channels(Bench& b, std::size_t bytes)
      : bundle_(b.bundle),
        first_(b.pair.first()),
        in_(b.bundle, {b.pair.buffer(b.pair.me()), bytes}, [this] { ++arrived_; }),
        out_(connect(b, in_.handle())) {
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
  static am::SendChannel connect(Bench& b, const am::ChannelHandle& mine) {
    b.endpoint.request<&on_handle>(b.pair.other(), mine);
    return am::SendChannel(b.bundle, next_handle(b));
  }

  am::Bundle& bundle_;
  const bool first_;
  std::uint64_t arrived_ = 0;
  std::uint64_t expected_ = 0;
  am::ReceiveChannel in_;
  am::SendChannel out_;
};

}  // namespace

void add_handlers(am::Endpoint& endpoint) { endpoint.add_handlers<&on_handle>(); }

void add_channel(std::vector<Way>& ways, Bench& b, std::size_t bytes) {
  ways.push_back({"channel", [channels = std::make_shared<Channels>(b, bytes)](int n) {
                    return channels->round_trips(n);
                  }});
}

}  // namespace channel_pingpong
