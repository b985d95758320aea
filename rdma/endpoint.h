#pragma once

#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "rdma/library.h"
#include "rdma/memory.h"
#include "rdma/open_fabric.h"

namespace rdma {

// What libfabric says of an operation that could not be completed.
struct Failure {
  Op* op = nullptr;  // nullptr: of no operation of ours that is in flight
  int code = 0;      // fi_errno
  std::string text;  // libfabric's words for it, and the provider's if they say more
};

// An endpoint that sends to any other one, with its address vector and completion queue: a reliable
// one, which also reads and writes registered memory (FI_EP_RDM), or, if the fabric was opened for
// datagrams, one that may lose what it sends (see datagram.h).
//
// The try_ calls return false when the provider has no room now: poll and ask again. They throw
// Error when the operation cannot be started at all.
//
// Thread rule: one thread at a time; drive() besides if the fabric was opened thread-safe.
class Endpoint {
 public:
  struct Options {
    std::size_t operations = 1024;  // most in flight at a time, posted receives included
    bool wait_fd = true;            // make wait_fd(), where the provider can
  };

  Endpoint(Fabric& fabric, const Options& options);
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  // What others need to reach this endpoint: the provider's format.
  std::vector<std::byte> address() const;
  // Makes the owner of `address` reachable. Nothing is sent yet.
  fi_addr_t insert(std::span<const std::byte> address);

  // Sends at most Fabric::inject_bytes(), which may be reused on return; nothing is reported.
  [[nodiscard]] bool try_inject(fi_addr_t to, std::span<const std::byte> message);
  [[nodiscard]] bool try_send(fi_addr_t to, std::span<const std::byte> message, void* descriptor,
                              Op& op);
  // Posts a receive for one message of at most room.size() bytes. A longer message is reported as
  // a failure (FI_ETRUNC), and its bytes are lost.
  [[nodiscard]] bool try_receive(std::span<std::byte> room, void* descriptor, Op& op);

  [[nodiscard]] bool try_read(fi_addr_t from, const RemoteKey& key, std::uint64_t offset,
                              std::span<std::byte> to, void* descriptor, Op& op);
  // Complete when the bytes are in the target's memory, if `delivered`, else when `from` may be
  // reused.
  [[nodiscard]] bool try_write(fi_addr_t to, const RemoteKey& key, std::uint64_t offset,
                               std::span<const std::byte> from, void* descriptor, bool delivered,
                               Op& op);

  // Writes to where `key` begins, and then reports `data` at the target as a completion with
  // FI_REMOTE_CQ_DATA.
  [[nodiscard]] bool try_put(fi_addr_t to, const RemoteKey& key, std::span<const std::byte> from,
                             void* descriptor, std::uint64_t data, Op& op);
  // A put of two ranges to two places, if Fabric::puts_in_parts(). The second is written last.
  struct Part {
    std::span<const std::byte> from;
    void* descriptor;
    RemoteKey to;
  };
  [[nodiscard]] bool try_put(fi_addr_t to, const std::array<Part, 2>& parts, std::uint64_t data,
                             Op& op);
  // A put of at most Fabric::inject_bytes(), which may be reused on return.
  [[nodiscard]] bool try_inject_put(fi_addr_t to, const RemoteKey& key,
                                    std::span<const std::byte> from, std::uint64_t data);

  // Completions that have come, at most events.size(); makes the provider progress. When the next
  // one is a failure: returns -1, and `failure` says which. Each is of an Op of ours that was in
  // flight (op_context), or is the arrival of a put (op_context is nullptr, `data` is its word).
  // What a completion is follows from what we have started and from what the provider says of its
  // own side: never from FI_REMOTE_CQ_DATA alone, which any sender can attach to any message.
  int poll(std::span<fi_cq_data_entry> events, Failure& failure);
  // Completions that were neither and have been dropped: strangers, in some providers, can cause
  // them.
  std::uint64_t dropped() const noexcept { return dropped_; }
  // Makes the provider progress and takes no completion. Any thread, if the fabric is thread-safe.
  void drive() noexcept;

  int wait_fd() const noexcept { return wait_fd_; }  // -1: none
  // Whether a sleep on wait_fd() would wake for what comes from now on; false: poll first.
  bool may_sleep() noexcept;

  fid_ep& fid() noexcept { return *endpoint_; }

  // Cancels all that is in flight, unreported: its memory may be freed now. Nothing else may be
  // called.
  void close() noexcept { endpoint_.reset(); }

 private:
  void open_queue(const Options& options, ProviderGuard& guard);
  std::size_t keep_ours(std::span<fi_cq_data_entry> events) noexcept;
  bool end(Op& op) noexcept;
  void nothing_came();

  Fabric& fabric_;
  const std::size_t most_sends_;  // Fabric::most_sends()
  std::size_t sends_ = 0;         // in flight; counted where there is a most
  std::uint64_t dropped_ = 0;
  const bool widens_;  // its provider needs wide receive windows (process.h)
  std::chrono::steady_clock::time_point next_widening_{};
  Fid<fid_cq> queue_;
  Fid<fid_av> addresses_;
  Fid<fid_ep> endpoint_;  // closed first
  int wait_fd_ = -1;
};

// Posted receives, one buffer each: as many messages as that may arrive before the next poll.
//
// Multi-receive buffers (FI_MULTI_RECV), which would need fewer calls, are not used: libfabric
// before 1.18.3, 1.19.1 and 1.20.0 reports such a buffer as finished when its last slice has been
// handed out, although an earlier slice of another sender may still be half received. Whoever posts
// it again then has data of two messages in one place. A receive a message costs less than 2 % of a
// round trip.
class Receives {
 public:
  // Posts `count` receives of `bytes` each, a multiple of 8. Throws Error when no more can be
  // registered.
  Receives(Fabric& fabric, Endpoint& endpoint, std::size_t count, std::size_t bytes);

  // Posts as many besides.
  void add(std::size_t count);
  std::size_t size() const noexcept { return slots_.size(); }

  // The message of `bytes` that was received with `op`. Valid until renew(op).
  static std::span<const std::byte> message(const Op& op, std::size_t bytes) noexcept {
    const std::span<const std::byte> buffer = slot_of(op).buffer;
    return buffer.first(std::min(bytes, buffer.size()));
  }
  // Posts the receive of `op` again, now or at the next retry(): its message has been read, or the
  // receive has failed.
  void renew(const Op& op);
  // Posts what the provider had no room for.
  void retry();

 private:
  struct Slot {
    Slot(std::span<std::byte> buffer, void* descriptor) noexcept
        : buffer(buffer), descriptor(descriptor) {}
    Op op{Op::Kind::kReceive};
    const std::span<std::byte> buffer;
    void* const descriptor;
  };
  static Slot& slot_of(const Op& op) noexcept {
    return reinterpret_cast<Slot&>(const_cast<Op&>(op));  // its first member
  }

  Fabric& fabric_;
  Endpoint& endpoint_;
  const std::size_t bytes_;
  std::deque<Buffers> buffers_;
  std::deque<Slot> slots_;
  std::vector<Slot*> refused_;  // not posted yet
};

}  // namespace rdma
