// What comes back from libfabric: frames, and the ends of operations.

#include <rdma/fi_errno.h>

#include <cstring>
#include <utility>

#include "am/clock.h"
#include "am/link/fabric_link.h"
#include "rdma/error.h"

namespace am::link {
namespace {

// Of one poll() or fetch(): then the caller evaluates its condition, and others have their turn.
constexpr std::int64_t kTurnNs = 200'000;
constexpr int kFreeFrames = 8;  // of a turn, before it reads the clock
// A launcher ends the whole job when a process dies, and says more about it than we could. Without
// one that does, we do it, after that time.
constexpr std::int64_t kGraceNs = 1'000'000'000;
constexpr std::int64_t kLookNs = 1'000'000;  // between attempts to send what found no room

// Of another process. (At the writer sockets reports FI_REMOTE_CQ_DATA, too.)
bool tells_of_put(const fi_cq_data_entry& event) {
  return (event.flags & FI_REMOTE_CQ_DATA) != 0 && (event.flags & FI_WRITE) == 0;
}

// Says that packets are gathered, for as long as it lives.
class Gathering {
 public:
  explicit Gathering(bool& flag) noexcept : flag_(flag) { flag_ = true; }
  ~Gathering() { flag_ = false; }
  Gathering(const Gathering&) = delete;
  Gathering& operator=(const Gathering&) = delete;

 private:
  bool& flag_;
};

}  // namespace

// The time that one poll() or fetch() may take.
class FabricLink::Turn {
 public:
  // Asked after each frame.
  bool over() noexcept {
    if (++frames_ < kFreeFrames) return false;
    const std::int64_t now = now_ns();
    if (frames_ == kFreeFrames) begun_ns_ = now;
    return now - begun_ns_ > kTurnNs;
  }

 private:
  int frames_ = 0;
  std::int64_t begun_ns_ = 0;
};

int FabricLink::poll(PacketSink& sink) {
  const Gathering gathering(polling_);
  if (lost_) [[unlikely]]
    look_at_lost();
  if (!unsent_.empty()) flush();
  if (!unfinished_.empty()) go_on_with_unfinished();
  int count = 0;
  Turn turn;
  do {
    if (!in_frame_ && !read_events()) break;
    count += deliver_all(sink, turn, false);
    // Another read that finds nothing would delay the answers.
  } while (more_events() && !turn.over());
  receives_->retry();
  if (!unsent_.empty()) flush();
  return count + std::exchange(progress_, 0);
}

bool FabricLink::fetch(PacketSink& sink) {
  const Gathering gathering(polling_);
  if (lost_) [[unlikely]]
    look_at_lost();
  if (!unsent_.empty()) flush();
  if (!unfinished_.empty()) go_on_with_unfinished();
  Turn turn;
  bool more = in_frame_ || read_events();
  while (more) {
    deliver_all(sink, turn, true);
    if (in_frame_ || turn.over()) break;
    more = read_events();
  }
  if (in_frame_) endpoint_.drive();  // the provider goes on while a packet is kept
  receives_->retry();
  if (!unsent_.empty()) flush();
  return more;
}

// Everything that was read of the completion queue, as long as the turn lasts; with `keeping`, up
// to a packet that is kept.
int FabricLink::deliver_all(PacketSink& sink, Turn& turn, bool keeping) {
  int count = 0;
  do {
    count += deliver_frame(sink, keeping);
    if (in_frame_) break;
    settle_sends(sink);
  } while (in_frame_ && !turn.over());
  return count;
}

// Asks for completions when all earlier ones are settled. False: there are none.
bool FabricLink::read_events() {
  if (event_ != events_end_) return true;
  event_ = events_end_ = 0;
  rdma::Failure failure;
  const int count = endpoint_.poll(events_, failure);
  if (count > 0) [[likely]]
    events_end_ = count;
  if (count < 0) failed(failure);
  return count > 0;
}

// Settles completions, and tells of puts, up to the next frame that has come, which it opens.
void FabricLink::settle_sends(PacketSink& sink) {
  while (!in_frame_ && event_ != events_end_) {
    const fi_cq_data_entry& event = events_[static_cast<std::size_t>(event_++)];
    if (tells_of_put(event)) {
      ++progress_;
      sink.arrived(static_cast<std::uint32_t>(event.data));
      continue;
    }
    const rdma::Op& op = rdma::Op::of(event.op_context);
    switch (op.kind) {
      case rdma::Op::Kind::kReceive: begin_frame(event); break;
      case rdma::Op::Kind::kSend: {
        Frame& frame = Frame::of(op);
        frames_in_flight_.give_back(frame.route->frames);
        frame.route->unsignaled = 0;
        frames_.give_back(frame);
        break;
      }
      case rdma::Op::Kind::kAccess:
        ++progress_;
        complete(op);
        break;
    }
  }
}

void FabricLink::begin_frame(const fi_cq_data_entry& event) {
  in_frame_ = true;
  const std::span<const std::byte> frame =
      Receives::frame(rdma::Op::of(event.op_context), event.len);
  packet_ = frame_end_ = frame.data();
  FrameHeader header{};
  if (frame.size() >= sizeof header) std::memcpy(&header, frame.data(), sizeof header);
  if (header.cookie != cookie_ || header.source >= options_.size) {
    return;  // whoever sent this is not of the job
  }
  source_ = header.source;
  packet_ = frame.data() + sizeof header;
  frame_end_ = frame.data() + frame.size();
}

int FabricLink::deliver_frame(PacketSink& sink, bool keeping) {
  if (!in_frame_) return 0;
  int count = 0;
  while (packet_ != frame_end_) {
    const auto left = static_cast<std::size_t>(frame_end_ - packet_);
    const auto& packet = *reinterpret_cast<const PacketHeader*>(packet_);
    if (left < sizeof packet || packet.bytes < sizeof packet || packet.bytes % 8 != 0 ||
        packet.bytes > left) {
      give_up("a message of rank " + std::to_string(source_) +
              " is damaged; all programs of a job must be built from the same Splitphase");
    }
    if (keeping && sink.keeps(packet)) return count;
    packet_ += packet.bytes;  // first: the sink may throw
    ++count;
    sink.deliver(source_, packet);
  }
  end_frame();
  return count;
}

void FabricLink::end_frame() {
  in_frame_ = false;
  const fi_cq_data_entry& event = events_[static_cast<std::size_t>(event_ - 1)];
  receives_->renew(rdma::Op::of(event.op_context));
}

std::int64_t FabricLink::patience_ns() const noexcept {
  if (!unsent_.empty() || !unfinished_.empty()) return kLookNs;
  return lost_ ? kGraceNs / 4 : -1;
}

void FabricLink::failed(const rdma::Failure& failure) {
  const std::string why =
      failure.text.empty() ? rdma::category().message(failure.code) : failure.text;
  if (failure.op == nullptr || failure.op->kind == rdma::Op::Kind::kReceive) {
    // No frame of ours is too long: that is of somebody outside the job.
    if (failure.code != FI_ETRUNC && failure.code != FI_EMSGSIZE) lose_some(why);
    if (failure.op != nullptr) receives_->renew(*failure.op);
    return;
  }
  const Rank rank = rank_of(*failure.op);
  if (failure.code == FI_EACCES || failure.code == FI_EKEYREJECTED) {
    give_up("rank " + std::to_string(rank) + " refused an access to its memory: " + why);
  }
  const bool not_segment = failure.op->kind == rdma::Op::Kind::kAccess &&
                           Access::of(*failure.op).at.key != segments_[rank].key;
  // Some providers answer such an access by ending the connection.
  lose(rank,
       why + (not_segment ? ", or the access was to memory that is not registered there" : ""));
}

// A receive that breaks off, such as when its sender dies, does not say whose it was; what is sent
// to that process, or read from it, fails too and does.
void FabricLink::lose_some(const std::string& why) {
  if (lost_) return;
  lost_ = "the network has failed: " + why +
          "; look at the interface, or choose another with SPLITC_INTERFACE";
  lost_ns_ = now_ns();
}

void FabricLink::lose(Rank rank, const std::string& why) {
  if (lost_rank_) return;
  if (!lost_) lost_ns_ = now_ns();
  lost_rank_ = rank;
  lost_ = "lost the way to rank " + std::to_string(rank) + " (" + why +
          "): its process has ended, or its machine cannot be reached";
}

void FabricLink::look_at_lost() const {
  if (now_ns() - lost_ns_ > kGraceNs) give_up(*lost_);
}

void FabricLink::give_up(const std::string& sentence) const {
  options_.fatal(sentence);
  std::abort();  // not reached
}

}  // namespace am::link
