#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "am/am.h"
#include "benchmarks/channel_pingpong.h"
#include "benchmarks/support/clock.h"

namespace channel_pingpong {
namespace {

using bench::Bench;
using Mode = am::ZeroCopyMode;

enum class Call { kGet, kPut };

constexpr std::size_t kPage = 4096;

// A buffer that is read and one that is written at each end, used for ever. What the other process
// writes or reads lies in the segment, what this one reads or writes in memory of its own; kPrereg:
// all of it in the pool. All of it begins on a page, as elsewhere in this program.
class ZeroCopies {
 public:
  ZeroCopies(Bench& b, am::ZeroCopy& zero, Call call, Mode mode, std::size_t bytes)
      : bundle_(b.bundle),
        zero_(zero),
        call_(call),
        first_(b.pair.first()),
        pooled_(mode == Mode::kPrereg),
        source_(zero, place(b, call == Call::kPut, bytes), count(read_), mode),
        target_(zero, place(b, call == Call::kGet, bytes), count(written_), mode),
        their_source_(b.messages.swap(source_.info())),
        their_target_(b.messages.swap(target_.info())) {}
  ~ZeroCopies() {
    source_.init({});
    target_.init({});
    for (const std::span<std::byte> block : blocks_) zero_.free(block);
  }
  ZeroCopies(const ZeroCopies&) = delete;
  ZeroCopies& operator=(const ZeroCopies&) = delete;

  // Each moves the bytes when the other has done so: that is told by the buffer that the other
  // wrote, or read.
  double round_trips(int times) {
    const std::uint64_t& told = call_ == Call::kPut ? written_ : read_;
    const bench::Stopwatch watch;
    for (int i = 0; i < times; ++i) {
      if (first_) move();
      bundle_.wait_until([&told, end = expected_ + 1] { return told >= end; });
      ++expected_;
      if (!first_) move();
    }
    const double ns = watch.ns() / times;
    // The other may be in the next call already.
    bundle_.wait_until([this] { return read_ >= expected_ && written_ >= expected_; });
    return ns;
  }

 private:
  std::span<std::byte> place(Bench& b, bool own, std::size_t bytes) {
    if (pooled_) {
      blocks_.push_back(zero_.alloc((bytes + kPage - 1) / kPage * kPage));
      return blocks_.back().first(bytes);
    }
    return {own ? b.pair.source() : b.pair.buffer(b.pair.me()), bytes};
  }
  static am::ZeroCopyCallback count(std::uint64_t& number) {
    return [&number](const am::ZeroCopyDone&) { ++number; };
  }
  void move() {
    if (call_ == Call::kPut) {
      source_.put(their_target_);
    } else {
      target_.get(their_source_);
    }
  }

  am::Bundle& bundle_;
  am::ZeroCopy& zero_;
  const Call call_;
  const bool first_;
  const bool pooled_;
  std::vector<std::span<std::byte>> blocks_;  // of the pool
  std::uint64_t read_ = 0;
  std::uint64_t written_ = 0;
  std::uint64_t expected_ = 0;
  am::ZeroCopyBuffer source_;
  am::ZeroCopyBuffer target_;
  const am::ZeroCopyInfo their_source_;
  const am::ZeroCopyInfo their_target_;
};

}  // namespace

void add_zero_copies(std::vector<Way>& ways, Bench& b, am::ZeroCopy& zero, std::size_t bytes) {
  const struct {
    const char* name;
    Call call;
    Mode mode;
  } kinds[] = {
      {"put_unreg", Call::kPut, Mode::kUnreg},   {"put_reg", Call::kPut, Mode::kReg},
      {"put_prereg", Call::kPut, Mode::kPrereg}, {"get_unreg", Call::kGet, Mode::kUnreg},
      {"get_reg", Call::kGet, Mode::kReg},       {"get_prereg", Call::kGet, Mode::kPrereg}};
  for (const auto& [name, call, mode] : kinds) {
    ways.push_back({name, [copies = std::make_shared<ZeroCopies>(b, zero, call, mode, bytes)](
                              int n) { return copies->round_trips(n); }});
  }
}

}  // namespace channel_pingpong
