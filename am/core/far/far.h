#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>

#include "am/core/endpoint.h"
#include "am/core/far/messages.h"
#include "am/core/far/peers.h"
#include "am/link/link.h"
#include "am/message/tag_epochs.h"
#include "am/observe/event.h"
#include "am/table/sparse_table.h"
#include "am/types/object_pool.h"

namespace am {

// The part of an endpoint that sends to and receives from endpoints of other nodes.
//
// A translation introduces itself to the other endpoint before its first request (kHello), so that
// the other knows its tag and can answer; the answer says which long messages the other admits. A
// request is in flight until its answer has come, a one-way request until the other has reported it
// as read; answers need no room at the other end, as the requester has set it aside.
//
// A long payload that does not fit its packet is written before it or with it, so its sender
// decides whether it is admitted (am/message/admission.h), by what the other has announced. What it
// knows may be old. Where it says yes, the message is delivered: it was admitted when that was
// announced. Where it says no, the sender asks once more, and refuses by the answer.
//
// In a job that goes on without its dead, requests are kept until their ends have come, and all
// packets of a translation keep their order: payloads travel in fragments, which the receiver
// copies.
//
// An endpoint that ends notifies the endpoints that send to it (kGone) and those it sends to
// (kGoodbye). Its process answers later messages by returning them, so no sender waits for it.
//
// Thread rule: the bundle's; a parallel one is locked, but for place_reply(). While a handler runs,
// others come in: what it needs of its sender stays, as no other thread handles messages of that
// sender meanwhile (begin_turn()).
//
// Where its functions are: in far.cc what begins and ends, flush() and close() in am/core/flush.cc,
// the rest as its private part says.
class FarEndpoint {
 public:
  // Requests of each kind in flight on a translation. Of short and medium ones more than on a node:
  // a round trip takes a hundred times as long, and many share a frame and a system call. (One-way
  // requests of 1 KiB over TCP: with a window of 16 each took 1.3 us, with 64 it is 0.8.) On a
  // node they are shmem::kWindow; tests expect what is documented (tests/support/window.h).
  static constexpr std::uint32_t kWindow[kKinds] = {1024, 64, 16};
  // The receiver reports one-way requests as read after so many. Each number fits its bits of
  // link::pack_credits() (6, 5, 5), and divides its window, or the last ones would not be reported.
  static constexpr std::uint32_t kReported[kKinds] = {32, 16, 4};
  static_assert(kWindow[0] % kReported[0] == 0 && kReported[0] < 64);
  static_assert(kWindow[1] % kReported[1] == 0 && kReported[1] < 32);
  static_assert(kWindow[2] % kReported[2] == 0 && kReported[2] < 32);

  FarEndpoint(EndpointParts& parts, FarMessages& messages);
  ~FarEndpoint();

  // The translation table has another size; what is cut off is not in use.
  void resize(std::uint32_t translations) { receivers_.resize(translations); }
  // False: no credit, no room in the link's queue, or, of a long one that no packet holds, it is
  // not known yet whether it is admitted. Then poll and try again. `released`, of a long message:
  // the payload may be used after return, until this is set; nullptr: it is copied.
  [[nodiscard]] bool try_send(std::uint32_t to, const UntypedRequest& request, bool* released);
  // Room for the payload of a medium request, up to `most` bytes, in the frame that it leaves in.
  // std::nullopt: as false above. nullptr: it cannot be written there. Else this thread is inside
  // the port until drop_prepared(), with or without send_prepared() before, whose payload is that.
  // False: something else was sent meanwhile, and this was not.
  [[nodiscard]] std::optional<std::byte*> try_prepare(std::uint32_t to, std::size_t most);
  [[nodiscard]] bool send_prepared(std::uint32_t to, const UntypedRequest& request);
  void drop_prepared() noexcept;
  std::uint32_t in_flight(std::uint32_t to, Kind kind) const noexcept;
  // For a traced endpoint: the flow of the request that was just sent to `to`. Call it once for
  // each.
  TraceFlow sent_flow(std::uint32_t to, const UntypedRequest& request) noexcept;
  // Waits until everything that was sent has been handled, or has come back.
  void flush(const Reason& reason);
  // Flushes translation `to`, which then says good-bye.
  void close(std::uint32_t to, Call call);
  // The endpoint's tag will be another: false if it cannot be. And once it is:
  [[nodiscard]] bool change_tag(Tag tag) { return epochs_.change(tag); }
  void tag_changed();
  // What the endpoint admits is another: its segment, or a handler of long messages.
  void announce();
  // Processes have died: drops what was of them here. Then return_unreachable() finds something.
  void bury_dead();
  // Gives requests that went to the dead back to this endpoint; how many.
  int return_unreachable();
  // Whether there may be such requests.
  bool has_unreachable() const noexcept { return unreachable_; }
  // The payload of a long reply that is being made, from its handler. `released`: as of
  // try_send().
  static void place_reply(const Delivery& delivery, const LongRequest& message,
                          std::span<const std::byte> payload, bool* released);

  // A message has come from a process of another node. False: it is damaged. (In deliver.cc,
  // for both kinds of Access.)
  template <class Access>
  [[nodiscard]] bool deliver(Rank from, const link::MessagePacket& message);
  // Answers a message for an endpoint that does not exist (any more).
  static void refuse_unknown(link::Link& link, Rank from, const link::MessagePacket& message);

  // For a parallel bundle. From begin_turn() until end_turn() of what that returns, only its thread
  // handles messages of the translation of `message`; other threads skip these, which keeps them in
  // order.
  bool* begin_turn(Rank from, const link::MessagePacket& message) noexcept;
  void end_turn(bool* mark) noexcept;
  bool in_turn(Rank from, const link::MessagePacket& message) noexcept;

 private:
  using Answering = far::Answering;
  using Body = far::Body;
  using Fragments = far::Fragments;
  using LongReply = far::LongReply;
  using Receiver = far::Receiver;
  using Sender = far::Sender;
  // For the time of a message. In a sequential bundle it is always the same one.
  template <class Access>
  Answering& take_answering() {
    return Access::kAlone ? *own_answering_ : answerings_.take([](auto&, auto) {});
  }
  template <class Access>
  void give_back_answering(Answering& answering) noexcept {
    if constexpr (!Access::kAlone) answerings_.give_back(answering);
  }

  // Names a translation of another endpoint.
  struct Key {
    bool operator==(const Key&) const = default;

    Rank rank;
    std::uint32_t serial;
    std::uint32_t index;
  };
  struct HashOfKey {
    std::size_t operator()(const Key& key) const noexcept {
      const std::uint64_t some = std::uint64_t{key.serial} << 32 | key.rank;
      return (some ^ std::uint64_t{key.index} << 24) * 0x9e3779b97f4a7c15u >> 16;
    }
  };
  // That of translation `to`. At its first use it is made here, and kHello is sent.
  Receiver& receiver(std::uint32_t to);
  Receiver* find_receiver(Rank from, const link::MessagePacket& message) noexcept;
  Sender* find_sender(Rank from, const link::MessagePacket& message) noexcept;
  bool try_flush(Receiver& out, std::uint32_t index);
  void send_flush(Receiver& out, std::uint32_t index);

  // After a death (introductions.cc).
  bool is_dead(Rank rank) const noexcept;
  bool survives() const noexcept;
  Receiver* unreachable(std::uint32_t index) const noexcept;
  int return_all(std::uint32_t index);
  bool return_oldest(std::uint32_t index, Kind kind, Role role, int& count);
  void return_with_next_poll() noexcept;

  // Sending (send.cc).
  link::MessagePacket head_to(const Receiver& to, std::uint32_t index,
                              link::Type type) const noexcept;
  link::MessagePacket head_to(const Sender& to, link::Type type) const noexcept;
  link::MessagePacket head_to(std::uint32_t serial, std::uint32_t index,
                              link::Type type) const noexcept;
  bool send_long(Receiver& to, std::uint32_t index, link::MessagePacket head,
                 const UntypedRequest& request, bool* released);
  bool send_together(const Receiver& to, link::MessagePacket head, const UntypedRequest& request,
                     bool* released);
  bool send_together(const Sender& to, const link::MessagePacket& head,
                     std::span<const std::byte> arguments, const link::Place& place,
                     const std::byte* payload);
  void sent(Receiver& to, const link::MessagePacket& head, const UntypedRequest& request);
  void count_sent(Receiver& to, const link::MessagePacket& head, const UntypedRequest& request);
  void keep(Receiver& to, link::MessagePacket head, const UntypedRequest& request);
  std::optional<Verdict> judge(Receiver& to, std::uint32_t index, const LongRequest& message);
  void send_reply(Sender& to, Kind request, shmem::Mark reply, Answering& answering);
  void send_long_reply(Sender& to, link::MessagePacket head, std::span<const std::byte> arguments,
                       LongReply& reply, const std::byte* payload);
  // `payload` in packets of its own, before the message `head`.
  void send_fragments(Rank to, link::MessagePacket head, Role role,
                      std::span<const std::byte> payload);
  void introduce(Rank to, link::MessagePacket head, std::uint8_t detail, Tag tag = kTagNone);
  void introduce(const Receiver& to, std::uint32_t index, std::uint8_t detail);
  void introduce(const Sender& to, std::uint8_t detail);
  void send_credits(Sender& to, bool flushed = false);
  std::uint16_t take_credits(Sender& to) noexcept;

  // Receiving (deliver.cc).
  template <class Access>
  bool deliver_to_receiver(Rank from, const link::MessagePacket& message);
  template <class Access>
  bool deliver_to_requester(Rank from, const link::MessagePacket& message);
  template <class Access>
  bool deliver_request(Sender& from, const link::MessagePacket& message, Role role);
  template <class Access>
  bool deliver_reply(Receiver& from, const link::MessagePacket& message);
  bool deliver_returned(Rank from, const link::MessagePacket& message);
  bool deliver_fragment(Rank from, const link::MessagePacket& message);
  template <class Access>
  Status try_deliver(Delivery& delivery, const link::MessagePacket& message, const Body& body,
                     Role role, bool tag_admits, Fragments& fragments);
  Status place_payload(const link::MessagePacket& message, const Body& body, Fragments& fragments,
                       std::span<std::byte>& payload);
  static void send_back(link::Link& link, Rank to, const link::MessagePacket& message, Status why);
  // A request of kind `request` has been answered. Whether its reply may be delivered.
  bool answered(Receiver& from, Kind request, TagEpochs::Epoch epoch);
  void credit(Receiver& to, const link::MessagePacket& message) noexcept;
  void pass_returned(Rank from, const link::MessagePacket& message, const Body& body,
                     Status status);

  // What is heard of those it talks to: that they begin, change and end (introductions.cc).
  bool deliver_hello(Rank from, const link::MessagePacket& message);
  bool deliver_extent(Rank from, const link::MessagePacket& message);
  bool deliver_goodbye(Rank from, const link::MessagePacket& message);
  bool deliver_gone(Rank from, const link::MessagePacket& message);
  static void note_gone(Receiver& to);

  // What is traced (am/core/traced.cc): the flow of the next message of that kind.
  TraceFlow received_flow(Sender& from, const Body& body) noexcept;
  TraceFlow replied_flow(Sender& to, const Delivery& delivery, const Answering& answering) noexcept;
  TraceFlow answered_flow(Receiver& from, std::uint32_t index, const Body& body) noexcept;

  // Among threads.
  bool* turn_of(Rank from, const link::MessagePacket& message) noexcept;

  EndpointParts& parts_;
  FarMessages& messages_;
  Port& port_;
  // Owned by the bundle's thread, or guarded by its lock.
  TagEpochs epochs_;
  std::map<std::uint32_t, std::unique_ptr<Receiver>> all_receivers_;  // by translation index
  SparseTable<Receiver*> receivers_;  // the same, to look one up; nullptr: it was never used
  std::unordered_map<Key, std::unique_ptr<Sender>, HashOfKey> senders_;
  Key last_key_{};                 // the one found last: many come in a row
  Sender* last_sender_ = nullptr;  // nullptr: none
  bool unreachable_ = false;       // there may be requests to the dead
  struct {
    std::byte* packet = nullptr;
    std::uint32_t bytes = 0;
    std::uint64_t sent = 0;  // sends of the link, before
  } prepared_;               // where try_prepare() has found room
  int turns_ = 0;            // that have begun and not ended
  const std::unique_ptr<Answering> own_answering_ = std::make_unique<Answering>();
  ObjectPool<Answering> answerings_;  // of several threads
};

}  // namespace am
