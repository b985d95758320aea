#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "am/core/bundle.h"
#include "am/link/link.h"
#include "am/route/port.h"
#include "am/types/heap_side.h"
#include "am/zero_copy/grants.h"
#include "am/zero_copy/slots.h"
#include "am/zero_copy/wire.h"
#include "am/zero_copy/zero_copy.h"

namespace am::zero_copy {

// The memory of this process's buffers: where it is, what of it is registered with the network, and
// which processes have a key. The promises of ZeroCopyBuffer and ZeroCopy::alloc() are kept here;
// these report errors in their own names.
//
// Thread rule: the bundle's.
class Buffers {
 public:
  // Sends `control` to a process, now or later.
  using Notify = std::function<void(Rank to, const Control& control)>;

  // `pool` is what allocate() gives parts of. All outlive it.
  Buffers(Bundle& bundle, Slots& slots, std::span<std::byte> pool, Notify notify);

  std::span<std::byte> allocate(std::size_t bytes, Call call);
  void release(std::span<std::byte> block, Call call);
  void init(std::uint32_t slot, std::span<std::byte> memory, ZeroCopyCallback callback,
            ZeroCopyMode mode, Call call);
  void close(std::uint32_t slot) noexcept;
  void prepare(std::uint32_t slot);
  void unprepare(std::uint32_t slot, Call call);

  // Whether memory can be registered at all.
  bool rma() const noexcept { return port_ != nullptr && port_->link().can().rma; }
  // A key of the first `bytes` of `end`, for the other end of one transfer: good as long as `kept`,
  // and the buffer, are.
  link::RemoteKey lend_key(const End& end, std::size_t bytes,
                           std::shared_ptr<link::Registration>& kept);
  // Adds the key of a registered buffer to the message for `to`, which may use it until it is asked
  // for it. Adds nothing if that buffer has gone or is not registered.
  void grant(Rank to, const End& end, Control& control);
  // A process that was asked for a key has given it back.
  void returned(std::uint32_t slot, std::uint32_t generation) noexcept {
    lent_.returned(slot, generation);
  }

 private:
  void check_idle(const Slot& slot, Call call) const;
  link::RemoteKey key_of(const Slot& slot) const;
  void revoke(std::uint32_t slot) noexcept;
  // The block that has all of `range`; nothing: none has.
  std::optional<HeapSide::Block> block_of(std::span<const std::byte> range) const;

  // Constant after construction.
  Bundle& bundle_;
  Port* const port_;  // nullptr: there are no other nodes
  Slots& slots_;
  const std::span<std::byte> pool_;
  const Notify notify_;
  // Owned by the bundle's thread.
  HeapSide blocks_;  // of the pool
  std::shared_ptr<link::Registration> pool_registration_;
  LentKeys lent_;
};

}  // namespace am::zero_copy
