// What far_kill_test and far_stop_test start: a job that talks between nodes. Each process prints
// "RANK PID" first.
//
//   far_victim short|medium|long|get|put|store|channel|barrier   goes on with that for ever
//   far_victim zero_copy                                 likewise, with neighbours, too
//   far_victim blocked                                   asleep, waiting for nothing
//   far_victim leaves     rank 1 ends with 0 in the midst of it; the others go on with messages
//   far_victim counted    a certain number of everything, checked; ends by itself
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "am/am.h"
#include "am/core/far/remote_memory.h"

namespace {

constexpr std::size_t kMuch = 256 << 10;  // bytes of a large transfer
constexpr std::uint64_t kArea = 1 << 20;  // of the segment, for each writer
constexpr std::uint32_t kMaxProcesses = 8;
constexpr std::uint64_t kCounters = 64 << 20;

std::uint64_t pongs = 0;
std::uint64_t handled = 0;  // requests
std::uint64_t completed = 0;

void on_pong(am::Reply) { ++pongs; }
void on_ping(am::Request request) {
  ++handled;
  std::move(request).reply<&on_pong>();
}
void on_bytes(am::Request request, std::span<const std::byte>) {
  ++handled;
  std::move(request).reply<&on_pong>();
}
void on_block(am::Request request, std::span<std::byte>) {
  ++handled;
  std::move(request).reply<&on_pong>();
}

std::vector<std::byte> taken(kMuch);
void on_payload(am::ZeroCopyRequest& request) { request.receive(taken); }

// Zero-copy transfers of every kind, with all other processes.
class ZeroCopies {
 public:
  ZeroCopies(am::Job& job, am::Bundle& bundle) : job_(job), zero_(job, bundle) {
    zero_.add_handlers<&on_payload>();
    all_ = job.exchange(std::array{asked_.info(), accessed_.info(), small_.info()});
    job.barrier(bundle);
  }
  void go_on() {
    const am::Rank to = (job_.rank() + 1 + ++turn_ % (job_.size() - 1)) % job_.size();
    const auto& [asked, accessed, small] = all_[to];
    switch (turn_ / job_.size() % 4) {
      case 0: asked_.put(asked); break;
      case 1: accessed_.get(accessed); break;
      case 2: small_.put(small); break;
      case 3: zero_.request_zero_copy<&on_payload>(to, memory_, {}); break;
    }
    if (turn_ % 16 == 0) zero_.wait();
  }

 private:
  am::Job& job_;
  am::ZeroCopy zero_;
  std::vector<std::byte> memory_ = std::vector<std::byte>(kMuch);
  am::ZeroCopyBuffer asked_{zero_, memory_};
  am::ZeroCopyBuffer accessed_{zero_, memory_, {}, am::ZeroCopyMode::kReg};
  am::ZeroCopyBuffer small_{zero_, std::span(memory_).first(8)};
  std::vector<std::array<am::ZeroCopyInfo, 3>> all_;  // of the above, by rank
  std::uint64_t turn_ = 0;
};

class Victim {
 public:
  explicit Victim(const std::string& how) {
    endpoint_.add_handlers<&on_pong, &on_ping, &on_bytes, &on_block>();
    job_.connect(endpoint_);
    for (am::Rank rank = 0; rank < job_.size(); ++rank) {
      if (!job_.router().is_near(rank)) far_.push_back(rank);
    }
    if (how == "zero_copy") zero_copies_.emplace(job_, bundle_);
    const std::string line = std::to_string(job_.rank()) + " " + std::to_string(getpid()) + "\n";
    if (write(STDOUT_FILENO, line.data(), line.size()) < 0) _exit(99);
  }

  // One more of that kind.
  void go_on(const std::string& how) {
    const am::Rank to = far_[++turn_ % far_.size()];
    const std::uint64_t place = job_.rank() * kArea;
    const std::span<const std::byte> bytes(much_);
    const std::size_t some = turn_ % 2 == 0 ? 8 : kMuch;
    if (how == "short") endpoint_.request<&on_ping>(to);
    if (how == "medium") endpoint_.request_medium<&on_bytes>(to, bytes.first(am::max_medium()));
    if (how == "long") endpoint_.request_long<&on_block>(to, place, bytes);
    if (how == "get") remote_.get(to, 0, std::span(room_).first(some), 0, "get");
    if (how == "put") remote_.put(to, place, bytes.first(some), 0, "put");
    if (how == "store") {
      std::uint64_t sent = 0;
      remote_.store(to, place, bytes.first(some), counter(job_.rank()), "store", sent);
      stored_[to] += some;
    }
    if (how == "channel") put_on_channel();
    if (how == "zero_copy") zero_copies_->go_on();
    if (how == "barrier") job_.barrier(bundle_);
    started_ += how == "get" || how == "put";
    // Not too many transfers into one place.
    if (started_ > completed + 64) bundle_.wait_until([&] { return started_ < completed + 32; });
  }

  [[noreturn]] void run(const std::string& how) {
    for (;;) go_on(how);
  }
  [[noreturn]] void block() {
    bundle_.wait_until([] { return false; });
    std::abort();
  }

  // So many of everything to all other nodes. Returns 0 once all has come.
  int count() {
    constexpr std::uint64_t kTimes = 400;
    static constexpr const char* kWays[] = {"short", "medium", "long", "get", "put", "store"};
    for (std::uint64_t i = 0; i < kTimes; ++i) {
      for (const char* how : kWays) {
        for (std::size_t far = 0; far < far_.size(); ++far) go_on(how);
      }
    }
    const std::uint64_t messages = 3 * kTimes * far_.size();  // out; and in: being far is mutual
    bundle_.wait_until(
        [&] { return pongs == messages && handled == messages && completed == started_; });
    const auto stored = job_.exchange(stored_);
    for (const am::Rank writer : far_) {
      const std::byte* const word = job_.router().segment() + counter(writer);
      bundle_.wait_until(
          [&] {
            return std::memcmp(word, &stored[writer][job_.rank()], sizeof(std::uint64_t)) == 0;
          },
          am::Wake::kMemory);
    }
    job_.finish(bundle_);
    return 0;
  }

  std::uint32_t rank() const { return job_.rank(); }

 private:
  // A ring of channels, on which a put goes round for ever; one for little and one for much.
  struct Lane {
    bool may_put = false;  // this process has been put to
    std::optional<am::ReceiveChannel> in;
    std::optional<am::SendChannel> out;
  };
  void open_lane(std::size_t bytes) {
    Lane& lane = *lanes_.emplace_back(std::make_unique<Lane>());
    std::byte* const buffer = job_.router().segment() + lanes_.size() * kArea;
    lane.in.emplace(bundle_, std::span(buffer, bytes), [&lane] {
      lane.in->ready();
      lane.may_put = true;
    });
    lane.out.emplace(bundle_, job_.exchange(lane.in->handle())[(job_.rank() + 1) % job_.size()]);
    lane.out->associate(std::span<const std::byte>(much_).first(bytes));
    lane.may_put = job_.rank() == 0;
  }
  void put_on_channel() {
    if (lanes_.empty()) {
      for (const std::size_t bytes : {std::size_t{8}, kMuch}) open_lane(bytes);
      job_.barrier(bundle_);
    }
    Lane& lane = *lanes_[turn_ % lanes_.size()];
    bundle_.wait_until([&] { return lane.may_put && lane.out->reusable(); });
    lane.may_put = false;
    lane.out->put();
  }

  static std::uint64_t counter(am::Rank writer) { return kCounters + 8 * writer; }
  am::Job job_;
  am::Bundle bundle_{job_};
  am::Endpoint endpoint_{bundle_};
  am::RemoteMemory remote_{bundle_, [](std::uint32_t) { ++completed; }};
  std::vector<am::Rank> far_;
  std::vector<std::byte> much_ = std::vector<std::byte>(kMuch);
  std::vector<std::byte> room_ = std::vector<std::byte>(kMuch);
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::optional<ZeroCopies> zero_copies_;
  std::uint64_t turn_ = 0;
  std::uint64_t started_ = 0;                          // gets and puts
  std::array<std::uint64_t, kMaxProcesses> stored_{};  // bytes, by target
};

int run(const std::string& how) {
  Victim victim(how);
  if (how == "counted") return victim.count();
  if (how == "blocked") victim.block();
  if (how == "leaves") {
    for (int i = 0; i < 100; ++i) victim.go_on("short");
    if (victim.rank() == 1) _exit(0);
    victim.run("short");
  }
  victim.run(how);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc > 1 ? argv[1] : "");
  } catch (const am::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
