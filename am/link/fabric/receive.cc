// Frames that arrive: whether they are of the job, and in which order they are delivered.

#include <string>
#include <utility>

#include "am/link/fabric/fabric_link.h"
#include "am/types/clock.h"
#include "rdma/error.h"
#include "rdma/interface.h"

namespace am::link {
namespace {

constexpr std::int64_t kVerifyNs = 100'000'000;  // between two questions to all peers

}  // namespace

void FabricLink::begin_frame(const fi_cq_data_entry& event) {
  received_with_ = &rdma::Op::of(event.op_context);
  open(rdma::Receives::message(*received_with_, event.len));
}

void FabricLink::open(std::span<const std::byte> frame) {
  in_frame_ = true;
  switch (incoming_.open(frame)) {
    case Incoming::Opened::kNext: ++arrived_; return;
    case Incoming::Opened::kEarly: return;
    case Incoming::Opened::kTwice: ++stats_.strangers.frames; return;
    case Incoming::Opened::kStranger: ++stats_.strangers.frames; return note_stranger();
  }
}

bool FabricLink::open_early() {
  if (!incoming_.open_early()) return false;
  in_frame_ = true;
  ++arrived_;
  return true;
}

void FabricLink::look_at_gap() {
  if (options_.has_died) {  // frames of the dead that came since
    for (const Route& one : all_routes_) {
      if (one.dead) incoming_.forget(one.rank);
    }
  }
  if (!incoming_.waits()) return;
  if (now_ns() - incoming_.waits_since_ns() < options_.longest_gap_ns) return;
  const auto [source, number] = incoming_.waiting();
  give_up("frame " + std::to_string(number) + " of rank " + std::to_string(source) +
          " has arrived, but frame " + std::to_string(incoming_.received(source) + 1) +
          " has not: its connection was lost, and with it what was in flight; look at the "
          "network, or for somebody who disturbs it (docs/security.md)");
}

int FabricLink::deliver_frame(PacketSink& sink, bool keeping) {
  if (!in_frame_) return 0;
  if (const Route* const from = routes_[incoming_.source()]; from != nullptr && from->dead)
      [[unlikely]] {
    end_frame();
    return 0;
  }
  int count = 0;
  while (!incoming_.finished()) {
    const PacketHeader* const packet = incoming_.packet();
    if (packet == nullptr) {
      give_up("a message of rank " + std::to_string(incoming_.source()) +
              " is damaged; all programs of a job must be built from the same Splitphase");
    }
    if (keeping && sink.keeps(*packet)) return count;
    incoming_.skip(*packet);  // first: the sink may throw
    if (deliver_own(*packet)) continue;
    ++count;
    sink.deliver(incoming_.source(), *packet);
  }
  end_frame();
  return count;
}

// The packets of links themselves.
bool FabricLink::deliver_own(const PacketHeader& packet) {
  if (packet.type == Type::kRoomRead) return take_room_read(packet);
  if (packet.type == Type::kRoom) return take_room(packet);
  if (packet.type == Type::kAskRoom) return give_room();
  if (packet.type == Type::kPing) {
    const PacketHeader pong = make_header(Type::kPong, sizeof pong);
    send(incoming_.source(), std::as_bytes(std::span(&pong, 1)));
    return true;
  }
  if (packet.type != Type::kPong) return false;
  const bool last = pongs_awaited_ != 0 && --pongs_awaited_ == 0;
  if (last && std::exchange(suspicious_, false)) note_stranger();  // the job's own are all there
  return true;
}

void FabricLink::verify() {
  verified_ns_ = now_ns();
  if (arrived_ == std::exchange(verified_at_, arrived_)) add_receives();
  const PacketHeader ping = make_header(Type::kPing, sizeof ping);
  for (Rank rank = 0; rank < options_.size; ++rank) {
    if (routes_[rank] != nullptr && routes_[rank]->dead) continue;
    if (routes_[rank] == nullptr && incoming_.received(rank) == 0) continue;  // never talked to
    send(rank, std::as_bytes(std::span(&ping, 1)));
    ++pongs_awaited_;
  }
  if (!unsent_.empty()) flush();
}

// Strangers may hold some of those that are posted, by messages that they never finish.
void FabricLink::add_receives() {
  if (fabric_->is_hardware() || receives_->size() >= most_receives()) return;
  try {
    receives_->add(kMoreReceives);
  } catch (const rdma::Error&) {  // there are as many as there can be
  }
}

void FabricLink::end_frame() {
  in_frame_ = false;
  if (received_with_ != nullptr) receives_->renew(*std::exchange(received_with_, nullptr));
  if (written_to_ != nullptr) end_written();
}

// A message that broke off, or was too long, does not say whose it was. No frame of the job is too
// long. If it was of a process of the job, that one's connection is lost, or the process has ended:
// then what is sent there now fails, or shows that a frame is missing.
void FabricLink::receive_failed(const rdma::Failure& failure) {
  ++stats_.strangers.receives;
  suspicious_ = true;
  if (failure.op != nullptr) receives_->renew(*failure.op);
  if (now_ns() - verified_ns_ > kVerifyNs) verify();
}

// Reports strangers once.
void FabricLink::note_stranger() {
  if (std::exchange(warned_, true)) return;
  const rdma::SocketAddress own = rdma::socket_address(endpoint_.address());
  std::vector<rdma::SocketAddress> job;
  for (Rank rank = 0; rank < options_.size; ++rank) {
    job.push_back(rdma::socket_address(address(rank)));
  }
  std::string from;
  for (const std::string& one : rdma::strangers_now(own, job)) {
    from += (from.empty() ? "" : ", ") + one;
  }
  options_.warn("bytes that are not of this job have arrived at " +
                (own.address.empty() ? fabric_->describe() : rdma::to_string(own)) + ", from " +
                (from.empty() ? "a sender that looks like a process of this job" : from) +
                ", and were dropped; the job goes on (docs/security.md)");
}

}  // namespace am::link
