#include "am/core/far/remote_memory.h"

#include <cstring>
#include <string>

#include "am/core/bundle.h"
#include "am/core/far/messages.h"
#include "am/core/process.h"
#include "am/far/far_memory.h"
#include "am/route/port.h"
#include "am/route/router.h"
#include "am/types/shared_words.h"

namespace am {

struct RemoteMemory::Target {
  Reason reason(const char* needs) const noexcept {
    return {.call = call, .needs = needs, .peer = rank, .wanted = bytes, .unit = "bytes"};
  }

  const Call& call;
  Rank rank;
  std::size_t bytes;
};

RemoteMemory::RemoteMemory(Bundle& bundle, Done done)
    : bundle_((bundle.require_sequential("RemoteMemory"), bundle)),
      memory_(bundle.process().far_memory()),
      port_(bundle.router().port()),
      home_(home_of(bundle)),
      done_(done) {}

void RemoteMemory::check(Rank rank, Call call) const {
  if (bundle_.router().is_near(rank) || bundle_.handling()) [[unlikely]]
    refuse(rank, call);
}

void RemoteMemory::refuse(Rank rank, Call call) const {
  if (!bundle_.handling()) {
    bundle_.refuse(call, "process " + std::to_string(rank) +
                             " is on this node; use its memory directly (Router::peer)");
  }
  bundle_.refuse(call, "a handler may not wait, and the memory of process " + std::to_string(rank) +
                           " is on another node; do it after poll()");
}

RemoteMemory::Operation& RemoteMemory::take(std::uint32_t ticket) {
  Operation& operation = operations_.take([this](Operation& made, std::uint32_t) {
    made.owner = this;
    made.done = &finished;
    made.home = home_;
  });
  operation.ticket = ticket;
  return operation;
}

void RemoteMemory::finished(link::Completion& completion) {
  auto& operation = static_cast<Operation&>(completion);
  RemoteMemory& owner = *operation.owner;
  owner.operations_.give_back(operation);
  owner.done_(operation.ticket);
}

// What a call goes through on its way to the network is part of few functions (docs/design.md).
template <class Try>
[[gnu::always_inline]] inline void RemoteMemory::until(const Target& target, const Try& try_start) {
  const auto is_started = [&]() __attribute__((always_inline)) {
    const Port::Lock network(*port_);
    return try_start();
  };
  if (!is_started()) [[unlikely]]
    wait_for_room(target, is_started);
}

void RemoteMemory::wait_for_room(const Target& target, FunctionRef<bool()> is_started) {
  bundle_.wait_until(is_started, Wake::kRung,
                     [&] { return target.reason("room in the network towards the memory"); });
}

// If a handler throws meanwhile, there is no such operation.
template <class Try>
[[gnu::always_inline]] inline void RemoteMemory::start_until(const Target& target,
                                                             Operation& operation,
                                                             const Try& try_start) {
  try {
    until(target, try_start);
  } catch (...) {
    operations_.give_back(operation);
    throw;
  }
}

void RemoteMemory::start(const link::RmaAccess& access, std::uint32_t ticket, const Call& call) {
  check(access.peer, call.name);
  const std::size_t bytes = access.local.size();
  if (bytes == 0) return done_(ticket);
  Operation& operation = take(ticket);
  link::RmaAccess copied = access;
  if (access.kind == link::RmaAccess::kWrite && bytes <= kCopied) {
    std::memcpy(operation.copy.data(), access.local.data(), bytes);
    copied.local = std::span(operation.copy).first(bytes);
  }
  start_until(
      {call, access.peer, bytes}, operation, [&]() __attribute__((always_inline)) {
        return memory_->try_access(copied, operation);
      });
}

std::optional<std::uint32_t> RemoteMemory::try_join(const link::RmaAccess& access) {
  const Port::Lock network(*port_);
  link::Completion* const row = memory_->small_accesses().try_join(access, home_);
  if (row == nullptr) return std::nullopt;
  return static_cast<Operation*>(row)->ticket;
}

bool RemoteMemory::can_expose() const noexcept {
  return !by_requests() && port_ != nullptr && port_->link().can().rma;
}

std::shared_ptr<const link::Registration> RemoteMemory::expose(std::span<const std::byte> memory) {
  return port_->register_memory({const_cast<std::byte*>(memory.data()), memory.size()});
}

bool RemoteMemory::try_put(Rank rank, const link::RemoteKey& at, std::span<const std::byte> from,
                           link::Completion& done) {
  const Port::Lock network(*port_);
  const bool in_order = puts_before_messages(from.size());
  return port_->link().try_access(link::RmaAccess::write(rank, at, from, in_order), done);
}

bool RemoteMemory::puts_before_messages(std::size_t bytes) const noexcept {
  return bytes <= port_->link().can().ordered_write;
}

bool RemoteMemory::try_append(Rank rank, std::uint64_t offset, std::span<const std::byte> from,
                              std::uint64_t counter) {
  if (from.size() > OneSided::kSmall) return false;
  const Port::Lock network(*port_);
  return memory_->one_sided().try_append(rank, offset, from, counter);
}

bool RemoteMemory::writes_store(Rank rank, std::size_t bytes) {
  if (bytes <= link::kMaxData) return false;
  const Port::Lock network(*port_);
  return memory_->writes_store(rank, bytes);
}

void RemoteMemory::store(Rank rank, std::uint64_t offset, std::span<const std::byte> from,
                         std::uint64_t counter, const Call& call, std::uint64_t& sent) {
  check(rank, call.name);
  const Target target{call, rank, from.size()};
  if (!writes_store(rank, from.size())) {
    until(
        target, [&]() __attribute__((always_inline)) {
          return memory_->one_sided().try_store(rank, offset, from, counter);
        });
    sent += from.size();
    return;
  }
  struct Released : link::Completion {
    bool yes = false;
  } released;
  released.done = [](link::Completion& done) { release(static_cast<Released&>(done).yes); };
  until(target, [&] { return memory_->try_store_much(rank, offset, from, counter, released); });
  sent += from.size();
  bundle_.wait_until_released(released.yes, target.reason("an answer"));
}

bool RemoteMemory::start_store(Rank rank, std::uint64_t offset, std::span<const std::byte> from,
                               std::uint64_t counter, std::uint32_t ticket, const Call& call,
                               std::uint64_t& sent) {
  check(rank, call.name);
  if (by_requests() || !writes_store(rank, from.size())) {
    store(rank, offset, from, counter, call, sent);
    return false;
  }
  Operation& operation = take(ticket);
  start_until({call, rank, from.size()}, operation,
              [&] { return memory_->try_store_much(rank, offset, from, counter, operation); });
  sent += from.size();
  return true;
}

void RemoteMemory::set_more_to_come(bool yes) noexcept {
  const Port::Lock network(*port_);
  bundle_.process().far_messages()->more_to_come = yes;
}

void RemoteMemory::count(std::uint64_t counter, std::uint64_t bytes) {
  // A progress thread may be counting others.
  const Port::Lock network(*port_);
  if (!memory_->one_sided().count(counter, bytes)) refuse_counter(counter);
}

void RemoteMemory::refuse_counter(std::uint64_t counter) const {
  throw Error("rank " + std::to_string(bundle_.router().rank()) +
              ": a store that is to be counted at offset " + std::to_string(counter) +
              ", where the segment has no counter; all programs of a job must be built from the "
              "same Splitphase");
}

const LearningStats& RemoteMemory::learning() const noexcept {
  return memory_->learned_stores().stats();
}

}  // namespace am
