#include "am/remote_memory.h"

#include <cstring>
#include <string>

#include "am/port.h"

namespace am {

namespace {

constexpr const char* kRoom = "room in the network towards the memory";
constexpr const char* kEnd = "an answer";

Reason reason_of(Rank rank, Reason reason, const char* needs) noexcept {
  reason.needs = needs;
  reason.peer = rank;
  return reason;
}

}  // namespace

template <class Condition>
void RemoteMemory::wait_until(Rank rank, const Reason& reason, const char* needs,
                              Condition&& condition) {
  bundle_.wait_until(condition, Wake::kRung, [&] { return reason_of(rank, reason, needs); });
}

RemoteMemory::RemoteMemory(Bundle& bundle, Done done) : bundle_(bundle), done_(done) {}

RemoteMemory::~RemoteMemory() = default;

Port& RemoteMemory::port(Rank rank, const char* call) const {
  Port* const port = bundle_.router().port();
  if (port == nullptr || bundle_.router().is_near(rank)) {
    bundle_.refuse(call, "process " + std::to_string(rank) +
                             " is on this node; use its memory directly (Router::peer)");
  }
  if (bundle_.handling()) {
    bundle_.refuse(call, "a handler may not wait, and the memory of process " +
                             std::to_string(rank) + " is on another node; do it after poll()");
  }
  return *port;
}

RemoteMemory::Operation& RemoteMemory::take(std::uint32_t ticket) {
  if (free_.empty()) {
    all_.push_back(std::make_unique<Operation>());
    all_.back()->owner = this;
    all_.back()->done = &finished;
    free_.push_back(all_.back().get());
  }
  Operation& operation = *free_.back();
  free_.pop_back();
  operation.ticket = ticket;
  return operation;
}

void RemoteMemory::finished(link::Completion& completion) {
  auto& operation = static_cast<Operation&>(completion);
  RemoteMemory& owner = *operation.owner;
  owner.free_.push_back(&operation);
  owner.done_(operation.ticket);
}

// Tries until the operation is under way. If a handler throws meanwhile, there is none.
template <class Try>
void RemoteMemory::start(Operation& operation, Rank rank, const Reason& reason, Try&& try_start) {
  if (try_start()) return;
  try {
    wait_until(rank, reason, kRoom, try_start);
  } catch (...) {
    free_.push_back(&operation);
    throw;
  }
}

void RemoteMemory::get(Rank rank, std::uint64_t offset, std::span<std::byte> to,
                       std::uint32_t ticket, const Reason& reason) {
  OneSided& access = port(rank, "get").one_sided();
  if (to.empty()) return done_(ticket);
  Operation& operation = take(ticket);
  start(operation, rank, reason, [&] { return access.try_read(rank, offset, to, operation); });
}

void RemoteMemory::put(Rank rank, std::uint64_t offset, std::span<const std::byte> from,
                       std::uint32_t ticket, const Reason& reason) {
  OneSided& access = port(rank, "put").one_sided();
  if (from.empty()) return done_(ticket);
  Operation& operation = take(ticket);
  if (from.size() <= kCopied) {
    std::memcpy(operation.copy.data(), from.data(), from.size());
    from = {operation.copy.data(), from.size()};
  }
  start(operation, rank, reason,
        [&] { return access.try_write(rank, offset, from, false, operation); });
}

void RemoteMemory::store(Rank rank, std::uint64_t offset, std::span<const std::byte> from,
                         std::uint64_t counter, const Reason& reason) {
  Port& far = port(rank, "store");
  if (far.link().congested(rank)) {
    wait_until(rank, reason, kRoom, [&] { return !far.link().congested(rank); });
  }
  if (from.size() <= link::kMaxData) return far.one_sided().store(rank, offset, from, counter);
  if (const auto word = far.learned_stores().find(rank, offset, from.size(), counter)) {
    Released released;
    released.done = [](link::Completion& done) { static_cast<Released&>(done).yes = true; };
    wait_until(rank, reason, kRoom,
               [&] { return far.link().try_put(rank, offset, from, *word, released); });
    return bundle_.wait_until_released(released.yes, reason_of(rank, reason, kEnd));
  }
  const link::Count packet = OneSided::make_count(counter, from.size());
  bool released = false;
  far.transfers().start(rank, offset, from, std::as_bytes(std::span(&packet, 1)), released);
  bundle_.wait_until_released(released, reason_of(rank, reason, kEnd));
}

const LearningStats& RemoteMemory::learning() const noexcept {
  return bundle_.router().port()->learned_stores().stats();
}

}  // namespace am
