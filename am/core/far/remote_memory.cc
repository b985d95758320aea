#include "am/core/far/remote_memory.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

#include "am/core/far/messages.h"
#include "am/core/process.h"
#include "am/far/far_memory.h"
#include "am/route/port.h"
#include "am/route/router.h"
#include "am/types/released.h"

namespace am {

namespace {

constexpr const char* kRoom = "room in the network towards the memory";
constexpr const char* kEnd = "an answer";

}  // namespace

struct RemoteMemory::Access {
  Reason reason(const char* needs) const noexcept {
    return {.call = site.call,
            .where = site.where,
            .caller = site.caller,
            .needs = needs,
            .peer = rank,
            .wanted = bytes,
            .unit = "bytes"};
  }

  const CallSite& site;
  Rank rank;
  std::size_t bytes;
};

template <class Condition>
void RemoteMemory::wait_until(const Access& access, const char* needs, Condition&& condition) {
  bundle_.wait_until(condition, Wake::kRung, [&] { return access.reason(needs); });
}

RemoteMemory::RemoteMemory(Bundle& bundle, LearnedStores* learned, Done done)
    : bundle_((bundle.require_sequential("RemoteMemory"), bundle)),
      learned_(learned),
      done_(done),
      started_(bundle, done) {}

RemoteMemory::~RemoteMemory() = default;

FarMemory& RemoteMemory::far(Rank rank, const char* call) const {
  FarMemory* const far = bundle_.process().far_memory();
  if (far == nullptr || bundle_.router().is_near(rank) || bundle_.handling()) [[unlikely]]
    refuse(rank, call);
  return *far;
}

void RemoteMemory::refuse(Rank rank, const char* call) const {
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
    made.home = &bundle_.process().far_messages()->home(bundle_);
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

// Tries again until the operation is under way. If a handler throws meanwhile, there is none.
template <class Try>
void RemoteMemory::wait_for_room(Operation& operation, const Access& access, Try&& try_start) {
  try {
    wait_until(access, kRoom, try_start);
  } catch (...) {
    operations_.give_back(operation);
    throw;
  }
}

void RemoteMemory::get(Rank rank, std::uint64_t offset, std::span<std::byte> to,
                       std::uint32_t ticket, const CallSite& site) {
  OneSided& memory = far(rank, "get").one_sided();
  if (to.empty()) return done_(ticket);
  SmallAccesses& small = bundle_.process().far_memory()->small_accesses();
  start_get(rank, to, ticket, site, [&](Operation& operation) {
    return small.takes(to.size()) ? small.try_get(rank, offset, to, operation)
                                  : memory.try_read(rank, offset, to, operation);
  });
}

template <class Start>
void RemoteMemory::start_get(Rank rank, std::span<std::byte> to, std::uint32_t ticket,
                             const CallSite& site, const Start& start) {
  Operation& operation = take(ticket);
  const auto try_start = [&]() __attribute__((always_inline)) {
    const Port::Inside inside(*bundle_.router().port());
    return start(operation);
  };
  if (!try_start()) wait_for_room(operation, {site, rank, to.size()}, try_start);
}

template <class Try>
std::optional<std::uint32_t> RemoteMemory::joined(Try&& try_join) {
  const Port::Inside inside(*bundle_.router().port());
  link::Completion* const row = try_join(bundle_.process().far_memory()->small_accesses());
  if (row == nullptr) return std::nullopt;
  return static_cast<Operation*>(row)->ticket;
}

std::optional<std::uint32_t> RemoteMemory::try_join_get(Rank rank, std::uint64_t offset,
                                                        std::span<std::byte> to) {
  return joined([&](SmallAccesses& small) { return small.try_join_get(rank, offset, to); });
}

std::optional<std::uint32_t> RemoteMemory::try_join_put(Rank rank, std::uint64_t offset,
                                                        std::span<const std::byte> from) {
  return joined([&](SmallAccesses& small) { return small.try_join_put(rank, offset, from); });
}

bool RemoteMemory::can_expose() const noexcept {
  Port* const port = bundle_.router().port();
  return port != nullptr && port->link().can().rma;
}

// It also ends inside the port.
std::shared_ptr<const link::Registration> RemoteMemory::expose(std::span<const std::byte> memory) {
  Port& port = *bundle_.router().port();
  const Port::Inside inside(port);
  const std::span<std::byte> range(const_cast<std::byte*>(memory.data()), memory.size());
  return {port.link().can().registrar->register_memory(range).release(),
          [&port](const link::Registration* registration) {
            const Port::Inside now_inside(port);
            delete registration;
          }};
}

void RemoteMemory::get(Rank rank, const link::RemoteKey& at, std::span<std::byte> to,
                       std::uint32_t ticket, const CallSite& site) {
  OneSided& memory = far(rank, "get").one_sided();
  if (to.empty()) return done_(ticket);
  start_get(rank, to, ticket, site,
            [&](Operation& operation) { return memory.try_read(rank, at, to, operation); });
}

void RemoteMemory::put(Rank rank, std::uint64_t offset, std::span<const std::byte> from,
                       std::uint32_t ticket, const CallSite& site) {
  OneSided& memory = far(rank, "put").one_sided();
  if (from.empty()) return done_(ticket);
  Operation& operation = take(ticket);
  if (from.size() <= kCopied) {
    std::memcpy(operation.copy.data(), from.data(), from.size());
    from = {operation.copy.data(), from.size()};
  }
  SmallAccesses& small = bundle_.process().far_memory()->small_accesses();
  const auto start = [&]() __attribute__((always_inline)) {
    const Port::Inside inside(*bundle_.router().port());
    return small.takes(from.size()) ? small.try_put(rank, offset, from, operation)
                                    : memory.try_write(rank, offset, from, false, operation);
  };
  if (!start()) wait_for_room(operation, {site, rank, from.size()}, start);
}

// Part of store(), which nearly every store goes through.
[[gnu::always_inline]] inline void RemoteMemory::store_by_packets(FarMemory& memory, const Put& put,
                                                                  const Access& access,
                                                                  std::uint64_t& sent) {
  Port& port = *bundle_.router().port();
  const auto try_store = [&]() __attribute__((always_inline)) {
    const Port::Inside inside(port);
    if (port.link().queue(access.rank) == link::Queue::kFull) return false;
    memory.one_sided().store(access.rank, put.offset, put.from, put.word);
    return true;
  };
  if (!try_store()) wait_until(access, kRoom, try_store);
  sent += put.from.size();
}

void RemoteMemory::store(Rank rank, std::uint64_t offset, std::span<const std::byte> from,
                         std::uint64_t counter, const CallSite& site, std::uint64_t& sent) {
  FarMemory& memory = far(rank, "store");
  if (from.size() <= OneSided::kSmall) [[likely]] {
    const Port::Inside inside(*bundle_.router().port());
    if (memory.one_sided().try_append(rank, offset, from, counter)) [[likely]] {
      sent += from.size();
      return;
    }
  }
  const Access access{site, rank, from.size()};
  if (memory.one_sided().stores_by_packets(from.size())) {
    store_by_packets(memory, {offset, from, counter}, access, sent);
  } else {
    store_much(memory, {offset, from, counter}, access, sent);
  }
}

void RemoteMemory::store_much(FarMemory& memory, const Put& put, const Access& access,
                              std::uint64_t& sent) {
  Port& port = *bundle_.router().port();
  wait_until(access, kRoom, [&] {
    const Port::Inside inside(port);
    return port.link().queue(access.rank) != link::Queue::kFull;
  });
  std::optional<std::uint64_t> word;
  bool released = false;
  {
    const Port::Inside inside(port);
    word = learned_->find(access.rank, put.offset, put.from.size(), put.word);
    if (!word) {
      const link::Count packet = OneSided::make_count(put.word, put.from.size());
      memory.transfers().start(access.rank, put.offset, put.from,
                               std::as_bytes(std::span(&packet, 1)), released);
      sent += put.from.size();
    }
  }
  if (word) return store_learned({put.offset, put.from, *word}, access, sent);
  bundle_.wait_until_released(released, access.reason(kEnd));
}

bool RemoteMemory::start_store(Rank rank, std::uint64_t offset, std::span<const std::byte> from,
                               std::uint64_t counter, std::uint32_t ticket, const CallSite& site,
                               std::uint64_t& sent) {
  FarMemory& memory = far(rank, "store");
  if (memory.one_sided().stores_by_packets(from.size())) {
    store(rank, offset, from, counter, site, sent);
    return false;
  }
  Port& port = *bundle_.router().port();
  wait_until({site, rank, from.size()}, kRoom, [&] {
    const Port::Inside inside(port);
    return port.link().queue(rank) != link::Queue::kFull;
  });
  StartedStores::Store& started = started_.take();
  {
    const Port::Inside inside(port);
    const link::Count packet = OneSided::make_count(counter, from.size());
    memory.transfers().start(rank, offset, from, std::as_bytes(std::span(&packet, 1)),
                             started.released);
    sent += from.size();
  }
  return started_.keep(started, ticket);
}

RemoteMemory::StartedStores::~StartedStores() {
  if (!stores_.empty()) bundle_.remove(*this);
}

RemoteMemory::StartedStores::Store& RemoteMemory::StartedStores::take() {
  stores_.reserve(pool_.in_use() + 1);
  Store& store = pool_.take([](Store&, std::uint32_t) {});
  store.released = false;
  return store;
}

bool RemoteMemory::StartedStores::keep(Store& store, std::uint32_t ticket) {
  if (is_released(store.released)) {
    pool_.give_back(store);
    return false;
  }
  store.ticket = ticket;
  if (stores_.empty()) bundle_.add(*this);
  stores_.push_back(&store);
  return true;
}

int RemoteMemory::StartedStores::poll() {
  int done = 0;
  std::erase_if(stores_, [&](Store* store) {
    if (!is_released(store->released)) return false;
    pool_.give_back(*store);
    done_(store->ticket);
    ++done;
    return true;
  });
  if (stores_.empty()) bundle_.remove(*this);
  return done;
}

bool RemoteMemory::StartedStores::has_work() noexcept {
  return std::ranges::any_of(stores_,
                             [](const Store* store) { return is_released(store->released); });
}

void RemoteMemory::store_learned(const Put& put, const Access& access, std::uint64_t& sent) {
  Port& port = *bundle_.router().port();
  Released released;
  released.done = [](link::Completion& done) { release(static_cast<Released&>(done).yes); };
  wait_until(access, kRoom, [&] {
    const Port::Inside inside(port);
    return port.link().try_access(
        link::RmaAccess::notify(access.rank, link::RemoteKey::in_segment(put.offset), put.from,
                                put.word),
        released);
  });
  sent += put.from.size();
  bundle_.wait_until_released(released.yes, access.reason(kEnd));
}

void RemoteMemory::set_more_to_come(bool yes) noexcept {
  const Port::Inside inside(*bundle_.router().port());
  bundle_.process().far_messages()->more_to_come(yes);
}

void RemoteMemory::count(std::uint64_t counter, std::uint64_t bytes) {
  // A progress thread may be counting others.
  const Port::Inside inside(*bundle_.router().port());
  if (!bundle_.process().far_memory()->one_sided().count(counter, bytes)) {
    throw Error("rank " + std::to_string(bundle_.router().rank()) +
                ": a store that is to be counted at offset " + std::to_string(counter) +
                ", where the segment has no counter; all programs of a job must be built from the "
                "same Splitphase");
  }
}

}  // namespace am
