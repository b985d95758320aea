#include "splitc/access/far_strided.h"

#include <algorithm>
#include <array>
#include <span>

#include "am/core/endpoint.h"
#include "am/core/far/remote_memory.h"
#include "am/core/token.h"
#include "am/route/router.h"
#include "am/types/types.h"
#include "splitc/access/pieces.h"
#include "splitc/world/remote.h"
#include "splitc/world/world.h"

namespace splitc::detail {
namespace {

using Packed = std::array<std::byte, am::max_medium()>;

// Part of a shape of the receiver, from its segment's beginning on.
struct Part {
  am::Strided shape;
  std::uint64_t offset;
  std::uint64_t at;  // byte of the shape's order
};
struct GetPart {
  Part part;
  std::uint64_t to;  // byte of the order at its receiver
  std::uint32_t ticket;
  std::uint32_t bytes;
};
static_assert(sizeof(GetPart) <= am::kMaxArgumentBytes);

std::byte* first_of(const Part& part) { return world().router().segment() + part.offset; }

void on_get_part(am::Request message, GetPart get) {
  const Part& part = get.part;
  const std::byte* from = first_of(part);
  Packed packed;
  if (part.shape.is_contiguous()) {
    from += part.at;
  } else {
    am::gather(packed.data(), from, part.shape, part.at, get.bytes);
    from = packed.data();
  }
  std::move(message).reply_medium<&on_piece_got>(std::span(from, get.bytes), get.ticket, get.to);
}

void on_put_part(am::Request message, std::span<const std::byte> bytes, Part part,
                 std::uint32_t ticket) {
  am::scatter(first_of(part), part.shape, part.at, bytes.data(), bytes.size());
  std::move(message).reply<&on_piece_put>(ticket, static_cast<std::uint32_t>(bytes.size()));
}

void on_store_part(am::OneWay, std::span<const std::byte> bytes, Part part, std::uint64_t counter) {
  am::scatter(first_of(part), part.shape, part.at, bytes.data(), bytes.size());
  world().remote().count(counter, bytes.size());
}

// Calls piece(at, bytes, whether more follow) for all pieces of a shape. They have whole runs,
// where a run is no longer than a piece.
template <class Piece>
void in_pieces(const am::Strided& shape, Piece&& piece) {
  const std::uint64_t most =
      shape.run < am::max_medium() ? am::max_medium() / shape.run * shape.run : am::max_medium();
  const std::uint64_t all = shape.bytes();
  for (std::uint64_t at = 0; at < all; at += most) {
    piece(at, static_cast<std::uint32_t>(std::min(most, all - at)), all - at > most);
  }
}

// Calls send(packed bytes, part) for all pieces of what is written.
template <class Send>
void in_packed_pieces(PieceSender& sender, const FarShape& to, const LocalElements& local,
                      std::uint64_t first, Send&& send) {
  Packed packed;
  in_pieces(to.shape, [&](std::uint64_t at, std::uint32_t bytes, bool more) {
    local.gather(packed.data(), first + at, bytes);
    const Part part{to.shape, to.offset, at};
    sender.send(to.proc, more,
                [&] { send(std::span<const std::byte>(packed).first(bytes), part); });
  });
}

FarShape far_shape(const GlobalShape& all) {
  return {proc_of(all.bits), all.bits & kOffsetMask, all.shape};
}

// The base of its process, after all checks; far_base(): it is on another node.
std::byte* checked_base(const GlobalShape& all, Call call) {
  check_extent(all.bits, all.shape.extent(), all.shape.bytes(), all.alignment, call);
  return mapping_of(all.bits);
}

}  // namespace

void check_extent(std::uint64_t bits, std::uint64_t bytes, std::uint64_t moved,
                  std::size_t alignment, Call call) {
  if constexpr (am::kChecked)
    check_object(proc_of(bits), bits & kOffsetMask, bytes, alignment, call);
  if (mapping_of(bits) == far_base()) return check_far_extent(bits, bytes, moved, call);
  check_in_segment(bits, bytes, call);
  note_near(bits, moved, call);
}

void send_get_pieces(PiecesStart& start, const FarShape& from, std::uint64_t first, Call call) {
  am::Endpoint& endpoint = world().endpoint();
  in_pieces(from.shape, [&](std::uint64_t at, std::uint32_t bytes, bool more) {
    const GetPart get{{from.shape, from.offset, at}, first + at, start.ticket(), bytes};
    start.sender().send(from.proc, more, [&] {
      endpoint.request<&on_get_part>({from.proc, call.where}, get);
    });
  });
}

void send_put_pieces(PiecesStart& start, const FarShape& to, const LocalElements& local,
                     std::uint64_t first, Call call) {
  am::Endpoint& endpoint = world().endpoint();
  in_packed_pieces(start.sender(), to, local, first, [&](auto bytes, const Part& part) {
    endpoint.request_medium<&on_put_part>({to.proc, call.where}, bytes, part, start.ticket());
  });
}

void send_store_pieces(PieceSender& sender, const FarShape& to, const LocalElements& local,
                       std::uint64_t first, store_counter& counter, Call call) {
  am::Endpoint& endpoint = world().endpoint();
  in_packed_pieces(sender, to, local, first, [&](auto bytes, const Part& part) {
    endpoint.request_medium<&on_store_part>({to.proc, call.where}, bytes, part, counter.place());
    counter.count_sent(bytes.size());
  });
}

handle get_shape(const LocalElements& local, const GlobalShape& from, Call call) {
  if (from.shape.bytes() == 0) return {};
  const std::byte* const base = checked_base(from, call);
  if (base != far_base()) [[likely]] {
    am::copy(local.first, local.shape, mapped(base, from.bits), from.shape);
    return {};
  }
  PiecesStart start(proc_of(from.bits), from.shape.bytes(), local);
  send_get_pieces(start, far_shape(from), 0, call);
  return start.started();
}

handle put_shape(const GlobalShape& to, const LocalElements& local, Call call) {
  if (to.shape.bytes() == 0) return {};
  const std::byte* const base = checked_base(to, call);
  if (base != far_base()) [[likely]] {
    am::copy(mapped(base, to.bits), to.shape, local.first, local.shape);
    return {};
  }
  PiecesStart start(proc_of(to.bits), to.shape.bytes());
  send_put_pieces(start, far_shape(to), local, 0, call);
  return start.started();
}

void store_shape(const GlobalShape& to, const LocalElements& local, store_counter& counter,
                 Call call) {
  if (to.shape.bytes() == 0) return;
  std::byte* const base = checked_base(to, call);
  if (base != far_base()) [[likely]] {
    am::copy(mapped(base, to.bits), to.shape, local.first, local.shape);
    counter.count(base, to.bits, to.shape.bytes());
    return;
  }
  PieceSender sender;
  send_store_pieces(sender, far_shape(to), local, 0, counter, call);
  sender.finish();
}

void add_strided_handlers(am::Endpoint& endpoint) {
  endpoint.add_handlers<&on_get_part, &on_put_part, &on_store_part>();
}

}  // namespace splitc::detail
