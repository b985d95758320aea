// am/zero_copy: buffers that travel by reference. It uses am/core, as a poller and by an endpoint
// of its own, and the port's link. No call waits but the constructor of ZeroCopy, and wait(). No
// transfer starts from or to a buffer that has ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <utility>

#include "am/collective/exchange.h"
#include "am/core/bundle.h"
#include "am/message/handler.h"
#include "am/types/types.h"
#include "am/zero_copy/announcement.h"
#include "am/zero_copy/types.h"

// Zero-copy buffers: transfers directly from the source buffer to the destination buffer, without
// packing and, where there is a way, without an intermediate copy; as in Charm++'s Zerocopy Direct,
// Entry Method and Post APIs. docs/zero_copy.md has the rules, and the place of each of their
// calls.
//
//   am::ZeroCopy zero(job, bundle);                     // collective
//   am::ZeroCopyBuffer mine(zero, memory, [](const am::ZeroCopyDone& done) { ... });
//   endpoint.request<&on_offer>(other, mine.info());    // 40 plain bytes
//   mine.get(theirs);                                   // or mine.put(theirs), where an info() of
//                                                       // the other's buffer has arrived
//
//   the other end                         cost of a transfer
//   this process                          one memmove
//   near, memory of segment or alloc()    one copy by the initiator, and a short message
//   near, other memory                    up to 4 KiB one message; more, one copy by the kernel,
//                                         else fragments of 4 KiB in messages
//   far                                   up to 4 KiB one message; more, a request for it and one
//                                         RMA read or write (kReg, kPrereg: no request from the
//                                         second transfer on), else fragments in messages
//
// 1 MiB near: 0.95 to 1.08 of memcpy; far: 0.80 to 1.10 of fi_read and fi_write.

namespace am {

namespace zero_copy {
class Engine;
class Requests;
}  // namespace zero_copy
class ZeroCopyRequest;

// What the buffers of a process have in common. One or more per bundle. It is destroyed before the
// bundle, after its buffers, and when no other process uses them any more: after a barrier.
//
// Thread rule: the bundle's. No call waits but the constructor and wait(). Calls throw Error for
// what can be seen here; what another process finds wrong comes out of Bundle::poll() as Error.
class ZeroCopy {
 public:
  struct Options {
    std::size_t pool_bytes = std::size_t{64} << 20;  // for alloc(); only touched pages cost memory
  };

  // Collective: waits for all processes, without progress, as Job::connect() does. `job` is an
  // am::Job, and is used in this call only. Throws Error if there is no memory for the pool.
  ZeroCopy(Exchange& job, Bundle& bundle) : ZeroCopy(job, bundle, Options{}) {}
  ZeroCopy(Exchange& job, Bundle& bundle, const Options& options);
  explicit ZeroCopy(Owned<zero_copy::Engine> engine);  // for tests, without a job
  ~ZeroCopy();
  ZeroCopy(const ZeroCopy&) = delete;
  ZeroCopy& operator=(const ZeroCopy&) = delete;

  // Memory of the pre-registered pool (CkRdmaAlloc), which processes of this node map: `bytes`
  // bytes, at a multiple of 64 from its start, valid until free() and as long as this object. Any
  // part of a block can be a buffer. The first call registers the pool. Throws Error: no such room
  // left.
  std::span<std::byte> alloc(std::size_t bytes, Here where = {});
  // Gives back what alloc() returned (CkRdmaFree). Throws Error: no block begins there, or a buffer
  // still lies in it.
  void free(std::span<std::byte> block, Here where = {});

  // --- Requests whose payload is not copied

  // Registers functions that take requests, in the same order in every process, before any request
  // can arrive:
  //   void on_block(am::ZeroCopyRequest& request, arguments...);
  // They run as handlers do, in Bundle::poll(), and may not wait or poll.
  template <auto... kFunctions>
  void add_handlers() {
    (add_handler({&invoke<kFunctions>, Signature<kFunctions>::Packing::words}), ...);
  }

  // Runs kFunction(request, args...) at `to`, where it says into which memory the payload goes
  // (CkSendBuffer, nocopypost). `payload` stays, unchanged, until `done` runs here, with the number
  // of bytes that were taken: maybe fewer, 0 if no memory was given. At most 32 bytes of arguments.
  // Never waits. Throws Error: no such rank; kFunction is not registered here.
  template <auto kFunction, class... Args>
  void request_zero_copy(Rank to, std::span<const std::byte> payload, ZeroCopyCallback done,
                         const Args&... args) {
    request_zero_copy<kFunction>(std::span(&to, 1), std::span(&payload, 1), std::move(done),
                                 args...);
  }
  // Sends a buffer to many, each of which reads it from here. `done` runs once, when all have it,
  // with the least number of bytes that one of them took.
  template <auto kFunction, class... Args>
  void request_zero_copy(std::span<const Rank> to, std::span<const std::byte> payload,
                         ZeroCopyCallback done, const Args&... args) {
    request_zero_copy<kFunction>(to, std::span(&payload, 1), std::move(done), args...);
  }
  // The same with several payloads, such as the arrays that an entry method of Charm++ takes: at
  // most 128, of any sizes, anywhere. The handler runs once, and sees all of them; `done` runs
  // once, when all may be written again, with the sum of their bytes. Small ones come along while
  // there is room in one message, each of the others is a transfer. The list is copied, the
  // payloads are not. Throws Error as above, and at more than 128.
  //
  //   const std::span<const std::byte> both[] = {std::as_bytes(std::span(masses)),
  //                                              std::as_bytes(std::span(places))};
  //   zero.request_zero_copy<&on_particles>(to, both, done, step);
  using Payloads = std::span<const std::span<const std::byte>>;
  template <auto kFunction, class... Args>
  void request_zero_copy(Rank to, Payloads payloads, ZeroCopyCallback done, const Args&... args) {
    request_zero_copy<kFunction>(std::span(&to, 1), payloads, std::move(done), args...);
  }
  template <auto kFunction, class... Args>
  void request_zero_copy(std::span<const Rank> to, Payloads payloads, ZeroCopyCallback done,
                         const Args&... args) {
    using Packing = typename Signature<kFunction>::Packing;
    static_assert(Packing::words * packet::kWord <= zero_copy::Announcement::kArgumentBytes,
                  "too many bytes of arguments");
    zero_copy::Announcement announcement{};
    announcement.handler = index_of(&invoke<kFunction>);
    announcement.words = Packing::words;
    Packing::pack(announcement.arguments, args...);
    announce(to, payloads, std::move(done), announcement);
  }

  // For bindings of other languages: a function that takes requests with any arguments, 0 to 8
  // words of 4 bytes, and the number of it, in the order of all that are added. `context` is passed
  // to it. Throws Error at more than 255.
  using UntypedHandler = void (*)(ZeroCopyRequest&, std::span<const std::uint32_t> words,
                                  void* context);
  HandlerIndex add_untyped_handler(UntypedHandler function, void* context);
  // Requests likewise the handler with that number there, which takes any arguments.
  void request_untyped(std::span<const Rank> to, Payloads payloads, ZeroCopyCallback done,
                       HandlerIndex handler, std::span<const std::uint32_t> words);

  // The memory for the request whose handler calls match(tag), before or after it does
  // (CkPostBuffer). `memory` stays, and is left alone, until `done` runs, whose ZeroCopyDone says
  // `reference`. The tag is free again as soon as a request has matched. Throws Error: memory is
  // posted under this tag already.
  void post(std::uint64_t tag, std::span<std::byte> memory, ZeroCopyCallback done = {},
            std::uint64_t reference = 0, Here where = {});

  // Whether every transfer and request that was started here is complete here, callbacks included.
  bool idle() const noexcept;
  // Waits, polling, until idle(). Throws Error in a handler or callback.
  void wait(Here where = {});

  const ZeroCopyStats& stats() const noexcept;  // since it was made

 private:
  friend class ZeroCopyBuffer;
  friend class zero_copy::Requests;

  struct HandlerEntry {
    void (*invoke)(ZeroCopyRequest&, const std::byte*);  // nullptr: it is an untyped one
    std::uint32_t words;                                 // of an untyped one: any number
    UntypedHandler untyped = nullptr;
    void* context = nullptr;
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
  void announce(std::span<const Rank> to, Payloads payloads, ZeroCopyCallback done,
                const zero_copy::Announcement& announcement);

  Owned<zero_copy::Engine> engine_;
};

// Memory of this process that can be one end of transfers, again and again (CkNcpyBuffer). Which
// end it is, source or destination, each transfer says.
//
// Ownership. The memory is the user's. From get() or put() until the callback has run at that end
// it stays where it is; what is written is not read meanwhile, and what is read is not changed.
// That holds for both ends: to give an info() to a process that may use it is a promise.
//
// Completion. The callback of a source says that it may be written again, that of a destination
// that the bytes are there. Of a put, the first may be before the second.
//
// Order. None between transfers, nor between a transfer and a message.
//
// It can be moved; what has been moved from may only be destroyed or assigned to.
class ZeroCopyBuffer {
 public:
  // Makes one that is init()ed. Throws Error also if there are 2^20 buffers already.
  ZeroCopyBuffer(ZeroCopy& zero, std::span<std::byte> memory, ZeroCopyCallback callback = {},
                 ZeroCopyMode mode = ZeroCopyMode::kUnreg, Here where = {});
  // Makes every info() stale. Transfers in flight finish, so the memory stays until then; their
  // callbacks are not called at this end.
  ~ZeroCopyBuffer();
  ZeroCopyBuffer(ZeroCopyBuffer&& other) noexcept;
  ZeroCopyBuffer& operator=(ZeroCopyBuffer&& other) noexcept;

  // Other memory, callback and mode for the same object; every info() made before is stale from now
  // on. Throws Error if a transfer is in flight here, if the memory is kPrereg and not in one block
  // of alloc(), or if too much would be pinned. The buffer is then unchanged.
  void init(std::span<std::byte> memory, ZeroCopyCallback callback = {},
            ZeroCopyMode mode = ZeroCopyMode::kUnreg, Here where = {});

  // The number that callbacks at this end get for transfers started from here on, by which the
  // program distinguishes them (CkCallback::setRefNum).
  void set_reference(std::uint64_t reference);

  // What other processes name this buffer by: to be sent in any message.
  ZeroCopyInfo info() const;

  // Starts copying all of `source` to the beginning of this buffer, and returns; the rest of this
  // buffer is left alone. Never waits. Throws Error, with both sizes, if `source` is larger; also
  // if either end is kNoreg or deregistered, or `source` is stale. Where only its owner can see
  // that, on another node, the Error comes out of Bundle::poll(). When it throws, nothing has been
  // started.
  void get(const ZeroCopyInfo& source, Here where = {});
  // Starts copying all of this buffer to the beginning of `destination`; likewise.
  void put(const ZeroCopyInfo& destination, Here where = {});

  // Ends the registration that kReg and kPrereg have made, as pinned memory is limited. Until
  // register_memory() transfers are refused at both ends. Of kUnreg: register_memory() registers
  // the memory as kReg does, deregister_memory() ends that. The first throws Error if a transfer is
  // in flight here.
  void deregister_memory(Here where = {});
  void register_memory();
  bool registered() const;  // by these calls and the mode; whether there is a network or not

  std::span<std::byte> memory() const;
  ZeroCopyMode mode() const;
  // Transfers in flight that this process knows of: their callbacks have not run here yet.
  std::uint32_t under_way() const;

 private:
  zero_copy::Engine* engine_;
  std::uint32_t slot_;
};

// A request_zero_copy() that has arrived, valid while its handler runs. The handler gives the
// memory by receive(), or says by match() under which tag it is posted. If it does neither, the
// payload is dropped, and the sender's callback gets 0 bytes.
class ZeroCopyRequest {
 public:
  // Of one payload at least.
  ZeroCopyRequest(zero_copy::Requests& requests, std::span<const ZeroCopyInfo> sources,
                  std::span<const std::byte> along) noexcept
      : requests_(requests), sources_(sources), along_(along) {}
  ZeroCopyRequest(const ZeroCopyRequest&) = delete;
  ZeroCopyRequest& operator=(const ZeroCopyRequest&) = delete;

  Rank source() const noexcept { return sources_.front().rank; }     // the sender
  std::size_t bytes() const noexcept;                                // of all payloads together
  std::size_t payloads() const noexcept { return sources_.size(); }  // at least 1
  // Of payload `i`, below payloads().
  std::size_t bytes(std::size_t i) const { return sources_[i].bytes; }

  bool taken() const noexcept { return taken_; }  // by receive() or match()

  // The payload goes to the beginning of `memory`, as much as fits, which may be nothing. Several
  // are gathered there, one behind the other. `memory` stays, and is left alone, until `done` runs,
  // once, with the number of bytes of all.
  //
  // Throws Error at a second receive() or match(), which has no effect; and if memory at either end
  // cannot be reached, or no more can be pinned. Then such payloads are dropped and the others
  // arrive: the callbacks of both ends run as ever, and have the bytes of those.
  void receive(std::span<std::byte> memory, ZeroCopyCallback done = {}, std::uint64_t reference = 0,
               Here where = {});
  // Payload i goes to memory[i], likewise; those for which there is no memory are dropped. The list
  // is copied. The ZeroCopyDone of `done` names one of the memories, and has the bytes of all.
  void receive(std::span<const std::span<std::byte>> memory, ZeroCopyCallback done = {},
               std::uint64_t reference = 0, Here where = {});
  // The payload, or all, go to the memory that ZeroCopy::post() gives for `tag`, before or after
  // this call, as by receive(). Throws Error: a request waits under this tag already; and as
  // receive(), which then comes out of post() if that is the later one.
  void match(std::uint64_t tag, Here where = {});

 private:
  friend class zero_copy::Requests;

  void take(Call call);

  zero_copy::Requests& requests_;
  const std::span<const ZeroCopyInfo> sources_;  // while the handler runs
  const std::span<const std::byte> along_;       // payloads that have come with it
  bool taken_ = false;
};

}  // namespace am
