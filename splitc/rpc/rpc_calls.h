#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <utility>
#include <vector>

#include "am/core/bundle.h"
#include "am/core/endpoint.h"
#include "am/core/poller.h"
#include "am/core/token.h"
#include "am/observe/observers.h"
#include "am/types/types.h"
#include "splitc/rpc/pack.h"
#include "splitc/rpc/program.h"
#include "splitc/rpc/words.h"
#include "splitc/world/context.h"
#include "splitc/world/place.h"
#include "splitc/world/sync.h"
#include "splitc/world/tickets.h"
#include "splitc/world/world.h"

// The messages of rpc(). What fits in the arguments of a short message is one; more is the payload
// of medium ones, which the owner puts together. The result comes likewise: as a short reply, as a
// medium one, or, if it is longer, in pieces that are sent by the polls of the process that has it.

namespace am {
class Job;
}

namespace splitc::detail {

inline constexpr std::size_t kMaxShortRpc = 48;  // bytes: 64 of a message, less the head

// Takes function and arguments out of `from`, calls it, and leaves the result in `to`.
using RpcFunction = void(Unpacker from, RpcValue& to);

// How its result is returned. A long one may be as short as it likes.
enum class RpcAnswer : std::uint32_t { kNone, kShort, kLong };

// Where a result arrives.
struct RpcSlot {
  handle operation;
  RpcValue result;
  std::size_t arrived = 0;  // bytes of a long one
  // Where a long one goes, if not into `result`, which is then how many elements there are of
  // `element` bytes each; 0: it goes there.
  std::span<std::byte> into;
  std::size_t element = 0;
  bool dropped = false;     // the result, or how many there are, is dropped
  RpcSlot* next = nullptr;  // in a list of the pool

  // Keeps the bytes from `at` on of a long result of `total` bytes.
  void keep(std::span<const std::byte> bytes, std::size_t at, std::size_t total);
};
// Throws Error if a result of `bytes` is too long for where it was to go.
void check_room(const RpcSlot& slot, std::size_t bytes, Call call);

// Sends and receives the calls of an endpoint. Part of every poll while it has results to send.
//
// A program of one thread has one, for all. Of several threads each has one in its context, which
// sends its calls and takes their results, and one more takes the calls of others.
// Thread rule: the endpoint's; what several threads come to at once is guarded by a mutex.
class RpcCalls final : public am::Poller {
 public:
  // Collective: finds out whether all processes run the same program.
  static void find_functions(am::Job& job);
  // Registers the handlers. `context`: the number of that whose calls it sends.
  RpcCalls(am::Bundle& bundle, am::Endpoint& endpoint, std::uint32_t context);
  ~RpcCalls() override;
  RpcCalls(const RpcCalls&) = delete;
  RpcCalls& operator=(const RpcCalls&) = delete;

  static inline constinit bool functions_travel = false;  // its processes all run one program

  struct Outgoing {
    std::uint32_t proc;
    RpcFunction* run;
    std::span<const std::byte> packed;
    RpcAnswer answer;
    std::size_t result_bytes = 0;  // of a short one
    bool noted = false;            // by check_far(), for statistics and traces
  };
  // Sends it, waiting for credits. `operation` is set, also where an exception of a handler comes
  // out when it has been sent. The result will be at `result`: a long one in the RpcSlot there, of
  // a short one its bytes, and of nullptr nowhere.
  void start(const Outgoing& call, void* result, handle& operation, Call name);
  // Sends a call without an answer (kNone).
  void send_one_way(const Outgoing& call, Call name);
  // Starts a call of what takes words and returns one. The words come by value: bytes that have
  // just been written and are read by another width are read only when all stores before them have
  // reached the cache, those to the other process among them. At `result`, unless it is nullptr,
  // there is room for a word; or, if it is `kSized`, for `result_bytes` of it.
  template <bool kSized>
  handle start_words(std::uint32_t proc, WordFunction* run, std::uint64_t first,
                     std::uint64_t second, void* result, std::size_t bytes, Call name,
                     std::size_t result_bytes);
  template <class = void>
  void send_words_one_way(std::uint32_t proc, WordFunction* run, std::uint64_t first,
                          std::uint64_t second, std::size_t bytes, bool noted, Call name);
  // Sends one from a poll, if it is one message. False: there is no room for it now.
  [[nodiscard]] bool try_send_one_way(const Outgoing& call, Call name);

  // A place for a result, and back: when the operation is complete, or to be forgotten.
  RpcSlot& take_slot();
  void give_back(RpcSlot& slot) noexcept;

  int poll() override;
  // False while it waits for credits: their arrival wakes this process, or it polls within a
  // millisecond.
  bool has_work() noexcept override { return can_go_on_.load(std::memory_order_relaxed); }

 private:
  // The arguments of the messages.
  struct Head {
    std::uint32_t ticket;  // of the caller; of kNone nothing
    std::uint32_t run;     // where the function is in the program
    RpcAnswer answer;
    std::uint32_t number;  // of the caller's calls
  };
  struct Piece {
    std::uint64_t total;  // bytes, of all pieces
    std::uint64_t at;     // of this one
  };
  struct Partial;
  struct Result;  // that is to be sent in pieces
  struct Pieces;  // ... all of those, and the calls of which some have come

  template <std::size_t kBytes>
  using Bytes = std::array<std::byte, kBytes>;
  // note_operation() on behalf of the function that this is expanded in.
  [[gnu::cold, gnu::noinline]] static void count_here(std::uint32_t proc, std::size_t bytes,
                                                      Call name);
  [[nodiscard]] std::exception_ptr send(const Outgoing& call, std::uint32_t ticket, Call name);
  void send_short(const Outgoing& call, const Head& head, Call name);
  template <std::size_t kBytes>
  void on_short(am::Request request, Head head, Bytes<kBytes> packed);
  template <std::size_t kBytes>
  void on_short_one_way(am::OneWay message, Head head, Bytes<kBytes> packed);
  template <bool kSized>
  void on_words(am::Request request, std::uint32_t ticket, std::uint32_t run, std::uint64_t first,
                std::uint64_t second);
  template <class = void>
  void on_words_one_way(am::OneWay message, std::uint32_t run, std::uint64_t first,
                        std::uint64_t second);
  template <class = void>
  void on_word(am::Reply, std::uint32_t ticket, std::uint64_t result);
  void on_piece(am::Request request, std::span<const std::byte> bytes, Head head, Piece piece);
  void on_piece_one_way(am::OneWay message, std::span<const std::byte> bytes, Head head,
                        Piece piece);
  template <std::size_t kBytes>
  void on_result(am::Reply, std::uint32_t ticket, Bytes<kBytes> result);
  void on_long_result(am::Reply, std::span<const std::byte> bytes, std::uint32_t ticket);
  void on_result_piece(am::OneWay, std::span<const std::byte> bytes, std::uint32_t ticket,
                       Piece piece);
  static void take_result_piece(std::span<const std::byte> bytes, std::uint32_t ticket,
                                const Piece& piece);

  bool take_piece(std::uint32_t source, std::span<const std::byte> bytes, const Head& head,
                  const Piece& piece, RpcValue& output);
  void answer(am::Request&& request, const Head& head, RpcValue& output);
  bool try_send(std::uint32_t proc, Result& result, int& done);
  void look_at_dropped() noexcept;

  am::Bundle& bundle_;
  // The number of the next call, which no other call of this process has for a long time.
  std::uint32_t next_number() noexcept {
    if (is_threaded()) return first_number_ + (++number_ & kNumbers);
    return ++number_;
  }

  static constexpr std::uint32_t kNumbers = (1u << Context::kTicketBits) - 1;

  am::Endpoint& endpoint_;
  const std::uint32_t first_number_;
  std::uint32_t number_ = 0;  // of the last call
  am::Owned<Pieces> pieces_;
  // The last poll() has sent some of what is owed, or that has come.
  std::atomic<bool> can_go_on_{false};
  std::vector<am::Owned<RpcSlot>> slots_;  // all that there are
  RpcSlot* free_ = nullptr;
  RpcSlot* dropped_ = nullptr;  // the result is dropped, but still to arrive
  std::size_t dropped_count_ = 0;
  std::size_t look_at_ = 64;  // of them, from which on some may be free
};

// That of the calling thread. Throws Error outside run(), and where it may not be used now.
void check_call(Call name);
inline RpcCalls& rpc_calls(Call name) {
  if (!RpcCalls::functions_travel || this_context == nullptr || am::Bundle::handling()) [[unlikely]]
    check_call(name);
  return *this_context->rpc_calls;
}
// nullptr when the program has ended.
inline RpcCalls* rpc_calls_or_none() noexcept {
  return this_context == nullptr ? nullptr : this_context->rpc_calls;
}

// What the function of an atomic() has thrown, and where its object is.
struct ThrownAt : Error {
  ThrownAt(const std::exception& thrown, std::uint64_t at) : Error(thrown.what()), offset(at) {}
  std::uint64_t offset;
};
// Runs what `source` asked for, and says for whom if it throws; `offset`: of ThrownAt.
[[noreturn]] void refuse_thrown(std::uint32_t source, const std::exception& error,
                                const std::uint64_t* offset = nullptr);
template <class Run>
[[gnu::always_inline]] inline auto call_for(std::uint32_t source, Run run) {
  try {
    return run();
  } catch (const ThrownAt& error) {
    refuse_thrown(source, error, &error.offset);
  } catch (const std::exception& error) {
    refuse_thrown(source, error);
  }
}

// All this is inline, since each word that a call between them writes to memory has to wait until
// the message's own cache line has come from the other process; and so that count_here() returns to
// the program. They are templates so that programs without rpc() do not compile them.
template <bool kSized>
[[gnu::always_inline]] inline handle RpcCalls::start_words(std::uint32_t proc, WordFunction* run,
                                                           std::uint64_t first,
                                                           std::uint64_t second, void* result,
                                                           std::size_t bytes, Call name,
                                                           std::size_t result_bytes) {
  check_proc(proc, name);
  Tickets::Start start(context().tickets, proc, result);
  if constexpr (kSized) context().tickets.expect(start.ticket(), result_bytes);
  if (am::is_observed()) [[unlikely]]
    count_here(proc, bytes, name);
  endpoint_.request<&RpcCalls::on_words<kSized>>({proc, name.where}, start.ticket(),
                                                 place_in_program(run, name), first, second);
  return start.started();
}

template <class>
[[gnu::always_inline]] inline void RpcCalls::send_words_one_way(
    std::uint32_t proc, WordFunction* run, std::uint64_t first, std::uint64_t second,
    std::size_t bytes, bool noted, Call name) {
  check_proc(proc, name);
  if (!noted && am::is_observed()) [[unlikely]]
    count_here(proc, bytes, name);
  endpoint_.request<&RpcCalls::on_words_one_way<>>({proc, name.where}, place_in_program(run, name),
                                                   first, second);
}

template <bool kSized>
inline void RpcCalls::on_words(am::Request request, std::uint32_t ticket, std::uint32_t run,
                               std::uint64_t first, std::uint64_t second) {
  const auto function = function_at<WordFunction>(run);
  const std::uint64_t result = call_for(request.source(), [=] { return function(first, second); });
  if constexpr (kSized) {
    std::move(request).reply<&RpcCalls::on_result<sizeof result>>(
        ticket, std::bit_cast<Bytes<sizeof result>>(result));
  } else {
    std::move(request).reply<&RpcCalls::on_word<>>(ticket, result);
  }
}

template <class>
inline void RpcCalls::on_words_one_way(am::OneWay message, std::uint32_t run, std::uint64_t first,
                                       std::uint64_t second) {
  const auto function = function_at<WordFunction>(run);
  call_for(message.source(), [=] { return function(first, second); });
}

template <std::size_t kBytes>
inline void RpcCalls::on_result(am::Reply, std::uint32_t ticket, Bytes<kBytes> result) {
  context().tickets.answered(ticket, result.data());
}

template <class>
inline void RpcCalls::on_word(am::Reply, std::uint32_t ticket, std::uint64_t result) {
  context().tickets.answered_by_word(ticket, result);
}

}  // namespace splitc::detail
