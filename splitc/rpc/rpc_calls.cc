#include "splitc/rpc/rpc_calls.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <exception>
#include <iterator>
#include <map>
#include <mutex>
#include <string>

#include "am/core/bundle.h"
#include "am/core/endpoint.h"
#include "am/core/token.h"
#include "am/job/job.h"
#include "am/observe/call_sites.h"
#include "am/route/router.h"
#include "am/types/types.h"
#include "splitc/world/remote.h"
#include "splitc/world/world.h"

namespace splitc::detail {
namespace {

// The forms that fit the cache line of the message.
constexpr std::size_t kSmallRpc = 8;
constexpr std::size_t kSmallResult = 20;

void run_packed(std::uint32_t source, std::uint32_t run, const std::byte* packed,
                RpcValue& output) {
  call_for(source, [&] { function_at<RpcFunction>(run)(Unpacker{packed}, output); });
}

// A piece of `all`, of `total` bytes in the end. In any order; what is not there yet has not been
// touched if the pieces come in order, so that no handler takes long over much memory.
void keep_piece(std::vector<std::byte>& all, std::span<const std::byte> bytes, std::size_t at,
                std::size_t total) {
  all.reserve(total);
  all.resize(std::max(all.size(), at + bytes.size()));
  std::ranges::copy(bytes, all.begin() + static_cast<std::ptrdiff_t>(at));
}

bool is_aligned(const std::byte* at) noexcept {
  return reinterpret_cast<std::uintptr_t>(at) % kPackAlignment == 0;
}

}  // namespace

// A call of which pieces have come, or a result of which some have been sent.
struct RpcCalls::Partial {
  std::vector<std::byte> bytes;
  std::size_t done = 0;
};
struct RpcCalls::Result {
  std::uint32_t ticket;
  Partial rest;
};
struct RpcCalls::Pieces {
  std::mutex mutex;  // guards all of it, among threads
  std::map<std::pair<std::uint32_t, std::uint32_t>, Partial> partial;  // by source and number
  std::map<std::uint32_t, std::deque<Result>> owed;  // to be sent in pieces; none is empty
};

void RpcCalls::find_functions(am::Job& job) {
  functions_travel = all_run_one_program(job);
  find_program_code();
}

RpcCalls::RpcCalls(am::Bundle& bundle, am::Endpoint& endpoint, std::uint32_t context)
    : bundle_(bundle),
      endpoint_(endpoint),
      first_number_(context << Context::kTicketBits),
      pieces_(new Pieces) {
  endpoint.add_handlers<&RpcCalls::on_short<kSmallRpc>, &RpcCalls::on_short<kMaxShortRpc>,
                        &RpcCalls::on_short_one_way<kMaxShortRpc>, &RpcCalls::on_words<false>,
                        &RpcCalls::on_words<true>, &RpcCalls::on_result<sizeof(std::uint64_t)>,
                        &RpcCalls::on_words_one_way<>, &RpcCalls::on_word<>, &RpcCalls::on_piece,
                        &RpcCalls::on_piece_one_way, &RpcCalls::on_result<kSmallResult>,
                        &RpcCalls::on_result<kMaxShortResult>, &RpcCalls::on_long_result,
                        &RpcCalls::on_result_piece>(*this);
}

RpcCalls::~RpcCalls() {
  if (rpc_calls_or_none() == this) this_context->rpc_calls = nullptr;
  if (!pieces_->owed.empty()) bundle_.remove(*this);
}

// --- The caller

void RpcCalls::count_here(std::uint32_t proc, std::size_t bytes, Call name) {
  note_operation(name.or_from(__builtin_return_address(0)), proc, bytes);
}

void check_call(Call name) {
  check_thread(name);  // throws also if nothing is running
  if (am::Bundle::handling()) {
    refuse(name,
           "called by a handler or by a function that another process has run here, which may not "
           "call others; let it return or note what is to be done, and call after poll()");
  }
  if (RpcCalls::functions_travel) return;
  refuse(name,
         "the processes of this job run different programs, so a function of one cannot be "
         "named to another; start all from one file");
}

void RpcCalls::start(const Outgoing& call, void* result, handle& operation, Call name) {
  Tickets::Start start(context().tickets,
                       {.proc = call.proc, .result = result, .result_bytes = call.result_bytes});
  if (am::is_observed()) {
    note_operation(name.or_from(__builtin_return_address(0)), call.proc, call.packed.size());
  }
  const std::exception_ptr thrown = send(call, start.ticket(), name);
  operation = start.started();
  if (thrown) std::rethrow_exception(thrown);
}

void RpcCalls::send_one_way(const Outgoing& call, Call name) {
  if (!call.noted && am::is_observed()) {
    note_operation(name.or_from(__builtin_return_address(0)), call.proc, call.packed.size());
  }
  const std::exception_ptr thrown = send(call, 0, name);
  if (thrown) std::rethrow_exception(thrown);
}

bool RpcCalls::try_send_one_way(const Outgoing& call, Call name) {
  const Head head{0, place_in_program(call.run, name), RpcAnswer::kNone, next_number()};
  if (!endpoint_.try_request_medium<&RpcCalls::on_piece_one_way>(call.proc, call.packed, head,
                                                                 Piece{call.packed.size(), 0})) {
    return false;
  }
  if (am::is_observed()) note_operation(name, call.proc, call.packed.size());
  return true;
}

// Once a piece has been sent the others follow whatever handlers throw while this waits for
// credits, as the receiver waits for them: it returns what they threw. Before that it throws.
std::exception_ptr RpcCalls::send(const Outgoing& call, std::uint32_t ticket, Call name) {
  check_proc(call.proc, name);
  const Head head{ticket, place_in_program(call.run, name), call.answer, next_number()};
  if (call.packed.size() <= kMaxShortRpc) return send_short(call, head, name), nullptr;
  constexpr std::size_t kMost = am::max_medium() / kPackAlignment * kPackAlignment;
  const am::To to{call.proc, name.where};
  std::exception_ptr thrown;
  for (std::size_t at = 0; at < call.packed.size();) {
    const auto bytes = call.packed.subspan(at, std::min(kMost, call.packed.size() - at));
    const Piece piece{call.packed.size(), at};
    try {
      if (head.answer == RpcAnswer::kNone) {
        endpoint_.request_medium<&RpcCalls::on_piece_one_way>(to, bytes, head, piece);
      } else {
        endpoint_.request_medium<&RpcCalls::on_piece>(to, bytes, head, piece);
      }
      at += bytes.size();
    } catch (...) {
      if (at == 0 || world().router().is_dead(call.proc)) throw;
      if (!thrown) thrown = std::current_exception();
    }
  }
  return thrown;
}

void RpcCalls::send_short(const Outgoing& call, const Head& head, Call name) {
  const auto request = [&]<std::size_t kBytes>(Bytes<kBytes> packed) {
    if (!call.packed.empty()) std::memcpy(packed.data(), call.packed.data(), call.packed.size());
    const am::To to{call.proc, name.where};
    if constexpr (kBytes == kMaxShortRpc) {
      if (head.answer == RpcAnswer::kNone) {
        return endpoint_.request<&RpcCalls::on_short_one_way<kBytes>>(to, head, packed);
      }
    }
    endpoint_.request<&RpcCalls::on_short<kBytes>>(to, head, packed);
  };
  if (call.packed.size() <= kSmallRpc && head.answer != RpcAnswer::kNone) {
    request(Bytes<kSmallRpc>{});
  } else {
    request(Bytes<kMaxShortRpc>{});
  }
}

void RpcCalls::on_long_result(am::Reply, std::span<const std::byte> bytes, std::uint32_t ticket) {
  Tickets& tickets = context().tickets;
  RpcSlot& slot = *static_cast<RpcSlot*>(tickets.result_of(ticket));
  slot.keep(bytes, 0, bytes.size());
  tickets.answered(ticket, nullptr);
  check_room(slot, bytes.size(), "rpc_into");
}

// In any order. Among threads it comes to any, and the slot is another's perhaps.
void RpcCalls::on_result_piece(am::OneWay, std::span<const std::byte> bytes, std::uint32_t ticket,
                               Piece piece) {
  if (!is_threaded()) return take_result_piece(bytes, ticket, piece);
  world()
      .contexts()
      .at(Context::number_of(ticket), "rpc")
      .post([ticket, piece, kept = std::vector<std::byte>(bytes.begin(), bytes.end())] {
        take_result_piece(kept, ticket, piece);
      });
}

void RpcCalls::take_result_piece(std::span<const std::byte> bytes, std::uint32_t ticket,
                                 const Piece& piece) {
  Tickets& tickets = context().tickets;
  RpcSlot& slot = *static_cast<RpcSlot*>(tickets.result_of(ticket));
  slot.keep(bytes, piece.at, piece.total);
  slot.arrived += bytes.size();
  if (slot.arrived != piece.total) return;
  tickets.answered(ticket, nullptr);
  check_room(slot, piece.total, "rpc_into");
}

// --- The process that runs the function

void refuse_thrown(std::uint32_t source, const std::exception& error, const std::uint64_t* offset) {
  refuse(offset != nullptr ? "atomic" : "rpc",
         "the function that rank " + std::to_string(source) + " had run " +
             (offset != nullptr ? "on the object at offset " + std::to_string(*offset) : "here") +
             " threw: " + without_rank(error.what()));
}

template <std::size_t kBytes>
void RpcCalls::on_short(am::Request request, Head head, Bytes<kBytes> packed) {
  alignas(kPackAlignment) const Bytes<kBytes> here = packed;
  RpcValue output;
  run_packed(request.source(), head.run, here.data(), output);
  answer(std::move(request), head, output);
}

template <std::size_t kBytes>
void RpcCalls::on_short_one_way(am::OneWay message, Head head, Bytes<kBytes> packed) {
  alignas(kPackAlignment) const Bytes<kBytes> here = packed;
  RpcValue output;
  run_packed(message.source(), head.run, here.data(), output);
}

void RpcCalls::on_piece(am::Request request, std::span<const std::byte> bytes, Head head,
                        Piece piece) {
  RpcValue output;
  if (take_piece(request.source(), bytes, head, piece, output)) {
    answer(std::move(request), head, output);
  }
}

void RpcCalls::on_piece_one_way(am::OneWay message, std::span<const std::byte> bytes, Head head,
                                Piece piece) {
  RpcValue output;
  take_piece(message.source(), bytes, head, piece, output);
}

// Runs the function and returns true if this is the last piece to come.
bool RpcCalls::take_piece(std::uint32_t source, std::span<const std::byte> bytes, const Head& head,
                          const Piece& piece, RpcValue& output) {
  if (bytes.size() == piece.total && is_aligned(bytes.data())) {
    run_packed(source, head.run, bytes.data(), output);
    return true;
  }
  std::vector<std::byte> all;
  {
    const auto lock = lock_among_threads(pieces_->mutex);
    const auto found = pieces_->partial.try_emplace({source, head.number}).first;
    Partial& partial = found->second;
    keep_piece(partial.bytes, bytes, piece.at, piece.total);
    partial.done += bytes.size();
    if (partial.done < piece.total) return false;
    all = std::move(partial.bytes);  // whatever the function does
    pieces_->partial.erase(found);
  }
  run_packed(source, head.run, all.data(), output);
  return true;
}

void RpcCalls::answer(am::Request&& request, const Head& head, RpcValue& output) {
  if (head.answer == RpcAnswer::kLong) {
    const std::span<const std::byte> bytes = output.long_bytes;
    if (bytes.size() <= am::max_medium()) {
      std::move(request).reply_medium<&RpcCalls::on_long_result>(bytes, head.ticket);
    } else {
      const auto lock = lock_among_threads(pieces_->mutex);
      if (pieces_->owed.empty()) bundle_.add(*this);
      can_go_on_.store(true, std::memory_order_relaxed);
      pieces_->owed[request.source()].push_back({head.ticket, {std::move(output.long_bytes), 0}});
    }
  } else if (output.short_count <= kSmallResult) {
    Bytes<kSmallResult> result;
    std::memcpy(result.data(), output.short_bytes.data(), kSmallResult);
    std::move(request).reply<&RpcCalls::on_result<kSmallResult>>(head.ticket, result);
  } else {
    std::move(request).reply<&RpcCalls::on_result<kMaxShortResult>>(head.ticket,
                                                                    output.short_bytes);
  }
}

// Sends pieces as far as there is room; whether all of it has been sent. `done` counts them.
bool RpcCalls::try_send(std::uint32_t proc, Result& result, int& done) {
  Partial& rest = result.rest;
  while (rest.done < rest.bytes.size()) {
    const auto bytes =
        std::span<const std::byte>(rest.bytes)
            .subspan(rest.done)
            .first(std::min<std::size_t>(am::max_medium(), rest.bytes.size() - rest.done));
    const Piece piece{rest.bytes.size(), rest.done};
    if (!endpoint_.try_request_medium<&RpcCalls::on_result_piece>(proc, bytes, result.ticket,
                                                                  piece)) {
      return false;
    }
    rest.done += bytes.size();
    ++done;
  }
  return true;
}

// To each process in turn: one that finds no room is not to hold up those for others, and is not
// to be asked again for each result that it waits for.
int RpcCalls::poll() {
  const auto lock = lock_among_threads(pieces_->mutex);
  int done = 0;
  for (auto next = pieces_->owed.begin(); next != pieces_->owed.end();) {
    auto& [proc, results] = *next;
    while (!results.empty() && try_send(proc, results.front(), done)) results.pop_front();
    next = results.empty() ? pieces_->owed.erase(next) : std::next(next);
  }
  if (pieces_->owed.empty()) bundle_.remove(*this);
  can_go_on_.store(done != 0, std::memory_order_relaxed);
  return done;
}

// --- Places for results

void RpcSlot::keep(std::span<const std::byte> bytes, std::size_t at, std::size_t total) {
  if (element != 0) {
    if (total <= into.size())
      std::ranges::copy(bytes, into.begin() + static_cast<std::ptrdiff_t>(at));
    return result.keep<std::size_t>(total / element);
  }
  if (dropped) return;
  keep_piece(result.long_bytes, bytes, at, total);
}

void check_room(const RpcSlot& slot, std::size_t bytes, Call call) {
  if (slot.element == 0 || bytes <= slot.into.size()) return;
  refuse(call, "the function has returned " + std::to_string(bytes / slot.element) +
                   " elements, and there is room for " +
                   std::to_string(slot.into.size() / slot.element) +
                   "; pass a larger span, or take the vector that rpc() gives");
}

RpcSlot& RpcCalls::take_slot() {
  if (free_ == nullptr && dropped_count_ >= look_at_) look_at_dropped();
  if (free_ == nullptr) {
    slots_.emplace_back(new RpcSlot);
    give_back(*slots_.back());
  }
  RpcSlot& slot = *std::exchange(free_, free_->next);
  slot.operation = {};
  slot.arrived = 0;
  slot.element = 0;
  return slot;
}

void RpcCalls::give_back(RpcSlot& slot) noexcept {
  const bool done = slot.operation.generation() == 0 || context().tickets.done(slot.operation);
  // And its memory, if nothing comes any more: a get writes it without asking.
  if (done) std::vector<std::byte>().swap(slot.result.long_bytes);
  slot.dropped = !done;
  if (!done) ++dropped_count_;
  slot.next = std::exchange(done ? free_ : dropped_, &slot);
}

// Looks again when they are twice those that remain, so that each is looked at a few times only.
void RpcCalls::look_at_dropped() noexcept {
  dropped_count_ = 0;
  for (RpcSlot* slot = std::exchange(dropped_, nullptr); slot != nullptr;) {
    give_back(*std::exchange(slot, slot->next));
  }
  look_at_ = std::max<std::size_t>(64, 2 * dropped_count_);
}

}  // namespace splitc::detail
