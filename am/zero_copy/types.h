#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "am/types/function.h"
#include "am/types/types.h"

// The plain types of zero-copy transfers; see am/zero_copy/zero_copy.h. Of all of them copies may
// be made, and read by any thread.

namespace am {

// When the memory of a buffer is registered with the network (Charm++'s CK_BUFFER_*). On one node,
// and where the network has no RMA, all but the last do the same.
enum class ZeroCopyMode : std::uint8_t {
  kUnreg,   // for each transfer that needs it: the memory may be freed and mapped again in between
  kReg,     // from init() on, until deregister_memory(), init() or the end of the buffer
  kPrereg,  // it is already: memory of ZeroCopy::alloc()
  kNoreg,   // never: the buffer has an info() only, and a transfer is an Error
};

// Names a buffer of some process: ZeroCopyBuffer::info(). 40 plain bytes, which fit the arguments
// of one message, for processes of the job that made their ZeroCopy together. Valid until that
// buffer is initialised anew or has ended; later use is an Error. Registering and deregistering
// leave it valid.
struct ZeroCopyInfo {
  Rank rank = 0;
  std::uint32_t slot = 0;        // which buffer of that process
  std::uint32_t generation = 0;  // which of those that were there, one after the other
  ZeroCopyMode mode = ZeroCopyMode::kNoreg;
  std::uint8_t unused[3] = {};
  std::uint64_t address = 0;  // in that process
  std::uint64_t bytes = 0;
  std::uint64_t reference = 0;  // as set_reference() said when the info was made

  // Whether both name the same buffer, in the same state, with the same reference number.
  bool operator==(const ZeroCopyInfo&) const = default;
};
static_assert(std::is_trivially_copyable_v<ZeroCopyInfo> && sizeof(ZeroCopyInfo) == 40);

// One end of a transfer that is complete at this end.
struct ZeroCopyDone {
  ZeroCopyInfo buffer;    // this process's; its reference number is that of the start
  std::size_t bytes = 0;  // that were moved; the rest of a larger destination is untouched
  Rank peer = 0;          // the other end; of a broadcast: the last one that has it
  bool source = false;    // this end was read and may be written again; else it was written
  // What was moved, here: the first `bytes` bytes of the buffer, which is of this process. Valid as
  // long as the program leaves the memory where it is. Of several payloads in memories of their
  // own, whose bytes are added: what is in that buffer, at most all of it.
  std::span<std::byte> data() const noexcept {
    return {reinterpret_cast<std::byte*>(buffer.address),
            std::min<std::size_t>(bytes, buffer.bytes)};
  }
};

// Called once per transfer at each end, inside Bundle::poll() and outside handlers, never inside
// the call that started the transfer. Like a handler it may not wait or poll; it may start
// transfers, initialise and end buffers, and send by Endpoint::try_request(). What it throws comes
// out of poll(). An empty one is ignored.
using ZeroCopyCallback = Function<void(const ZeroCopyDone&)>;

// How many transfers this process has moved, by route. Each is counted by the one process that
// moves it: the one that reads, writes or sends the bytes.
struct ZeroCopyStats {
  std::uint64_t mapped = 0;        // copied once, in memory that both ends map, or in one process
  std::uint64_t cross_memory = 0;  // copied once, by the kernel
  std::uint64_t rma = 0;           // by the network
  std::uint64_t rma_alone = 0;     // of these, without a message before: the key was known
  std::uint64_t messages = 0;      // in fragments, by messages
};

}  // namespace am
