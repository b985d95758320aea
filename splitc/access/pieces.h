#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>

#include "am/core/far/remote_memory.h"
#include "am/core/token.h"
#include "splitc/access/local_elements.h"
#include "splitc/world/sync.h"
#include "splitc/world/tickets.h"
#include "splitc/world/world.h"

// Gets and puts of many elements of other nodes as one operation, in pieces of a medium message
// each. A get asks for every piece by a request, which says what is in it: the owner gathers that
// and replies with it. A put gathers the pieces itself, and each brings along what the owner does
// with it. So the owner keeps nothing between two pieces, the credits of the messages hold the
// sender back, and an operation is complete when as many bytes as it has have been answered.

namespace am {
class Endpoint;
}

namespace splitc::detail {

// Copies the elements of `element` bytes that lie at base + index * scale, or to there. `indices`
// and `packed` need no alignment.
void gather_list(std::byte* packed, const std::byte* base, const Indices& indices,
                 std::uint64_t scale, std::size_t element);
void scatter_list(std::byte* base, const Indices& indices, std::uint64_t scale,
                  const std::byte* packed, std::size_t element);

// Sends the pieces of an operation. Once one has been sent the others follow whatever handlers
// throw while this waits for credits: their receivers, or the local memory, wait for all of them.
class PieceSender {
 public:
  // Calls send_piece(), which sends one to `proc`, or throws and has not. Throws on if it is the
  // first, and if the process has died. `more` to the same process follow.
  template <class SendPiece>
  void send(std::uint32_t proc, bool more, SendPiece&& send_piece) {
    for (;;) {
      try {
        const am::RemoteMemory::MoreToCome more_to_come(world().remote(), more);
        send_piece();
        some_sent_ = true;
        return;
      } catch (...) {
        caught(proc);
      }
    }
  }
  // When all have been sent: throws what handlers have thrown.
  void finish() {
    if (thrown_) std::rethrow_exception(thrown_);
  }

 private:
  void caught(std::uint32_t proc);

  bool some_sent_ = false;
  std::exception_ptr thrown_;
};

// A get or put that is being started: if an exception comes out of it before a piece has been sent,
// there is no such operation.
class PiecesStart {
 public:
  // Of `bytes` in all, not 0, at `proc`, or at several processes: am::kNobody. Those of a get go to
  // `local`, whose list is copied.
  PiecesStart(std::uint32_t proc, std::uint64_t bytes, const LocalElements& local = {},
              std::size_t listed = 0);

  std::uint32_t ticket() const noexcept { return start_.ticket(); }
  PieceSender& sender() noexcept { return sender_; }
  // When all pieces have been sent. Throws what handlers have thrown; the operation goes on.
  handle started() {
    const handle h = start_.started();
    sender_.finish();
    return h;
  }

 private:
  Tickets::Start start_;
  PieceSender sender_;
};

// The answers: a piece of a get is here, for byte `at` of the order on; a piece of a put is there.
void on_piece_got(am::Reply, std::span<const std::byte> bytes, std::uint32_t ticket,
                  std::uint64_t at);
void on_piece_put(am::Reply, std::uint32_t ticket, std::uint32_t bytes);

// Registers the handlers of these, and of far_strided.h and far_indexed.h. Every process does so at
// the same point among its handlers.
void add_piece_handlers(am::Endpoint& endpoint);

}  // namespace splitc::detail
