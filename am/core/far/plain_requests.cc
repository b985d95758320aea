#include "am/core/far/plain_requests.h"

#include <algorithm>
#include <string>
#include <utility>

#include "am/core/bundle.h"
#include "am/core/process.h"
#include "am/core/request.h"
#include "am/far/far_memory.h"
#include "am/far/one_sided.h"
#include "am/route/router.h"
#include "am/types/shared_words.h"

namespace am {
namespace {

// Calls piece(at, bytes) for all pieces of `bytes`.
template <class Piece>
void in_pieces(std::uint64_t bytes, Piece&& piece) {
  for (std::uint64_t at = 0; at < bytes; at += max_medium()) {
    piece(at, std::min<std::uint64_t>(bytes - at, max_medium()));
  }
}

}  // namespace

PlainRequests::PlainRequests(Endpoint& endpoint, Bundle& bundle, Done done)
    : RemoteMemory(bundle, done),
      endpoint_(endpoint),
      router_(bundle.router()),
      memory_(bundle.process().far_memory()->one_sided()) {
  endpoint
      .add_handlers<&PlainRequests::on_get, &PlainRequests::on_got, &PlainRequests::on_put,
                    &PlainRequests::on_done, &PlainRequests::on_store, &PlainRequests::on_stored>(
          *this);
}

PlainRequests::Operation& PlainRequests::take(std::uint64_t bytes, std::uint32_t ticket) {
  Operation& operation =
      operations_.take([](Operation& made, std::uint32_t number) { made.number = number; });
  operation.left = bytes;
  operation.ticket = ticket;
  return operation;
}

void PlainRequests::account(std::uint32_t number, std::uint64_t bytes) {
  Operation& operation = operations_[number];
  operation.left -= bytes;
  if (operation.left != 0) return;
  const std::uint32_t ticket = operation.ticket;
  operations_.give_back(operation);
  done(ticket);
}

std::byte* PlainRequests::target(std::uint64_t offset, std::uint64_t bytes) const {
  if (memory_.in_segment(offset, bytes)) return router_.segment() + offset;
  throw Error("rank " + std::to_string(router_.rank()) + ": an access to " + std::to_string(bytes) +
              " bytes at offset " + std::to_string(offset) +
              " is outside the segment; all programs of a job must be built from the same "
              "Splitphase");
}

void PlainRequests::start(const link::RmaAccess& access, std::uint32_t ticket, const Call& call) {
  check(access.peer, call.name);
  if (access.local.empty()) return done(ticket);
  Operation& operation = take(access.local.size(), ticket);
  operation.to = access.local;
  const To to{access.peer, call.where};
  const std::uint32_t number = operation.number;
  in_pieces(access.local.size(), [&](std::uint64_t at, std::uint64_t bytes) {
    if (access.kind == link::RmaAccess::kRead) {
      endpoint_.request<&PlainRequests::on_get>(to, access.at.base + at, number,
                                                static_cast<std::uint32_t>(bytes), at);
    } else {
      endpoint_.request_medium<&PlainRequests::on_put>(to, access.local.subspan(at, bytes),
                                                       access.at.base + at, number);
    }
  });
}

void PlainRequests::store(Rank rank, std::uint64_t offset, std::span<const std::byte> from,
                          std::uint64_t counter, const Call& call, std::uint64_t& sent) {
  check(rank, call.name);
  in_pieces(from.size(), [&](std::uint64_t at, std::uint64_t bytes) {
    endpoint_.request_medium<&PlainRequests::on_store>({rank, call.where}, from.subspan(at, bytes),
                                                       offset + at, counter);
    sent += bytes;
  });
}

void PlainRequests::on_get(Request message, std::uint64_t offset, std::uint32_t number,
                           std::uint32_t bytes, std::uint64_t at) {
  std::byte copy[max_medium()];
  bytes = std::min<std::uint32_t>(bytes, sizeof copy);
  copy_whole(copy, target(offset, bytes), bytes);
  std::move(message).reply_medium<&PlainRequests::on_got>(std::span(copy, bytes), number, at);
}

void PlainRequests::on_got(Reply, std::span<const std::byte> payload, std::uint32_t number,
                           std::uint64_t at) {
  copy_whole(operations_[number].to.data() + at, payload.data(), payload.size());
  account(number, payload.size());
}

void PlainRequests::on_put(Request message, std::span<const std::byte> payload,
                           std::uint64_t offset, std::uint32_t number) {
  copy_whole(target(offset, payload.size()), payload.data(), payload.size());
  std::move(message).reply<&PlainRequests::on_done>(number,
                                                    static_cast<std::uint32_t>(payload.size()));
}

void PlainRequests::on_done(Reply, std::uint32_t number, std::uint32_t bytes) {
  account(number, bytes);
}

void PlainRequests::on_store(Request message, std::span<const std::byte> payload,
                             std::uint64_t offset, std::uint64_t counter) {
  std::byte* const to = target(offset, payload.size());
  if (!memory_.has_counter(counter)) refuse_counter(counter);  // before anything is written
  copy_whole(to, payload.data(), payload.size());
  count(counter, payload.size());
  std::move(message).reply<&PlainRequests::on_stored>();
}

void PlainRequests::on_stored(Reply) {}

}  // namespace am
