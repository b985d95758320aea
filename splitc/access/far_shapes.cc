#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "am/core/endpoint.h"
#include "am/core/far/remote_memory.h"
#include "am/core/token.h"
#include "am/route/router.h"
#include "am/types/types.h"
#include "splitc/access/shapes.h"
#include "splitc/world/remote.h"
#include "splitc/world/tickets.h"
#include "splitc/world/world.h"

namespace splitc::detail {
namespace {

using Packed = std::array<std::byte, am::max_medium()>;

// What a message moves. If its shape has a list, the payload begins with the numbers of the rows
// that it needs; the last `bytes` bytes of what is written are these.
struct Part {
  am::Strided strided;
  std::uint64_t offset;  // of the shape in the receiver's segment
  std::uint64_t at;      // byte of the operation's order
  std::uint32_t bytes;
  std::uint32_t index_bytes;  // 0: no list

  std::byte* first() const { return world().router().segment() + offset; }
  Shape shape(std::span<const std::byte> payload) const noexcept {
    if (index_bytes == 0) return {strided, {}};
    return {strided, {payload.data(), payload.size() / index_bytes, index_bytes == 8}};
  }
  // Where the part begins in that.
  std::uint64_t begin() const noexcept { return index_bytes == 0 ? at : at % strided.run; }
};

// What the ticket of an operation keeps, and behind it the list of `local`.
struct Operation {
  std::uint64_t left;  // bytes that have not been answered
  LocalShape local;
};
static_assert(std::is_trivially_destructible_v<Operation>);
static_assert(sizeof(Operation) % alignof(std::uint64_t) == 0);

Tickets::Pending pending(std::span<const FarShape> far, const LocalShape& local = {}) {
  const Indices& list = local.shape.list;
  auto kept = std::make_unique_for_overwrite<std::byte[]>(sizeof(Operation) + list.bytes());
  auto* const operation = new (kept.get()) Operation{0, local};
  for (const FarShape& one : far) operation->left += one.shape.bytes();
  if (local.shape.is_listed()) {
    operation->local.shape.list.first =
        std::memcpy(kept.get() + sizeof(Operation), list.first, list.bytes());
  }
  const bool of_one = far.front().proc == far.back().proc;
  return {.proc = of_one ? far.front().proc : am::kNobody,
          .result = operation,
          .kept = std::move(kept)};
}

Operation& operation_of(std::uint32_t ticket) {
  return *static_cast<Operation*>(context().tickets.result_of(ticket));
}

void on_part_put(am::Reply, std::uint32_t ticket, std::uint32_t bytes) {
  Operation& operation = operation_of(ticket);
  operation.left -= bytes;
  if (operation.left == 0) context().tickets.answered(ticket, nullptr);
}

void on_part_got(am::Reply reply, std::span<const std::byte> bytes, std::uint32_t ticket,
                 std::uint64_t at) {
  const LocalShape& local = operation_of(ticket).local;
  local.shape.scatter(local.first, at, bytes.data(), bytes.size());
  on_part_put(reply, ticket, static_cast<std::uint32_t>(bytes.size()));
}

void on_get_listed(am::Request message, std::span<const std::byte> rows, Part part,
                   std::uint32_t ticket) {
  const Shape shape = part.shape(rows);
  Packed packed;
  const std::byte* from = packed.data();
  if (shape.is_contiguous()) {
    from = part.first() + part.at;
  } else {
    shape.gather(packed.data(), part.first(), part.begin(), part.bytes);
  }
  std::move(message).reply_medium<&on_part_got>(std::span(from, part.bytes), ticket, part.at);
}
void on_get(am::Request message, Part part, std::uint32_t ticket) {
  on_get_listed(std::move(message), {}, part, ticket);
}

void scatter(const Part& part, std::span<const std::byte> payload) {
  part.shape(payload).scatter(part.first(), part.begin(), payload.last(part.bytes).data(),
                              part.bytes);
}
void on_put(am::Request message, std::span<const std::byte> payload, Part part,
            std::uint32_t ticket) {
  scatter(part, payload);
  std::move(message).reply<&on_part_put>(ticket, part.bytes);
}
void on_store(am::OneWay, std::span<const std::byte> payload, Part part, std::uint64_t counter) {
  scatter(part, payload);
  context().remote->count(counter, part.bytes);
}

// How many bytes of a shape a message takes, and of a get its answer: whole rows, if none is
// longer. Else they belong to two rows at most.
std::uint64_t most_of(const FarShape& far, bool written) noexcept {
  const std::uint64_t run = far.shape.strided.run;
  const std::uint64_t row =
      written ? run + far.index_bytes : std::max<std::uint64_t>(run, far.index_bytes);
  if (row <= am::max_medium()) return am::max_medium() / row * run;
  return am::max_medium() - 2 * far.index_bytes;
}

// Writes the numbers of the rows that some bytes belong to; returns how many bytes these take.
std::size_t pack_rows(std::byte* to, const FarShape& far, std::uint64_t at, std::uint64_t bytes) {
  if (far.index_bytes == 0) return 0;
  const std::uint64_t first = at / far.shape.strided.run;
  const std::size_t count = (at + bytes - 1) / far.shape.strided.run + 1 - first;
  far.shape.list.visit([&](auto index) {
    const auto pack_as = [&]<class Index>(Index number) {
      for (std::size_t i = 0; i < count; ++i) {
        number = static_cast<Index>(index(first + i));
        std::memcpy(to + i * sizeof number, &number, sizeof number);
      }
    };
    if (far.index_bytes == 8) return pack_as(std::uint64_t());
    pack_as(std::uint32_t());
  });
  return count * far.index_bytes;
}

// For each part of each shape: calls send_part(process, part, payload), which sends one, or throws
// and has not. What is `written`, unless it is nullptr, is in the payloads. Once one has been sent
// the others follow whatever handlers throw while this waits for credits, unless the process has
// died, as their receivers, or the local memory, wait for all of them: returns what they threw.
template <class SendPart>
std::exception_ptr send_parts(std::span<const FarShape> all, const LocalShape* written,
                              SendPart&& send_part) {
  Packed packed;
  bool some_sent = false;
  std::exception_ptr thrown;
  for (const FarShape& far : all) {
    const std::uint64_t most = most_of(far, written != nullptr), end = far.shape.bytes();
    for (std::uint64_t at = 0; at < end;) {
      const Part part{far.shape.strided, far.offset, far.at + at,
                      static_cast<std::uint32_t>(std::min(most, end - at)), far.index_bytes};
      std::size_t size = pack_rows(packed.data(), far, at, part.bytes);
      if (written != nullptr) {
        written->shape.gather(packed.data() + size, written->first, part.at, part.bytes);
        size += part.bytes;
      }
      try {
        const am::RemoteMemory::MoreToCome more(*context().remote, end - at > most);
        send_part(far.proc, part, std::span<const std::byte>(packed).first(size));
        some_sent = true;
        at += part.bytes;
      } catch (...) {
        if (!some_sent || world().router().is_dead(far.proc)) throw;
        if (!thrown) thrown = std::current_exception();
      }
    }
  }
  return thrown;
}

}  // namespace

handle far_get(const LocalShape& local, std::span<const FarShape> from, Call call) {
  am::Endpoint& endpoint = context().endpoint;
  Tickets::Start start(context().tickets, pending(from, local));
  const auto thrown =
      send_parts(from, nullptr, [&](std::uint32_t proc, const Part& part, auto rows) {
        const am::To to(proc, call.where);
        if (rows.empty()) return endpoint.request<&on_get>(to, part, start.ticket());
        endpoint.request_medium<&on_get_listed>(to, rows, part, start.ticket());
      });
  const handle h = start.started();
  if (thrown) std::rethrow_exception(thrown);
  return h;
}

handle far_put(std::span<const FarShape> to, const LocalShape& local, Call call) {
  am::Endpoint& endpoint = context().endpoint;
  Tickets::Start start(context().tickets, pending(to));
  const auto thrown =
      send_parts(to, &local, [&](std::uint32_t proc, const Part& part, auto payload) {
        endpoint.request_medium<&on_put>({proc, call.where}, payload, part, start.ticket());
      });
  const handle h = start.started();
  if (thrown) std::rethrow_exception(thrown);
  return h;
}

void far_store(std::span<const FarShape> to, const LocalShape& local, store_counter& counter,
               Call call) {
  am::Endpoint& endpoint = context().endpoint;
  const auto thrown =
      send_parts(to, &local, [&](std::uint32_t proc, const Part& part, auto payload) {
        endpoint.request_medium<&on_store>({proc, call.where}, payload, part, counter.place());
        counter.count_sent(part.bytes);
      });
  if (thrown) std::rethrow_exception(thrown);
}

void add_shape_handlers(am::Endpoint& endpoint) {
  endpoint.add_handlers<&on_part_got, &on_part_put, &on_get, &on_get_listed, &on_put, &on_store>();
}

}  // namespace splitc::detail
