#pragma once

// Payloads that are written where they are sent from; included by am/core/endpoint.h.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "am/core/endpoint.h"
#include "am/core/request.h"
#include "am/core/token.h"

namespace am {

// A medium request that has its credit and its room: the program writes the payload there, and
// commits it (GASNet-EX's negotiated payload, gex_AM_PrepareRequestMedium). So the sender makes no
// copy of its own:
//
//   am::PreparedMedium block = endpoint.prepare_medium(to, 1, am::max_medium());
//   const std::size_t used = encode(block.span());
//   std::move(block).commit<&Table::on_block>(used, arguments...);
//
// Where the room is:
//  * in the receiver's mailbox, near;
//  * in the frame that leaves, far, over libfabric;
//  * in a buffer of the library's, which commit() sends as request_medium() would (a copy, and a
//    wait for a credit if it takes one): over datagrams, in a job across nodes whose network
//    several threads use, or while another is prepared there, in a parallel bundle, and of a traced
//    endpoint. Nobody waits for a thread that fills one.
//
// Between prepare and commit the thread that has prepared makes no call into the library but those
// of this object, and does not wait for another thread that does. It may compute for long, though
// others wait meanwhile for what only this process can do, and its threads that need the network
// wait for it. An endpoint has one at a time, except for buffers. Checked builds name a request of
// the endpoint in between; commit() of every build throws Error if the room is not as it was.
//
// Without a commit its end gives credit and room back, and nothing is sent. It may be moved within
// its thread; the endpoint outlives it.
class PreparedMedium {
 public:
  PreparedMedium(PreparedMedium&& other) noexcept;
  PreparedMedium& operator=(PreparedMedium&&) = delete;
  ~PreparedMedium() { drop(); }

  // Where the payload goes: as many bytes as were asked for at most, aligned to 8. What they are at
  // first is not defined.
  std::span<std::byte> span() const noexcept { return bytes_; }

  // Sends the first `used` bytes, 0 to span().size(), to kFunction of the endpoint there, as
  // request_medium() does: they must not be touched any more. Throws Error, and sends nothing, if
  // kFunction is not in this endpoint's table, if `used` is too large, and as above.
  template <auto kFunction, class... Args>
  void commit(std::size_t used, const Args&... args) &&;
  // Commits to the handler at an index of the receiver, like request_index(), with 0 to 16 words.
  void commit_index(std::size_t used, HandlerIndex handler, std::span<const std::uint32_t> words,
                    Role role = Role::kRequest) &&;

 private:
  friend class Endpoint;
  enum class Place : std::uint8_t { kNowhere, kSlot, kFrame, kBuffer };
  struct Buffer {
    alignas(64) std::byte bytes[max_medium()];
  };

  PreparedMedium(Endpoint& endpoint, const To& to, std::size_t most) noexcept
      : endpoint_(endpoint), to_(to), most_(most) {}
  bool try_begin(Call call);  // false: there is no credit, or no room in the network
  bool try_begin_far(Call call);
  void begin_buffer();
  void send(HandlerIndex handler, Role role, std::span<const std::uint32_t> words,
            std::size_t used);
  bool send_slot(const UntypedRequest& request);
  void drop() noexcept;

  Endpoint& endpoint_;
  To to_;
  std::size_t most_;
  std::span<std::byte> bytes_;
  Place place_ = Place::kNowhere;
  // In a slot: of which outbox, and the number of the request before.
  shmem::Outbox* box_ = nullptr;
  shmem::Room room_{};
  std::uint64_t number_ = 0;
  Owned<Buffer> buffer_;
};

template <auto kFunction, class... Args>
void PreparedMedium::commit(std::size_t used, const Args&... args) && {
  using H = Handler<kFunction>;
  static_assert(H::template check<Role::kRequest, Kind::kMedium, std::decay_t<Args>...>());
  alignas(8) std::array<std::uint32_t, packet::kMaxWords> words{};
  H::Packing::pack(reinterpret_cast<std::byte*>(words.data()), args...);
  send(endpoint_.index_of<kFunction>({"commit", to_.where}), H::role,
       std::span(words).first(H::words), used);
}

// A medium reply whose payload a handler writes where it is sent from: near, in the slot of its
// request; far, in a buffer that is copied into a packet when the handler returns. Lives in the
// handler. Without a commit nothing is replied, which is an empty reply.
class PreparedReply {
 public:
  std::span<std::byte> span() const noexcept { return bytes_; }  // as of a PreparedMedium

  // The reply, once, with the first `used` bytes, as reply_medium(). Throws Error like that, and if
  // `used` is larger than span().
  template <auto kFunction, class... Args>
  void commit(std::size_t used, const Args&... args) &&;

 private:
  friend class Request;
  PreparedReply(Request request, std::span<std::byte> bytes) noexcept
      : request_(std::move(request)), bytes_(bytes) {}

  Request request_;
  std::span<std::byte> bytes_;
};

// Throws Error of `call` unless `used` bytes fit a room of `most`, or these limits are none.
void check_used(const Bundle& bundle, std::size_t used, std::size_t most, Call call);
void check_limits(const Bundle& bundle, std::size_t least, std::size_t most, Call call);

inline PreparedReply Request::prepare_reply_medium(std::size_t least, std::size_t most) && {
  check_limits(endpoint().bundle(), least, most, "prepare_reply_medium");
  check_unanswered();
  std::byte* const payload = delivery_->room.reply_payload();
  return {std::move(*this), {payload, most}};
}

template <auto kFunction, class... Args>
void PreparedReply::commit(std::size_t used, const Args&... args) && {
  check_used(request_.endpoint().bundle(), used, bytes_.size(), "commit");
  std::move(request_).template reply_in_place<kFunction>(used, args...);
}

}  // namespace am
