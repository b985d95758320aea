#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "am/bundle.h"
#include "am/handler.h"
#include "am/segment.h"
#include "am/stats.h"
#include "am/token.h"
#include "shmem/mailbox.h"

namespace am {

// Who sends into one of our inboxes.
struct Correspondent {
  Name name{};
  Tag tag = kTagNone;                       // with which it mapped us
  bool admitted = false;                    // its tag is ours
  const PublishedExtent* extent = nullptr;  // its endpoint's segment, live
  std::byte* segment = nullptr;             // its process's segment, mapped here
};

// A communication end with its own name, tag, handler table, translation table and segment
// (Active Messages II ep_t). Messages go to a translation index, never to a name.
//
//   am::Endpoint endpoint(bundle);
//   endpoint.add_handlers<&on_ping, &on_pong>();      // the same order in every process
//   endpoint.set_tag(7);
//   endpoint.map(0, name_of_the_other, 7);            // names travel by Job::exchange or any means
//   endpoint.request<&on_ping>(0, 41ull);
//
// Between two endpoints each kind has its own credits (64 short, 16 medium, 16 long requests in
// flight). A request waits for one, polling meanwhile; a try_request says false instead. No order
// is kept between messages, and each is delivered exactly once or returned.
//
// Thread rule: the bundle's. Misuse throws am::Error with a sentence.
class Endpoint {
 public:
  struct Options {
    std::uint32_t translations = 256;  // size of the translation table
    std::uint32_t inboxes = 0;  // endpoints that may map this one; 0: four a process, 16 or more
  };

  // With the usual options, and a translation for every process if there are more than 256.
  explicit Endpoint(Bundle& bundle)
      : Endpoint(bundle, {.translations = std::max(256u, bundle.router().size())}) {}
  Endpoint(Bundle& bundle, const Options& options);
  ~Endpoint();  // drops what is unsent; make sure that nobody needs it, for instance by a barrier
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  // --- Name and tag
  const Name& name() const noexcept { return name_; }
  Tag tag() const noexcept { return tag_; }
  void set_tag(Tag tag) noexcept;  // from the next poll on; mismatches are returned to the sender

  // --- Translation table
  void map(std::uint32_t index, const Name& name, Tag tag);  // throws if the index is in use
  std::uint32_t map_any(const Name& name, Tag tag);          // the lowest free index
  void unmap(std::uint32_t index);  // waits until everything sent there has been handled
  bool mapped(std::uint32_t index) const noexcept;
  const Name& translation_name(std::uint32_t index) const;
  Tag translation_tag(std::uint32_t index) const;
  std::uint32_t translations() const noexcept;

  // --- Handler table
  // Each function at the lowest free index, from 1 up. All processes must agree on the indices.
  template <auto... kFunctions>
  void add_handlers() {
    (set_handler_at(0, {&Handler<kFunctions>::invoke, Handler<kFunctions>::shape}, false), ...);
  }
  // At `index` 1 to 255; throws if it is in use, unless `replace`.
  template <auto kFunction>
  void set_handler(HandlerIndex index, bool replace = false) {
    check_user_index(index);
    set_handler_at(index, {&Handler<kFunction>::invoke, Handler<kFunction>::shape}, replace);
  }
  // Called for own messages that could not be delivered, instead of the default: print everything
  // and end the job. It may send nothing. An empty function restores the default.
  void on_returned(std::function<void(const Returned&)> handler);

  // --- Segment: the bytes that Long messages of others may address, by offset. At first the whole
  // segment of this process. Throws if it is not part of that.
  void set_segment(std::span<std::byte> bytes);
  std::span<std::byte> segment() const noexcept;

  // --- Requests. kFunction's parameters decide whether a reply may come back (am/handler.h).
  // Waits for a credit, polling meanwhile; the payload may be reused on return.
  template <auto kFunction, class... Args>
  void request(std::uint32_t to, const Args&... args);
  template <auto kFunction, class... Args>
  void request_medium(std::uint32_t to, std::span<const std::byte> payload, const Args&... args);
  // `offset` is in the receiver's segment.
  template <auto kFunction, class... Args>
  void request_long(std::uint32_t to, std::uint64_t offset, std::span<const std::byte> payload,
                    const Args&... args);

  // The same without waiting: false if there is no credit now. They do not poll.
  template <auto kFunction, class... Args>
  [[nodiscard]] bool try_request(std::uint32_t to, const Args&... args);
  template <auto kFunction, class... Args>
  [[nodiscard]] bool try_request_medium(std::uint32_t to, std::span<const std::byte> payload,
                                        const Args&... args);
  template <auto kFunction, class... Args>
  [[nodiscard]] bool try_request_long(std::uint32_t to, std::uint64_t offset,
                                      std::span<const std::byte> payload, const Args&... args);

  // A short request to whatever handler has `handler` over there, for programs whose processes run
  // different binaries (AM-II's untyped form). `role` says whether a reply is expected.
  void request_index(std::uint32_t to, HandlerIndex handler, std::span<const std::uint32_t> args,
                     Role role = Role::kRequest);

  // Requests to `to` of one kind that have not been answered, or reported as read, yet.
  std::uint32_t in_flight(std::uint32_t to, Kind kind) const;

  const Stats& stats() const noexcept { return stats_; }
  Bundle& bundle() const noexcept { return *bundle_; }

 private:
  friend class Bundle;
  friend class Port;
  friend class Request;
  class Far;  // what is of other nodes (am/far.h)
  class Dispatch;
  class ReplyDispatch;

  // The way to an endpoint of this node, made at the first request.
  struct Near {
    std::unique_ptr<shmem::Outbox> box;
    Correspondent peer;  // as the source of its replies
  };
  struct Translation {
    bool used = false;
    Name name{};
    Tag tag = kTagNone;
    std::unique_ptr<Near> near;
  };
  struct Bounce;  // a message of another on its way back to it (am/bounce.h)

  int poll();
  bool has_message() noexcept;  // whether poll() has something to do

  template <auto kFunction>
  HandlerIndex index_of();
  HandlerIndex find_handler(const HandlerEntry& entry) const;
  void set_handler_at(HandlerIndex index, const HandlerEntry& entry, bool replace);
  void check_user_index(HandlerIndex index) const;

  // The way to `to`, or nullptr if it is on another node; connects at the first use. Throws if `to`
  // is not mapped.
  shmem::Outbox* outbox(std::uint32_t to, const char* call) {
    if (to < boxes_.size() && boxes_[to] != nullptr) [[likely]]
      return boxes_[to];
    return connect(to, call);
  }
  shmem::Outbox* connect(std::uint32_t to, const char* call);
  std::unique_ptr<shmem::Outbox> open_outbox(const Name& name, Tag tag);
  const Translation& translation(std::uint32_t index, const char* call) const;

  template <Kind kKind>
  void send(std::uint32_t to, const shmem::Room& room, shmem::Mark mark, Role role);
  // A request to another node. `payload` is that of a medium or long message, the latter for
  // `offset` there; a long one with `released` is not copied, see Far::Parcel.
  template <class H, class... Args>
  bool try_far(std::uint32_t to, HandlerIndex index, std::span<const std::byte> payload,
               std::uint64_t offset, bool* released, const Args&... args);
  bool send_far(std::uint32_t to, Shape shape, HandlerIndex handler, const std::byte* arguments,
                std::span<const std::byte> payload, std::uint64_t offset, bool* released);
  Far& far() noexcept { return *far_; }
  bool is_far(std::uint32_t to) const noexcept;
  void check_medium(std::span<const std::byte> payload, const char* call) const;
  // Copies a long payload to its place, if it fits, and writes the words that say where it is.
  void place_long(shmem::Half& half, const Extent& extent, std::byte* segment, std::uint64_t offset,
                  std::span<const std::byte> payload);
  void refuse_in_handler(std::uint32_t to, const char* call) const;
  void refuse_waiting(std::uint32_t to, const char* call) const;  // ... and in a callback
  void stall(std::uint32_t to, const char* call);
  void say_farewell(std::uint32_t to);

  bool admits(Tag tag) const noexcept {
    return tag_ == kTagAll || (tag_ == tag && tag != kTagNone);
  }
  void deliver_returned(const Returned& returned);
  shmem::Outbox& way_back(std::uint32_t inbox);
  void flush_bounces();

  // Constant after construction.
  Name name_;
  // Owned by the bundle's thread.
  Bundle* bundle_;
  Tag tag_ = kTagNone;
  bool requests_next_ = false;  // the last poll handled replies only
  Extent extent_;
  shmem::Mailbox mailbox_;
  std::array<HandlerEntry, kHandlers> handlers_{};
  std::vector<shmem::Outbox*> boxes_;    // by translation index; nullptr: not connected
  std::vector<std::uint32_t> awaiting_;  // the indices of those with replies to come
  std::vector<Translation> translations_;
  std::vector<Correspondent> correspondents_;  // by inbox
  std::function<void(const Returned&)> on_returned_;
  std::vector<std::unique_ptr<shmem::Outbox>> ways_back_;  // by inbox; for what cannot be delivered
  std::deque<Bounce> bounces_;
  Stats stats_;
  std::unique_ptr<Far> far_;  // only in a job that has several nodes
};

}  // namespace am

#include "am/request.h"
