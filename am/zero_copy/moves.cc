// How the bytes go: by messages, with what other engines send, or by the network itself.

#include <algorithm>
#include <cstring>
#include <utility>

#include "am/zero_copy/engine.h"

namespace am::zero_copy {

bool Engine::try_whole(const End& end, const ZeroCopyInfo& remote, std::size_t bytes) {
  const Whole whole{remote.slot, remote.generation};
  if (bundle_.in_handler() ||
      !wire_.try_request_medium<&on_whole>(remote.rank, end.memory().first(bytes), whole)) {
    return false;
  }
  ++sent_;
  ++stats_.messages;
  slots_.finish(end, bytes, remote.rank, true);
  return true;
}

bool Engine::try_fetch(Operation& operation) {
  const Fetch fetch{operation.id, operation.remote.slot, operation.remote.generation,
                    static_cast<std::uint32_t>(operation.bytes)};
  if (!wire_.try_request<&on_fetch>(operation.peer, fetch)) return false;
  ++sent_;
  operation.step = Operation::Step::kAwait;
  return true;
}

bool Engine::try_pieces(Operation& operation) {
  while (operation.moved != operation.bytes) {
    const std::size_t bytes =
        std::min<std::size_t>(operation.bytes - operation.moved, max_medium());
    const Piece piece{operation.remote_op, 0, operation.moved};
    if (!wire_.try_request_medium<&on_piece>(
            operation.peer, operation.end.memory().subspan(operation.moved, bytes), piece)) {
      return false;
    }
    ++sent_;
    operation.moved += bytes;
  }
  ++stats_.messages;
  through(operation);
  return true;
}

void Engine::announce(Rank to, const End& end, const Announcement& announcement) {
  Operation& operation = take(to, end, end.buffer.bytes);
  operation.announcement = announcement;
  operation.step = Operation::Step::kAnnounce;
  advance_or_wait(operation);
}

bool Engine::try_announce(Operation& operation) {
  std::span<const std::byte> along;
  if (operation.announcement.along) along = operation.end.memory();
  if (!wire_.try_request_medium<&on_announcement>(operation.peer, along, operation.announcement)) {
    return false;
  }
  ++sent_;
  give_back(operation);  // what follows comes from the receiver
  return true;
}

// --- Handlers

void Engine::on_control(OneWay message, Control control) {
  static_cast<Wire&>(message.endpoint()).engine.arrived_.push({message.source(), control});
}

void Engine::on_moved(OneWay message, Moved moved) {
  Engine& engine = static_cast<Wire&>(message.endpoint()).engine;
  engine.arrived_.push({message.source(),
                        {.verb = Verb::kMoved,
                         .put = moved.put != 0,
                         .slot = moved.slot,
                         .generation = moved.generation,
                         .bytes = moved.bytes}});
}

void Engine::on_fetch(Request request, Fetch fetch) {
  Engine& engine = static_cast<Wire&>(request.endpoint()).engine;
  const Rank from = request.source();
  if (fetch.bytes > max_medium()) engine.refuse_message(from, "asks for more than fits into one");
  Slot* const slot = engine.find(from, {.verb = Verb::kGet,
                                        .op = fetch.op,
                                        .slot = fetch.slot,
                                        .generation = fetch.generation,
                                        .bytes = fetch.bytes});
  if (slot == nullptr) return;
  const End end = engine.slots_.begin(*slot);
  std::move(request).reply_medium<&on_fetched>(end.memory().first(fetch.bytes), fetch.op);
  ++engine.stats_.messages;
  engine.slots_.finish(end, fetch.bytes, from, true);
}

void Engine::on_fetched(Reply reply, std::span<const std::byte> bytes, std::uint32_t op) {
  Engine& engine = static_cast<Wire&>(reply.endpoint()).engine;
  Operation& fetching = engine.operation(op, reply.source(), Part::kGetter);
  if (bytes.size() != fetching.bytes) {
    engine.refuse_message(reply.source(), "has " + std::to_string(bytes.size()) +
                                              " bytes of a buffer instead of " +
                                              std::to_string(fetching.bytes));
  }
  if (!bytes.empty()) std::memcpy(fetching.end.memory().data(), bytes.data(), bytes.size());
  engine.through(fetching);
}

void Engine::on_piece(OneWay message, std::span<const std::byte> bytes, Piece piece) {
  Engine& engine = static_cast<Wire&>(message.endpoint()).engine;
  Operation& receiving = engine.operation(piece.op, message.source(), Part::kReceiver);
  const std::span<std::byte> to = receiving.end.memory().first(receiving.bytes);
  if (piece.offset != receiving.moved || bytes.size() > to.size() - receiving.moved) {
    engine.refuse_message(message.source(), "has a piece that is not the next of its buffer");
  }
  if (!bytes.empty()) std::memcpy(to.data() + piece.offset, bytes.data(), bytes.size());
  receiving.moved += bytes.size();
  if (receiving.moved == receiving.bytes) engine.through(receiving);
}

void Engine::on_whole(OneWay message, std::span<const std::byte> bytes, Whole whole) {
  Engine& engine = static_cast<Wire&>(message.endpoint()).engine;
  const Control control{.verb = Verb::kPut,
                        .put = true,
                        .slot = whole.slot,
                        .generation = whole.generation,
                        .bytes = bytes.size()};
  Slot* const slot = engine.find(message.source(), control);
  if (slot == nullptr) return;
  const End end = engine.slots_.begin(*slot);
  if (!bytes.empty()) std::memcpy(end.memory().data(), bytes.data(), bytes.size());
  engine.slots_.finish(end, bytes.size(), message.source(), false);
}

void Engine::on_announcement(OneWay message, std::span<const std::byte> bytes,
                             Announcement announcement) {
  Engine& engine = static_cast<Wire&>(message.endpoint()).engine;
  engine.requests_.take(message.source(), bytes, announcement);
}

// --- By the network (RMA), and the keys of others by which it may

bool Engine::try_access(Operation& operation) {
  const Port::Lock network(*router_.port());
  link::Link& link = router_.port()->link();
  const std::span<std::byte> here = operation.end.memory().first(operation.bytes);
  const bool writes = operation.put == operation.initiated;
  const bool in_order = writes && here.size() <= link.can().ordered_write;
  const auto access = writes ? link::RmaAccess::write(operation.peer, operation.key, here, in_order)
                             : link::RmaAccess::read(operation.peer, operation.key, here);
  if (!link.try_access(access, operation)) return false;
  ++sent_;
  operation.step = Operation::Step::kAccessed;
  if (in_order) send_through(operation);  // arrives behind the bytes
  if (!controls_.empty()) flush_controls();
  return true;
}

// Inside Port::poll() or Port::fetch(): the rest is for poll().
void Engine::accessed(link::Completion& completion) {
  auto& operation = static_cast<Operation&>(completion);
  Engine& engine = *operation.engine;
  if (!operation.notified) engine.send_through(operation);
  ++engine.stats_.rma;
  if (operation.alone) {
    ++engine.stats_.rma_alone;
    engine.unuse_grant(operation);
  }
  engine.through(operation);
}

// --- Keys that stay valid between transfers

bool Engine::use_grant(Operation& operation) {
  const auto key = grants_.use(GrantName::of(operation.remote));
  if (!key) return false;
  operation.key = *key;
  operation.alone = true;
  return true;
}

void Engine::unuse_grant(const Operation& operation) {
  const ZeroCopyInfo& remote = operation.remote;
  for (auto asked = grants_.release(GrantName::of(remote)); asked != 0; --asked) {
    send_later(remote.rank,
               {.verb = Verb::kRevoked, .slot = remote.slot, .generation = remote.generation});
  }
}

void Engine::revoked_here(Rank from, const Control& control) {
  if (!grants_.revoke({from, control.slot, control.generation})) return;  // unuse_grant() answers
  send(from, {.verb = Verb::kRevoked, .slot = control.slot, .generation = control.generation});
}

}  // namespace am::zero_copy
