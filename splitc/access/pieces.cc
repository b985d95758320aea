#include "splitc/access/pieces.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <type_traits>

#include "am/core/endpoint.h"
#include "am/core/token.h"
#include "am/route/router.h"
#include "splitc/access/far_indexed.h"
#include "splitc/access/far_strided.h"
#include "splitc/world/world.h"

namespace splitc::detail {
namespace {

// What a ticket keeps, and behind it the list of `local`.
struct Operation {
  std::uint64_t left;  // bytes that have not been answered
  LocalElements local;
};
static_assert(std::is_trivially_destructible_v<Operation>);
static_assert(sizeof(Operation) % alignof(std::uint64_t) == 0);

Tickets::Pending make_pending(std::uint32_t proc, std::uint64_t bytes, const LocalElements& local,
                              std::size_t listed) {
  auto kept = std::make_unique_for_overwrite<std::byte[]>(sizeof(Operation) +
                                                          listed * sizeof(std::uint64_t));
  auto* const operation = new (kept.get()) Operation{bytes, local};
  if (listed != 0) {
    std::byte* const list = kept.get() + sizeof(Operation);
    operation->local.order = static_cast<const std::uint64_t*>(
        std::memcpy(list, local.order, listed * sizeof(std::uint64_t)));
  }
  return {.proc = proc, .result = operation, .kept = std::move(kept)};
}

Operation& operation_of(std::uint32_t ticket) {
  return *static_cast<Operation*>(world().tickets().result_of(ticket));
}

void account(Operation& operation, std::uint32_t ticket, std::uint64_t bytes) {
  operation.left -= bytes;
  if (operation.left == 0) world().tickets().answered(ticket, nullptr);
}

// Calls f(size) with a number that is known when this is compiled, if there is one.
template <class F>
void with_size(std::size_t size, F&& f) {
  switch (size) {
    case 1: return f(std::integral_constant<std::size_t, 1>());
    case 2: return f(std::integral_constant<std::size_t, 2>());
    case 4: return f(std::integral_constant<std::size_t, 4>());
    case 8: return f(std::integral_constant<std::size_t, 8>());
    case 16: return f(std::integral_constant<std::size_t, 16>());
    default: return f(size);
  }
}

// Calls f(i, byte in memory, size) for the element of each index.
template <class F>
void for_each_listed(const Indices& indices, std::uint64_t scale, std::size_t element, F&& f) {
  const auto* const from = static_cast<const std::byte*>(indices.first);
  with_size(element, [&](auto size) {
    const auto all = [&]<class Index>(Index index) {
      for (std::size_t i = 0; i < indices.count; ++i) {
        std::memcpy(&index, from + i * sizeof index, sizeof index);
        f(i, std::uint64_t{index} * scale, size);
      }
    };
    if (indices.wide) return all(std::uint64_t());
    all(std::uint32_t());
  });
}

// Calls f(byte of the piece, byte in memory, bytes) for the parts of the elements of a list that a
// piece of any length has.
template <class F>
void for_each_part(const LocalElements& local, std::uint64_t at, std::size_t bytes, F&& f) {
  for (std::size_t done = 0; done < bytes;) {
    const std::uint64_t in = (at + done) % local.element;
    const std::size_t part = std::min<std::size_t>(local.element - in, bytes - done);
    f(done, local.order[(at + done) / local.element] * local.element + in, part);
    done += part;
  }
}

}  // namespace

void refuse_sizes(std::uint64_t local, std::uint64_t global, Call call) {
  refuse(call, std::to_string(local) + " local elements for " + std::to_string(global) +
                   " global ones; give as many on both sides");
}

void gather_list(std::byte* packed, const std::byte* base, const Indices& indices,
                 std::uint64_t scale, std::size_t element) {
  for_each_listed(indices, scale, element, [&](std::size_t i, std::uint64_t at, auto size) {
    std::memcpy(packed + i * size, base + at, size);
  });
}

void scatter_list(std::byte* base, const Indices& indices, std::uint64_t scale,
                  const std::byte* packed, std::size_t element) {
  for_each_listed(indices, scale, element, [&](std::size_t i, std::uint64_t at, auto size) {
    std::memcpy(base + at, packed + i * size, size);
  });
}

void LocalElements::gather(std::byte* to, std::uint64_t at, std::size_t bytes) const {
  if (order == nullptr) return am::gather(to, first, shape, at, bytes);
  if (at % element == 0 && bytes % element == 0) {
    return gather_list(to, first, {order + at / element, bytes / element, true}, element, element);
  }
  for_each_part(*this, at, bytes, [&](std::size_t done, std::uint64_t in, std::size_t part) {
    std::memcpy(to + done, first + in, part);
  });
}

void LocalElements::scatter(std::uint64_t at, const std::byte* from, std::size_t bytes) const {
  if (order == nullptr) return am::scatter(first, shape, at, from, bytes);
  if (at % element == 0 && bytes % element == 0) {
    return scatter_list(first, {order + at / element, bytes / element, true}, element, from,
                        element);
  }
  for_each_part(*this, at, bytes, [&](std::size_t done, std::uint64_t in, std::size_t part) {
    std::memcpy(first + in, from + done, part);
  });
}

void PieceSender::caught(std::uint32_t proc) {
  if (!some_sent_ || world().router().is_dead(proc)) throw;
  if (!thrown_) thrown_ = std::current_exception();
}

PiecesStart::PiecesStart(std::uint32_t proc, std::uint64_t bytes, const LocalElements& local,
                         std::size_t listed)
    : start_(world().tickets(), make_pending(proc, bytes, local, listed)) {}

void on_piece_got(am::Reply, std::span<const std::byte> bytes, std::uint32_t ticket,
                  std::uint64_t at) {
  Operation& operation = operation_of(ticket);
  operation.local.scatter(at, bytes.data(), bytes.size());
  account(operation, ticket, bytes.size());
}

void on_piece_put(am::Reply, std::uint32_t ticket, std::uint32_t bytes) {
  account(operation_of(ticket), ticket, bytes);
}

void add_piece_handlers(am::Endpoint& endpoint) {
  endpoint.add_handlers<&on_piece_got, &on_piece_put>();
  add_strided_handlers(endpoint);
  add_indexed_handlers(endpoint);
}

}  // namespace splitc::detail
