#include "am/zero_copy/engine.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "am/core/far/messages.h"
#include "am/core/process.h"
#include "am/route/port.h"

namespace am::zero_copy {
namespace {

// An operation's id: its place, and which of those that were there.
constexpr std::uint32_t kPlaceBits = 20;
constexpr std::uint32_t kPlaces = (1u << kPlaceBits) - 1;

}  // namespace

Engine::Engine(Bundle& bundle, const Setup& setup)
    : bundle_((bundle.require_sequential("ZeroCopy"), bundle)),
      router_(bundle.router()),
      me_(router_.rank()),
      home_(home_of(bundle)),
      neighbours_(router_, setup.pool_bytes),
      slots_(me_, neighbours_),
      buffers_(bundle, slots_, neighbours_.pool(),
               [this](Rank to, const Control& control) { send_later(to, control); }),
      requests_(*this, slots_),
      wire_(bundle, *this) {
  wire_.add_handlers<&on_control, &on_moved, &on_fetch, &on_fetched, &on_piece, &on_whole,
                     &on_announcement>();
  wire_.on_returned([this](const Returned& message) { came_back(message); });
  setup.connect(wire_);
  const auto all = setup.exchange(neighbours_.card());
  for (Rank rank = 0; rank < router_.size(); ++rank) {
    if (router_.is_near(rank)) neighbours_.open(rank, all[rank]);
  }
  bundle_.add(*this);
}

Engine::~Engine() { bundle_.remove(*this); }

// The other process has ended its ZeroCopy. With it went the keys that it had.
void Engine::came_back(const Returned& message) {
  Control control{};
  if (message.kind == Kind::kShort && message.arguments.size() == sizeof control) {
    std::memcpy(&control, message.arguments.data(), sizeof control);
    if (control.verb == Verb::kRevoke) return buffers_.returned(control.slot, control.generation);
    if (control.verb == Verb::kRevoked) return;
  }
  router_.fatal("poll: a zero-copy message to rank " + std::to_string(message.destination) +
                " came back: " + std::string(am::describe(message.status)) +
                "; end a ZeroCopy only when no other process uses its buffers any more");
}

int Engine::poll() {
  int count = 0;
  for (std::size_t left = arrived_.size(); left != 0; --left) {
    const Arrived next = pop(arrived_);
    ++count;
    handle(next.from, next.control);
  }
  count += flush();
  if (slots_.has_callbacks()) count += slots_.run_callbacks();
  return count;
}

bool Engine::has_work() noexcept {
  if (!arrived_.empty() || slots_.has_callbacks()) return true;
  try {
    return flush() != 0;  // there may be room now, and nobody else asks before the sleep
  } catch (...) {
    return true;  // poll() will meet it again
  }
}

bool Engine::idle() const noexcept {
  return operations_.in_use() == 0 && arrived_.empty() && controls_.empty() && slots_.idle();
}

// --- Operations

Engine::Operation& Engine::take(Rank peer, const End& end, std::size_t bytes) {
  if (operations_.in_use() == kPlaces) {
    bundle_.refuse("ZeroCopy",
                   std::to_string(kPlaces) + " transfers are under way; let some finish");
  }
  Operation& operation = operations_.take([this](Operation& made, std::uint32_t number) {
    made.engine = this;
    made.done = &accessed;
    made.home = home_;
    made.id = number;
  });
  operation.busy = true;
  operation.step = Operation::Step::kAwait;
  operation.put = operation.initiated = operation.alone = operation.notified = false;
  operation.peer = peer;
  operation.end = end;
  operation.bytes = bytes;
  operation.moved = 0;
  return operation;
}

// The operation that a message of `from` names, if it awaits such a message.
Engine::Operation& Engine::operation(std::uint32_t id, Rank from, Part part) {
  const std::uint32_t place = id & kPlaces;
  if (place >= operations_.size() || !operations_[place].busy || operations_[place].id != id ||
      operations_[place].peer != from || operations_[place].step != Operation::Step::kAwait) {
    refuse_message(from, "is for a transfer that is not under way");
  }
  Operation& found = operations_[place];
  const bool receives = found.put != found.initiated;
  const bool fits =
      part == Part::kReceiver
          ? receives
          : found.initiated && (part == Part::kInitiator || (part == Part::kPutter) == found.put);
  if (!fits) refuse_message(from, "is for a transfer in the other direction");
  return found;
}

void Engine::refuse_message(Rank from, const std::string& what) const {
  router_.fatal("poll: a zero-copy message of rank " + std::to_string(from) + " " + what +
                "; all programs of a job must be built from the same Splitphase, and use a "
                "ZeroCopy only while all have it");
}

void Engine::give_back(Operation& operation) noexcept {
  operation.answer.reset();
  operation.busy = false;
  operation.id += kPlaces + 1;
  operation.end.callback.reset();
  operation.registration.reset();
  operations_.give_back(operation);
}

// This end's part is over.
void Engine::through(Operation& operation) {
  const bool source = operation.put == operation.initiated;
  slots_.finish(operation.end, operation.bytes, operation.peer, source);
  give_back(operation);
}

// --- Sending

void Engine::send(Rank to, const Control& control) {
  if (!controls_.empty() || bundle_.in_handler() || !try_send(to, control)) {
    send_later(to, control);
  }
}

bool Engine::try_send(Rank to, const Control& control) {
  if (control.verb != Verb::kMoved) return wire_.try_request<&on_control>(to, control);
  return wire_.try_request<&on_moved>(
      to, Moved{control.slot, control.generation, control.bytes, control.put});
}

void Engine::flush_controls() {
  std::vector<Rank> blocked;
  for (std::size_t left = controls_.size(); left != 0; --left) {
    const Arrived next = pop(controls_);
    const bool sent = std::find(blocked.begin(), blocked.end(), next.from) == blocked.end() &&
                      try_send(next.from, next.control);
    if (sent) {
      ++sent_;
    } else {
      blocked.push_back(next.from);
      controls_.push(next);
    }
  }
}

// Sends what found no room before; returns how much. Where one finds none, those behind it to the
// same peer are not asked: with very many under way every call would go through them all.
int Engine::flush() {
  const std::uint64_t before = sent_;
  if (!controls_.empty()) flush_controls();
  for (auto at = waiting_.begin(); at != waiting_.end();) {
    std::queue<Operation*>& of_peer = at->second;
    while (!of_peer.empty() && advance(*of_peer.front())) of_peer.pop();
    at = of_peer.empty() ? waiting_.erase(at) : std::next(at);
  }
  return static_cast<int>(sent_ - before);
}

void Engine::advance_or_wait(Operation& operation) {
  const auto others = waiting_.find(operation.peer);
  if (others != waiting_.end()) return others->second.push(&operation);
  if (bundle_.in_handler() || !advance(operation)) waiting_[operation.peer].push(&operation);
}

// False: no room now.
bool Engine::advance(Operation& operation) {
  switch (operation.step) {
    case Operation::Step::kWhole:
      if (!try_whole(operation.end, operation.remote, operation.bytes)) return false;
      give_back(operation);
      return true;
    case Operation::Step::kFetch: return try_fetch(operation);
    case Operation::Step::kPieces: return try_pieces(operation);
    case Operation::Step::kAnnounce: return try_announce(operation);
    case Operation::Step::kAccess: return try_access(operation);
    case Operation::Step::kAwait:
    case Operation::Step::kAccessed: break;
  }
  return true;
}

// What other processes ask for.

void Engine::handle(Rank from, const Control& control) {
  switch (control.verb) {
    case Verb::kGet:
    case Verb::kPut: return serve(from, control);
    case Verb::kSend: return send_pieces(from, control);
    case Verb::kDone: return take_done(from, control);
    case Verb::kRefused: return refused(from, control);
    case Verb::kMoved: return moved(from, control);
    case Verb::kRevoke: return revoked_here(from, control);
    case Verb::kRevoked: return buffers_.returned(control.slot, control.generation);
  }
  refuse_message(from, "says what no process says");
}

// The buffer that `control` names. nullptr: it takes no such transfer, and the other process is
// sent kRefused with the reason.
Slot* Engine::find(Rank from, const Control& control) {
  Slot* const slot = slots_.find(control.slot, control.generation);
  Control answer = control;
  answer.verb = Verb::kRefused;
  answer.has_key = false;
  if (slot == nullptr) {
    answer.why = Refusal::kStale;
  } else if (!slot->takes_transfers()) {
    answer.why = Refusal::kDeregistered;
  } else if (control.bytes > slot->info.bytes) {
    answer.why = Refusal::kTooSmall;
    answer.address = slot->info.bytes;
  } else {
    return slot;
  }
  send(from, answer);
  return nullptr;
}

void Engine::serve(Rank from, const Control& asked) {
  Control control = asked;
  control.put = asked.verb == Verb::kPut;
  Slot* const slot = find(from, control);
  if (slot == nullptr) return;
  const End end = slots_.begin(*slot);
  if (serve_mapped(from, control, end)) return;
  Operation& operation = take(from, end, control.bytes);
  operation.put = control.put;
  operation.remote_op = control.op;
  if (control.has_key && buffers_.rma()) {
    operation.key = control.key;
    operation.step = Operation::Step::kAccess;
  } else if (control.put) {
    operation.step = Operation::Step::kAwait;
    send(from, {.verb = Verb::kSend, .op = control.op, .slot = operation.id});
    return;
  } else {
    operation.step = Operation::Step::kPieces;
  }
  advance_or_wait(operation);
}

// Where the asking process's memory is mapped here.
bool Engine::serve_mapped(Rank from, const Control& control, const End& end) {
  if (!router_.is_near(from)) return false;
  std::byte* const there = neighbours_.mapped(from, control.address, control.bytes);
  if (there == nullptr) return false;
  std::byte* const here = end.memory().data();
  if (control.bytes != 0) {
    std::memcpy(control.put ? here : there, control.put ? there : here, control.bytes);
  }
  ++stats_.mapped;
  send(from, {.verb = Verb::kDone, .op = control.op});
  slots_.finish(end, control.bytes, from, !control.put);
  return true;
}

// Notifies the other end of an access that the bytes are in place.
void Engine::send_through(Operation& operation) {
  operation.notified = true;
  if (operation.alone) {
    const ZeroCopyInfo& remote = operation.remote;
    return send_later(operation.peer, {.verb = Verb::kMoved,
                                       .put = operation.put,
                                       .slot = remote.slot,
                                       .generation = remote.generation,
                                       .bytes = operation.bytes});
  }
  Control control{.verb = Verb::kDone, .op = operation.remote_op};
  buffers_.grant(operation.peer, operation.end, control);
  send_later(operation.peer, control);
}

void Engine::moved(Rank from, const Control& control) {
  Slot* const slot = slots_.find(control.slot, control.generation);
  if (slot != nullptr && control.bytes > slot->info.bytes) {
    refuse_message(from, "says that more was moved than the buffer has");
  }
  if (slot != nullptr) return slots_.finish(slots_.begin(*slot), control.bytes, from, !control.put);
  send(from, {.verb = Verb::kRefused,
              .put = control.put,
              .why = Refusal::kStale,
              .slot = control.slot,
              .generation = control.generation,
              .bytes = control.bytes});
}

}  // namespace am::zero_copy
