#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "am/core/bundle.h"
#include "am/core/parts.h"
#include "am/core/token.h"
#include "am/core/translation_table.h"
#include "am/core/untyped.h"
#include "am/message/handler.h"
#include "am/message/returned.h"
#include "am/message/stats.h"
#include "am/types/function.h"
#include "am/types/types.h"

namespace am {

class PreparedMedium;

// A communication end with its own name, tag, handler table, translation table and segment: AM-II's
// ep_t. Messages go to a translation index, never to a name.
//
//   am::Endpoint endpoint(bundle);
//   endpoint.add_handlers<&on_ping, &on_pong>();      // the same order in every process
//   endpoint.set_tag(7);
//   endpoint.map(0, name_of_the_other, 7);            // names travel by Job::exchange or any means
//   endpoint.request<&on_ping>(0, 41ull);
//
//   kind      arguments       payload             in flight    the receiver's handler gets
//   short     0 to 64 bytes   none                64, 1024     the arguments
//   medium    0 to 64 bytes   0 to 4096 bytes     16, 64       a span of library memory
//   long      0 to 64 bytes   any size            16           a span of its own segment
//
// Where all processes have one such endpoint, Job::connect(endpoint) sets its tag and maps it at
// index r for rank r. Others may be mapped at any time, by names that travel in messages or are
// Message::source_name().
//
// Flow control. Between two endpoints each kind has its own window of credits, as in the table: of
// short requests 64 on a node, 1024 to another one; of medium ones 16 and 64. A credit returns with
// the reply; those of one-way requests return several at a time. A request waits for a credit,
// polling; a try_request returns false.
//
// Delivery. Exactly once, or returned to the sender with the reason (on_returned()). No order is
// kept between messages.
//
// Thread rule: the bundle's, sequential or parallel. A handler reads from it what is const, no
// more, and a callback also uses the try_requests. What may wait throws Error there: in checked
// builds at every call, in release builds when it has to wait. Misuse throws Error with a sentence
// that names the line of the call, but for replies, whose handler the sentence leads to.
class Endpoint {
 public:
  static constexpr std::uint32_t kMaxTranslations = 1u << 24;
  struct Options {
    std::uint32_t translations = 256;  // size of the translation table: 1 to kMaxTranslations
    // Endpoints of this node that may be connected to this one at a time, at most 1024: Error if
    // more are asked for. 0: four for each process of the node, 16 at least and 1024 at most.
    std::uint32_t inboxes = 0;
  };

  // Makes an endpoint (AM_AllocateEndpoint) with the usual options, and a translation for every
  // process if there are more than 256. Its tag is kTagNone, its tables are empty, and its segment
  // is all of this process's.
  explicit Endpoint(Bundle& bundle, Here where = {});
  Endpoint(Bundle& bundle, const Options& options, Here where = {});
  // Does not wait, and gives back everything it had from others (AM_FreeEndpoint):
  //  * What it has sent is still handled; what cannot be handled is dropped.
  //  * Requests to it that it has not handled come back to their senders, and so do all later ones,
  //    as Status::kBadEndpoint; replies to it that it has not read come back to their senders. (Of
  //    a long message the payload may have been written already.)
  //  * Replies of its handlers are delivered.
  // Allowed inside a handler or callback of another endpoint. Ends the job with a sentence if a
  // handler of this one runs, or a call of it waits.
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  // --- Name and tag

  // The name by which others map this endpoint; constant.
  const Name& name() const noexcept { return parts_.name; }
  // The tag that messages to this endpoint must have (AM_GetTag).
  Tag tag() const noexcept { return parts_.admission.tag(); }
  // Changes the tag (AM_SetTag). From the next poll on: messages with another tag are returned, and
  // so are replies to requests that were made when the tag was another, unless this one admits that
  // (or it was kTagNone). Long messages that were admitted before, and may be written already, are
  // delivered. Throws Error while replies of other nodes
  // are to come to requests under 65,535 other tags (TagEpochs).
  void set_tag(Tag tag, Here where = {});

  // --- Translation table. Costs nothing until a request connects. Throw Error for an index that
  // the table does not have.

  // Binds `index` to the endpoint `name`, to which requests go with `tag` (AM_Map). Throws Error if
  // the index is in use. Whether the endpoint exists, and admits the tag, shows when a message is
  // sent.
  void map(To index, const Name& name, Tag tag);
  // Binds the lowest free index, which it returns (AM_MapAny). Throws Error if there is none.
  std::uint32_t map_any(const Name& name, Tag tag, Here where = {});
  // Unbinds an index (AM_Unmap; am/core/flush.cc). Waits, polling all bundles of the thread, until
  // everything that was sent there has been handled or has come back. Throws Error if it is not in
  // use. What a handler throws meanwhile comes out, and the index stays in use.
  void unmap(To index);
  bool mapped(std::uint32_t index) const noexcept;  // false for any other number, too
  Name translation_name(To index) const;            // throws Error if it is not in use
  Tag translation_tag(To index) const;              // likewise
  std::uint32_t translations() const noexcept;      // size of the table
  // Changes the size of the table, 1 to 2^24 (AM_SetNumTranslations). Throws Error if it would cut
  // off an index that is in use.
  void resize_translations(std::uint32_t count, Here where = {});

  // --- Handler table. A message names its handler by index, so all processes register the same
  // handlers at the same indices; what the sender calls must be in its own table.

  // Registers each function at the lowest free index, from 1 up (AM_SetHandlerAny). Throws Error if
  // all 255 are in use.
  template <auto... kFunctions>
  void add_handlers(Here where = {}) {
    static_assert((!detail::is_member<kFunctions> && ...),
                  "add_handlers<&C::f>(object) takes those");
    const Call call("Endpoint::add_handlers", where);
    (set_handler_at(0, {&Handler<kFunctions>::invoke, Handler<kFunctions>::shape}, false, call),
     ...);
  }
  template <class R, class... P>
  void add_handlers(R (*)(P...)) = delete;  // write add_handlers<&f>()
  // Registers member functions, which are called on `object`: it outlives the endpoint, or its
  // messages. An endpoint has one object for each function: Error if it is registered once more.
  // Costs the handler a load more.
  template <auto... kFunctions, class Object>
  void add_handlers(Object& object, Here where = {}) {
    (add_member_handler<kFunctions>(object, {"Endpoint::add_handlers", where}), ...);
  }
  // Registers a function at `index`, 1 to 255 (AM_SetHandler). Throws Error if the index is 0, or
  // in use unless `replace`.
  template <auto kFunction>
  void set_handler(HandlerIndex index, bool replace = false, Here where = {}) {
    static_assert(!detail::is_member<kFunction>, "add_handlers<&C::f>(object) takes those");
    const Call call("Endpoint::set_handler", where);
    check_user_index(index, call);
    set_handler_at(index, {&Handler<kFunction>::invoke, Handler<kFunction>::shape}, replace, call);
  }
  // The index of a handler that has been registered; Error if it has not.
  template <auto kFunction>
  HandlerIndex index_of(Here where = {}) {
    return index_of<kFunction>({"Endpoint::index_of", where});
  }
  // Registers a function that takes every message, as words (am/core/untyped.h), at `index`; 0: the
  // lowest free one. It is passed `context`, which is the caller's. Returns the index. Traces and
  // reports call it `named`, where one function serves many, as a binding's does; nullptr: itself.
  // Throws Error as set_handler().
  HandlerIndex set_untyped_handler(HandlerIndex index,
                                   void (*function)(UntypedMessage message, void* context),
                                   void* context = nullptr, bool replace = false,
                                   void (*named)() = nullptr, Here where = {});
  // Sets what is called, in poll(), for each message of this endpoint that could not be delivered:
  // AM-II's handler 0. The default prints the message and ends the job; an empty function restores
  // it. The function may send nothing.
  void on_returned(Function<void(const Returned&)> handler, Here where = {});

  // --- Segment: the bytes that long messages of others may address, by offset.

  // Sets it (AM_SetSeg): any bytes of this process, which stay the caller's and outlive the
  // endpoint or the next set_segment().
  // In the process's own segment (Router::segment()) others write a payload in place: a message
  // that was admitted before may still write to the former bytes, and is delivered. Elsewhere this
  // process copies each payload when it handles the message, which costs a copy more, and decides
  // by the bytes that are set then; so the former ones are free at once. An address of 0 and the
  // largest size open all memory, and offsets are addresses then: a wrong one is a crash here.
  void set_segment(std::span<std::byte> bytes, Here where = {});
  // What it is (AM_GetSeg).
  std::span<std::byte> segment() const noexcept;

  // --- Requests, to kFunction (am/message/handler.h) of the endpoint at translation `to`.
  // Arguments are copied and converted to kFunction's types. They wait for a credit, polling all
  // bundles of the thread; arguments and payload may be reused on return. Throw Error if kFunction
  // is not in this endpoint's table, if `to` is not mapped, and where they may not wait. Cost:
  // near, a cache line of the receiver's mailbox (short round trip: 125 to 165 ns), and a copy
  // of the payload; far, a packet, coalesced if others are in flight (7.7 us over TCP on one
  // machine).

  // A short request (AM_RequestM).
  template <auto kFunction, class... Args>
  [[gnu::always_inline]] void request(To to, const Args&... args) {
    static_assert(
        Handler<kFunction>::template check<Role::kRequest, Kind::kShort, std::decay_t<Args>...>());
    send<Kind::kShort, kFunction>(to.value, {"request", to.where}, 0, {}, args...);
  }
  // A medium request (AM_RequestIM). `payload` has 0 to max_medium() bytes; Error if more.
  template <auto kFunction, class... Args>
  [[gnu::always_inline]] void request_medium(To to, std::span<const std::byte> payload,
                                             const Args&... args) {
    static_assert(
        Handler<kFunction>::template check<Role::kRequest, Kind::kMedium, std::decay_t<Args>...>());
    send<Kind::kMedium, kFunction>(to.value, {"request_medium", to.where}, 0, payload, args...);
  }
  // A long request (AM_RequestXferM): writes `payload`, of any size, at `offset` bytes from the
  // start of the receiving endpoint's segment, before the handler runs. It is admitted first: what
  // does not fit there comes back, with nothing written. Near, the caller copies it in place; far,
  // above 4 KiB, it is an RMA write, and the call waits until the network has read the payload;
  // into a segment elsewhere it is copied into packets. What a handler throws during that wait
  // comes out when the payload is free, and the message has been sent all the same.
  template <auto kFunction, class... Args>
  [[gnu::always_inline]] void request_long(To to, std::uint64_t offset,
                                           std::span<const std::byte> payload,
                                           const Args&... args) {
    static_assert(
        Handler<kFunction>::template check<Role::kRequest, Kind::kLong, std::decay_t<Args>...>());
    if (parts_.is_far(to.value)) [[unlikely]]
      return request_long_far<kFunction>(to, offset, payload, args...);
    send<Kind::kLong, kFunction>(to.value, {"request_long", to.where}, offset, payload, args...);
  }

  // The three kinds of request without waiting (AM-II's Async): false, and nothing is sent, if
  // there is no credit or no room in the network now, or the connection is being made. They do not
  // poll: poll() before the next attempt. A far long payload above 4 KiB is copied to the heap.
  template <auto kFunction, class... Args>
  [[nodiscard, gnu::always_inline]] bool try_request(To to, const Args&... args) {
    static_assert(
        Handler<kFunction>::template check<Role::kRequest, Kind::kShort, std::decay_t<Args>...>());
    return try_send<Kind::kShort, kFunction>(to.value, {"try_request", to.where}, 0, {}, args...);
  }
  template <auto kFunction, class... Args>
  [[nodiscard, gnu::always_inline]] bool try_request_medium(To to,
                                                            std::span<const std::byte> payload,
                                                            const Args&... args) {
    static_assert(
        Handler<kFunction>::template check<Role::kRequest, Kind::kMedium, std::decay_t<Args>...>());
    return try_send<Kind::kMedium, kFunction>(to.value, {"try_request_medium", to.where}, 0,
                                              payload, args...);
  }
  template <auto kFunction, class... Args>
  [[nodiscard, gnu::always_inline]] bool try_request_long(To to, std::uint64_t offset,
                                                          std::span<const std::byte> payload,
                                                          const Args&... args) {
    static_assert(
        Handler<kFunction>::template check<Role::kRequest, Kind::kLong, std::decay_t<Args>...>());
    return try_send<Kind::kLong, kFunction>(to.value, {"try_request_long", to.where}, offset,
                                            payload, args...);
  }

  // Room for a medium payload that the program writes in place, and then commits: `least` to `most`
  // bytes, 0 to max_medium() (am/core/prepared.h, which says what is allowed meanwhile). The first
  // waits for a credit as request_medium() does, the second says std::nullopt where the others say
  // false. Throw Error like these, also while another one of this endpoint is prepared.
  [[nodiscard]] PreparedMedium prepare_medium(To to, std::size_t least, std::size_t most);
  [[nodiscard]] std::optional<PreparedMedium> try_prepare_medium(To to, std::size_t least,
                                                                 std::size_t most);

  // A request of any kind to whatever handler is at an index of the receiver: AM-II's untyped form.
  // Waits, and throws Error, as request() and its sisters; also at more than 16 words of arguments.
  void request_index(To to, const UntypedRequest& request);
  [[nodiscard]] bool try_request_index(To to, const UntypedRequest& request);
  // By bindings that have checked the request, of kind kKind (am/core/untyped_send.h): the same,
  // where it is sent at once. False: try_request_index(), which says why not or does it.
  template <Kind kKind>
  [[nodiscard]] bool try_direct_index(std::uint32_t to, const UntypedRequest& request);
  void request_index(To to, HandlerIndex handler, std::span<const std::uint32_t> args,
                     Role role = Role::kRequest) {
    request_index(to, {.handler = handler, .arguments = args, .role = role});
  }

  // Reads the segment of the endpoint at `to` without a handler there (AM_GetXferM): copies `bytes`
  // bytes from `source` bytes from its start to `offset` of this endpoint's own segment, and then
  // runs kFunction(am::Reply, std::span<std::byte>, args...) here. What reaches over the end of the
  // other segment comes back, as a long request would. Waits for a credit, of medium requests, and
  // throws Error, as request(); also if the bytes do not fit here. Costs a medium request and a
  // long reply.
  template <auto kFunction, class... Args>
  void get_long(To to, std::uint64_t source, std::uint64_t offset, std::uint64_t bytes,
                const Args&... args);
  // A get_long() whose end is whatever handler is at an index of this endpoint.
  void get_index(To to, const UntypedGet& get);
  [[nodiscard]] bool try_get_index(To to, const UntypedGet& get);

  // Waits until everything that this endpoint has sent has come to its end: each request was
  // handled there, or has come back and was passed to on_returned(), and each reply to one was
  // handled here. Polls all bundles of the thread. Messages that others send to this endpoint are
  // not waited for: that is Job::quiesce(). Throws Error in a handler or callback. Costs a message
  // and its answer for every translation with one-way requests in flight, and far, with any.
  void flush(Here where = {}) { flush({"Endpoint::flush", where}); }

  // Requests to `to` of one kind in flight: not answered yet, or, one-way, not reported as read.
  // What is read is reported several at a time; flush() asks for the rest.
  std::uint32_t in_flight(To to, Kind kind) const;

  Stats stats() const noexcept;                               // since it was made
  Bundle& bundle() const noexcept { return *parts_.bundle; }  // that it is in

  // By the library. The first is index_of() on behalf of `call`.
  template <auto kFunction>
  HandlerIndex index_of(Call call);
  EndpointParts& parts() noexcept { return parts_; }
  const EndpointParts& parts() const noexcept { return parts_; }

 protected:
  // Leaves the bundle: no handler runs from here on. The first step of the end, which a class
  // derived from this one takes before its own.
  void leave_bundle() { parts_.leave_bundle(); }

 private:
  HandlerIndex find_handler(Invoke invoke, Call call) const;  // Error: it is not there
  HandlerIndex set_handler_at(HandlerIndex index, const HandlerEntry& entry, bool replace,
                              Call call);
  void check_user_index(HandlerIndex index, Call call) const;
  template <auto kFunction, class Object>
  void add_member_handler(Object& object, Call call);

  // A request of any kind, as `call`, whose arguments that has checked, so that an error of the
  // compiler is short; the second waits for its credit. `payload` and `offset` as below.
  template <Kind kKind, auto kFunction, class... Args>
  bool try_send(std::uint32_t to, Call call, std::uint64_t offset,
                std::span<const std::byte> payload, const Args&... args);
  template <Kind kKind, auto kFunction, class... Args>
  void send(std::uint32_t to, Call call, std::uint64_t offset, std::span<const std::byte> payload,
            const Args&... args);
  // A request the long way (Outgoing::try_send). `payload` is that of a medium or long message, the
  // latter for `offset` there; a long one with `released` is not copied.
  template <class H, class... Args>
  bool try_far(std::uint32_t to, Call call, HandlerIndex index, std::span<const std::byte> payload,
               std::uint64_t offset, bool* released, Args... args);
  // request_long() to another node, by transfer from where the payload is.
  template <auto kFunction, class... Args>
  void request_long_far(To to, std::uint64_t offset, std::span<const std::byte> payload,
                        Args... args);
  void check(const UntypedRequest& request, Call call) const;
  void check(const UntypedGet& get, Call call) const;
  // A request that has been checked; the first as soon as there is a credit.
  void send_index(std::uint32_t to, Call call, const UntypedRequest& request);
  bool try_send_index(std::uint32_t to, Call call, const UntypedRequest& request);
  void flush(Call call);
  friend class Bundle;          // flush()
  friend class PreparedMedium;  // check(), send_index()

  EndpointParts parts_;
};

}  // namespace am

#include "am/core/prepared.h"
#include "am/core/request.h"
