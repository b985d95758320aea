#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "am/core/endpoint.h"
#include "am/core/far/remote_memory.h"
#include "am/types/object_pool.h"
#include "am/types/types.h"

namespace am {

class Bundle;
class OneSided;
class Router;

// Get, put and store as Split-C was first built on Active Messages: each piece of at most
// max_medium() bytes is a request to a handler at the target, which replies. To compare with: what
// RemoteMemory does instead needs no handlers, and no answers to stores.
//
// An access outside the segment is an Error of its target, in poll(), and is never complete. Each
// call waits, polling, for credit.
//
// Thread rule: the bundle's.
class PlainRequests final : public RemoteMemory {
 public:
  // Registers handlers at `endpoint`, whose index r is rank r: every process does so at the same
  // point among its handlers. In jobs with far processes.
  PlainRequests(Endpoint& endpoint, Bundle& bundle, Done done);

  // What a put reads may be reused on return.
  void start(const link::RmaAccess& access, std::uint32_t ticket, const Call& call) override;
  void store(Rank rank, std::uint64_t offset, std::span<const std::byte> from,
             std::uint64_t counter, const Call& call, std::uint64_t& sent) override;

 protected:
  bool by_requests() const noexcept override { return true; }

 private:
  struct Operation {
    std::span<std::byte> to;  // of a get
    std::uint64_t left = 0;   // bytes that have not been answered
    std::uint32_t ticket = 0;
    std::uint32_t number = 0;
  };

  Operation& take(std::uint64_t bytes, std::uint32_t ticket);
  void account(std::uint32_t number, std::uint64_t bytes);
  std::byte* target(std::uint64_t offset, std::uint64_t bytes) const;

  // The handlers, at the target and at the requester.
  void on_get(Request message, std::uint64_t offset, std::uint32_t number, std::uint32_t bytes,
              std::uint64_t at);
  void on_got(Reply message, std::span<const std::byte> payload, std::uint32_t number,
              std::uint64_t at);
  void on_put(Request message, std::span<const std::byte> payload, std::uint64_t offset,
              std::uint32_t number);
  void on_done(Reply message, std::uint32_t number, std::uint32_t bytes);
  void on_store(Request message, std::span<const std::byte> payload, std::uint64_t offset,
                std::uint64_t counter);
  void on_stored(Reply message);

  // Constant after construction.
  Endpoint& endpoint_;
  Router& router_;
  OneSided& memory_;
  // Owned by the bundle's thread.
  ObjectPool<Operation> operations_;
};

}  // namespace am
