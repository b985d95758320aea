// am/zero_copy: buffers that travel by reference. It uses am/core, as a poller and by an endpoint
// of its own, and the port's link. No call waits but wait(), and memory is never touched after its
// buffer has ended.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include "am/core/bundle.h"
#include "am/collective/exchange.h"
#include "am/message/handler.h"
#include "am/types/source_location.h"
#include "am/zero_copy/types.h"
#include "am/zero_copy/wire.h"

// Zero-copy buffers: memory that moves between processes from where it is to where it shall be, as
// in Charm++'s Zerocopy Direct, Entry Method and Post APIs. docs/zero_copy.md has the rules.
//
//   am::ZeroCopy zero(job, bundle);                     // collective
//   am::ZeroCopyBuffer mine(zero, memory, [](const am::ZeroCopyDone& done) { ... });
//   endpoint.request<&on_offer>(other, mine.info());    // 40 plain bytes
//   mine.get(theirs);                                   // or mine.put(theirs), where an info() of
//                                                       // the other's buffer has come

namespace am {

namespace zero_copy {
class Engine;
}
class ZeroCopyRequest;

// What the buffers of a process have in common. One or more per bundle; it ends before the bundle,
// after its buffers, and when no other process uses them any more: make that sure by a barrier.
//
// Thread rule: the bundle's. No call waits but wait(). What goes wrong elsewhere leaves
// Bundle::poll() as Error.
class ZeroCopy {
 public:
  struct Options {
    std::size_t pool_bytes = std::size_t{64} << 20;  // for alloc(); only touched pages cost memory
  };

  // `job` is an am::Job. Collective, like Job::connect(). Throws Error if there is no memory for
  // the pool.
  ZeroCopy(Exchange& job, Bundle& bundle) : ZeroCopy(job, bundle, Options{}) {}
  ZeroCopy(Exchange& job, Bundle& bundle, const Options& options);
  explicit ZeroCopy(std::unique_ptr<zero_copy::Engine> engine);  // for tests, without a job
  ~ZeroCopy();
  ZeroCopy(const ZeroCopy&) = delete;
  ZeroCopy& operator=(const ZeroCopy&) = delete;

  // Memory of the pre-registered pool (CkRdmaAlloc), a multiple of 64 bytes from its start. Any
  // part of a block can be a buffer. Throws Error: no such room left.
  std::span<std::byte> alloc(std::size_t bytes);
  // Gives back what alloc() gave. Throws Error: no block begins there, or a buffer still lies in
  // it.
  void free(std::span<std::byte> block);

  // --- Requests whose payload is not copied

  // Makes functions known that take requests, in the same order in every process:
  //   void on_block(am::ZeroCopyRequest& request, arguments...);
  template <auto... kFunctions>
  void add_handlers() {
    (add_handler({&invoke<kFunctions>, Signature<kFunctions>::Packing::words}), ...);
  }

  // Runs kFunction(request, args...) at `to`, where it says into which memory the payload goes
  // (CkSendBuffer, nocopypost). `payload` stays as it is until `done` runs here, which tells how
  // much was taken: maybe less, nothing if no memory was given. At most 32 bytes of arguments.
  template <auto kFunction, class... Args>
  void request_zero_copy(Rank to, std::span<const std::byte> payload, ZeroCopyCallback done,
                         const Args&... args) {
    request_zero_copy<kFunction>(std::span(&to, 1), payload, std::move(done), args...);
  }
  // The same to many. `done` runs once, when all have it, and tells the least that anybody took.
  template <auto kFunction, class... Args>
  void request_zero_copy(std::span<const Rank> to, std::span<const std::byte> payload,
                         ZeroCopyCallback done, const Args&... args) {
    using Packing = typename Signature<kFunction>::Packing;
    static_assert(Packing::words * packet::kWord <= zero_copy::Announcement::kArgumentBytes,
                  "too many bytes of arguments");
    zero_copy::Announcement announcement{};
    announcement.handler = index_of(&invoke<kFunction>);
    announcement.words = Packing::words;
    Packing::pack(announcement.arguments, args...);
    announce(to, payload, std::move(done), announcement);
  }

  // The memory for the request whose handler says match(tag), before or after it does
  // (CkPostBuffer). `memory` is the library's until `done` runs. A tag is free again then. Throws
  // Error: memory is posted under this tag already.
  void post(std::uint64_t tag, std::span<std::byte> memory, ZeroCopyCallback done = {},
            std::uint64_t reference = 0);

  // Everything that was started here is through, here: callbacks included.
  bool idle() const noexcept;
  // Polls until idle().
  void wait(SourceLocation where = SourceLocation::current());

  const ZeroCopyStats& stats() const noexcept;

 private:
  friend class ZeroCopyBuffer;
  friend class zero_copy::Engine;

  struct HandlerEntry {
    void (*invoke)(ZeroCopyRequest&, const std::byte*);
    std::uint32_t words;
  };
  template <class F>
  struct Parameters;
  template <class... Args>
  struct Parameters<void (*)(ZeroCopyRequest&, Args...)> {
    using Packing = detail::Packing<std::tuple<std::remove_cvref_t<Args>...>>;
  };
  template <auto kFunction>
  using Signature = Parameters<decltype(kFunction)>;
  template <auto kFunction>
  static void invoke(ZeroCopyRequest& request, const std::byte* arguments) {
    Signature<kFunction>::Packing::Unpacker::apply(
        arguments, [&](const auto&... args) { kFunction(request, args...); });
  }

  void add_handler(const HandlerEntry& entry);
  HandlerIndex index_of(void (*invoke)(ZeroCopyRequest&, const std::byte*)) const;
  void announce(std::span<const Rank> to, std::span<const std::byte> payload, ZeroCopyCallback done,
                const zero_copy::Announcement& announcement);

  std::unique_ptr<zero_copy::Engine> engine_;
};

// Memory of this process that can be one end of transfers, again and again (CkNcpyBuffer). Which
// end it is, source or destination, each transfer says. The memory is the user's.
//
// Rules: what get() and put() write, and what they read, is left alone until the callback has run
// at that end. No order is kept between transfers, nor between a transfer and a message.
class ZeroCopyBuffer {
 public:
  ZeroCopyBuffer(ZeroCopy& zero, std::span<std::byte> memory, ZeroCopyCallback callback = {},
                 ZeroCopyMode mode = ZeroCopyMode::kUnreg);
  ~ZeroCopyBuffer();  // what is under way finishes, and no callback is called any more
  ZeroCopyBuffer(ZeroCopyBuffer&& other) noexcept;
  ZeroCopyBuffer& operator=(ZeroCopyBuffer&& other) noexcept;

  // Other memory, callback and mode for the same object; every info() made before is stale from now
  // on. Throws Error: a transfer is under way here; kPrereg and not in one block of alloc(); too
  // much would be pinned. The buffer is then what it was.
  void init(std::span<std::byte> memory, ZeroCopyCallback callback = {},
            ZeroCopyMode mode = ZeroCopyMode::kUnreg);

  // The number that tells from here on, at this end, which transfer is through.
  void set_reference(std::uint64_t reference);

  ZeroCopyInfo info() const;

  // Moves all of `source` to the beginning of this buffer. Throws Error, with both sizes, if it is
  // larger; also if either end is kNoreg, deregistered, or `source` is stale. Where only the owner
  // can tell, on another node, that Error leaves Bundle::poll().
  void get(const ZeroCopyInfo& source);
  // Moves all of this buffer to the beginning of `destination`; likewise.
  void put(const ZeroCopyInfo& destination);

  // Ends what kReg and kPrereg have prepared: pinned memory is a limited good. Until
  // register_memory() transfers are refused at both ends. kUnreg: register_memory() prepares the
  // memory as kReg does, deregister_memory() ends that. Throws Error: a transfer is under way here.
  void deregister_memory();
  void register_memory();
  bool registered() const;  // as the user sees it, with or without a network

  std::span<std::byte> memory() const;
  ZeroCopyMode mode() const;
  // Transfers that this process knows of whose callback has not run here yet.
  std::uint32_t under_way() const;

 private:
  zero_copy::Engine* engine_;
  std::uint32_t slot_;
};

// A request_zero_copy() that has come, valid while its handler runs. The handler gives the memory
// by receive(), or says by match() under which tag it is posted. If it does neither, the payload is
// dropped, and the sender told so.
class ZeroCopyRequest {
 public:
  ZeroCopyRequest(zero_copy::Engine& engine, const ZeroCopyInfo& source,
                  std::span<const std::byte> along) noexcept
      : engine_(engine), source_(source), along_(along) {}
  ZeroCopyRequest(const ZeroCopyRequest&) = delete;
  ZeroCopyRequest& operator=(const ZeroCopyRequest&) = delete;

  Rank source() const noexcept { return source_.rank; }
  std::size_t bytes() const noexcept { return source_.bytes; }  // of the payload

  // The payload goes to the beginning of `memory`, as much as fits. `memory` is the library's until
  // `done` runs, which tells how much that was. Throws Error at a second receive() or match().
  void receive(std::span<std::byte> memory, ZeroCopyCallback done = {},
               std::uint64_t reference = 0);
  // Where ZeroCopy::post() says for `tag`, which it may have done already. Throws Error: a request
  // waits under this tag already.
  void match(std::uint64_t tag);

 private:
  friend class zero_copy::Engine;

  void take(const char* call);

  zero_copy::Engine& engine_;
  const ZeroCopyInfo source_;
  const std::span<const std::byte> along_;  // all of the payload, if it is small
  bool taken_ = false;
};

}  // namespace am
