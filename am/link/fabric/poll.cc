// What comes back from libfabric: frames, and the ends of operations.

#include <rdma/fi_errno.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "am/link/fabric/fabric_link.h"
#include "am/types/clock.h"
#include "am/types/local_memory.h"
#include "rdma/error.h"

namespace am::link {
namespace {

// A launcher ends the whole job when a process dies, and says more about it than we could. Without
// one that does, we do it, after that time.
constexpr std::int64_t kGraceNs = 1'000'000'000;
// In a job that goes on without its dead: until a process is dead that has closed its connections.
constexpr std::int64_t kDeathNs = 10'000'000'000;

// Before the cause, which lies in this process or on its machine.
std::string failed_here(Rank rank) {
  return "an operation towards rank " + std::to_string(rank) + " failed here: ";
}
constexpr std::int64_t kLookNs = 1'000'000;  // between attempts to send what found no room

}  // namespace

int FabricLink::take(PacketSink& sink, bool keeping) {
  const Gathering gathering(polling_);
  if (!lost_.empty()) [[unlikely]]
    look_at_lost();
  if (incoming_.waits()) [[unlikely]]
    look_at_gap();
  if (!unsent_.empty()) flush();
  if (!unfinished_.empty()) go_on_with_unfinished();
  const int taken = keeping ? static_cast<int>(fetch_some(sink)) : poll_all(sink);
  receives_->retry();
  if (!unsent_.empty()) flush();
  return keeping ? taken : taken + std::exchange(progress_, 0);
}

int FabricLink::poll_all(PacketSink& sink) {
  int count = 0;
  TurnClock turn;
  do {
    if (!in_frame_ && !read_events()) {
      if (buries_) [[unlikely]]
        end_accesses_of_dead();
      break;
    }
    count += deliver_all(sink, turn, false);
    // Another read that finds nothing would delay the answers.
  } while (more_events() && !turn.over());
  return count;
}

bool FabricLink::fetch_some(PacketSink& sink) {
  TurnClock turn;
  bool more = in_frame_ || read_events();
  while (more) {
    deliver_all(sink, turn, true);
    if (in_frame_ || turn.over()) break;
    more = read_events();
  }
  if (!more && buries_) [[unlikely]]
    end_accesses_of_dead();
  if (in_frame_) endpoint_.drive();  // the provider goes on while a packet is kept
  return more;
}

// Everything that was read of the completion queue, as long as the turn lasts; with `keeping`, up
// to a packet that is kept.
int FabricLink::deliver_all(PacketSink& sink, TurnClock& turn, bool keeping) {
  int count = 0;
  do {
    count += deliver_frame(sink, keeping);
    if (in_frame_) break;  // a packet is kept
    if (!open_early()) settle_sends(sink);
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
  if (stats_.strangers.completions != endpoint_.dropped()) [[unlikely]] {
    stats_.strangers.completions = endpoint_.dropped();
    note_stranger();
  }
  return count > 0;
}

// Handles completions, and reports puts that have arrived, up to the next received frame, which it
// opens.
void FabricLink::settle_sends(PacketSink& sink) {
  while (!in_frame_ && event_ != events_end_) {
    const fi_cq_data_entry& event = events_[static_cast<std::size_t>(event_++)];
    if (event.op_context == nullptr) {  // a put has arrived
      if (begin_written(event.data)) continue;
      ++progress_;
      if (!sink.arrived(event.data)) {
        ++stats_.strangers.words;
        note_stranger();
      }
      continue;
    }
    const rdma::Op& op = rdma::Op::of(event.op_context);
    if (op.kind == rdma::Op::Kind::kReceive) {
      begin_frame(event);
    } else {
      settle(op);
    }
  }
}

// A frame has left, or an access is complete.
void FabricLink::settle(const rdma::Op& op) {
  if (op.kind == rdma::Op::Kind::kAccess) {
    ++progress_;
    return complete(op);
  }
  Frame& frame = Frame::of(op);
  if (!frame.route->dead) frames_in_flight_.give_back(frame.route->frames);
  frame.route->unsignaled = 0;
  frames_.give_back(frame);
}

std::int64_t FabricLink::longest_sleep_ns() noexcept {
  if (endpoint_.wait_fd() >= 0 && !endpoint_.may_sleep()) return 0;
  if (!unsent_.empty() || !unfinished_.empty() || buries_) return kLookNs;
  return !lost_.empty() || incoming_.waits() ? kGraceNs / 4 : -1;
}

void FabricLink::failed(const rdma::Failure& failure) {
  if (failure.op == nullptr || failure.op->kind == rdma::Op::Kind::kReceive) {
    return receive_failed(failure);
  }
  const std::string why =
      failure.text.empty() ? rdma::category().message(failure.code) : failure.text;
  const Rank rank = rank_of(*failure.op);
  if (routes_[rank]->dead) return settle(*failure.op);
  if (failure.code == FI_EACCES || failure.code == FI_EKEYREJECTED) {
    give_up("rank " + std::to_string(rank) + " refused an access to its memory: " + why);
  }
  if (rdma::is_local(failure.code)) {
    const bool bad_memory =
        failure.code == FI_EFAULT && failure.op->kind == rdma::Op::Kind::kAccess;
    give_up(
        failed_here(rank) + why +
        (bad_memory ? " of " + name_of(Access::of(*failure.op).piece) + " of this process" : "") +
        rdma::remedy(failure.code));
  }
  if (has_died(rank)) {
    forget(rank);
    return settle(*failure.op);
  }
  const bool not_segment = failure.op->kind == rdma::Op::Kind::kAccess &&
                           Access::of(*failure.op).rest.at.key != routes_[rank]->segment.key;
  // Some providers answer such an access by ending the connection.
  lose(rank,
       why + (not_segment ? ", or the access was to memory that is not registered there" : ""));
  // It may turn out to be dead, and then accesses end. A frame comes back from what is kept.
  if (options_.has_died && failure.op->kind == rdma::Op::Kind::kSend) settle(*failure.op);
}

void FabricLink::not_started(Rank rank, const rdma::Error& error) {
  if (rdma::is_local(error.code)) give_up(failed_here(rank) + error.what());
  if (!has_died(rank)) lose(rank, error.what());
}

void FabricLink::lose(Rank rank, const std::string& why) {
  if (std::ranges::find(lost_, rank, &Lost::rank) != lost_.end()) return;
  lost_.push_back({rank, now_ns(),
                   "lost the way to rank " + std::to_string(rank) + " (" + why +
                       "): its process has ended, or its machine cannot be reached"});
}

void FabricLink::look_at_lost() {
  if (options_.has_died) {
    std::erase_if(lost_, [this](const Lost& one) { return has_died(one.rank); });
    if (lost_.empty()) return;
  }
  const Lost& first = lost_.front();
  if (now_ns() - first.since_ns > (options_.has_died ? kDeathNs : kGraceNs))
    give_up(first.sentence);
}

void FabricLink::give_up(const std::string& sentence) const {
  options_.fatal(sentence);
  std::abort();  // not reached
}

}  // namespace am::link
