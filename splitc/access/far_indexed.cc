#include "splitc/access/far_indexed.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <vector>

#include "am/core/endpoint.h"
#include "am/core/far/remote_memory.h"
#include "am/core/token.h"
#include "am/route/activity.h"
#include "am/route/router.h"
#include "am/types/types.h"
#include "splitc/access/far_strided.h"
#include "splitc/access/pieces.h"
#include "splitc/world/remote.h"
#include "splitc/world/world.h"

namespace splitc::detail {
namespace {

using Packed = std::array<std::byte, am::max_medium()>;

// Elements of the receiver at offset + index * scale of its segment. Their indices are the payload
// of the message, and behind them, if they are to be written, the elements.
struct Listed {
  std::uint64_t offset;
  std::uint64_t scale;
  std::uint32_t count;
  std::uint32_t element;
  std::uint32_t wide;

  Indices indices(std::span<const std::byte> payload) const noexcept {
    return {payload.data(), count, wide != 0};
  }
  std::size_t index_bytes() const noexcept { return count * (wide != 0 ? 8u : 4u); }
  std::byte* base() const { return world().router().segment() + offset; }
};

void on_get_listed(am::Request message, std::span<const std::byte> payload, Listed listed,
                   std::uint32_t ticket, std::uint64_t to) {
  Packed packed;
  gather_list(packed.data(), listed.base(), listed.indices(payload), listed.scale, listed.element);
  std::move(message).reply_medium<&on_piece_got>(
      std::span(packed).first(std::size_t{listed.count} * listed.element), ticket, to);
}

// Returns how many bytes.
std::size_t write_listed(const Listed& listed, std::span<const std::byte> payload) {
  scatter_list(listed.base(), listed.indices(payload), listed.scale,
               payload.data() + listed.index_bytes(), listed.element);
  return std::size_t{listed.count} * listed.element;
}

void on_put_listed(am::Request message, std::span<const std::byte> payload, Listed listed,
                   std::uint32_t ticket) {
  const std::size_t bytes = write_listed(listed, payload);
  std::move(message).reply<&on_piece_put>(ticket, static_cast<std::uint32_t>(bytes));
}

void on_store_listed(am::OneWay, std::span<const std::byte> payload, Listed listed,
                     std::uint64_t counter) {
  world().remote().count(counter, write_listed(listed, payload));
}

std::uint64_t index_at(const Indices& indices, std::size_t i) noexcept {
  return indices.wide ? static_cast<const std::uint64_t*>(indices.first)[i]
                      : static_cast<const std::uint32_t*>(indices.first)[i];
}

// Calls f(span of them) as what they are.
template <class F>
auto with_indices(const Indices& indices, F&& f) {
  if (indices.wide) {
    return f(std::span(static_cast<const std::uint64_t*>(indices.first), indices.count));
  }
  return f(std::span(static_cast<const std::uint32_t*>(indices.first), indices.count));
}

// Of a list that is not empty.
std::uint64_t largest(const Indices& indices) {
  return with_indices(indices, [](auto all) {
    auto most = all[0];
    for (const auto index : all) most = std::max(most, index);
    return std::uint64_t{most};
  });
}

// A list of one process of another node, as its messages say it.
struct FarList {
  std::uint32_t proc;
  std::uint64_t offset;
  std::uint64_t scale;
  Indices indices;
  std::size_t element;
  bool wide;            // whether some index needs 8 bytes
  std::uint64_t first;  // number of its first element in the order of `local`

  std::size_t index_bytes() const noexcept { return wide ? 8 : 4; }
  FarShape shape_of(std::size_t i) const {
    return {proc, offset + index_at(indices, i) * scale, am::Strided::contiguous(element)};
  }
  std::uint64_t place_of(std::size_t i) const noexcept { return (first + i) * element; }
};

// Writes some of its indices as they travel.
void pack_indices(std::byte* to, const FarList& list, std::size_t first, std::size_t count) {
  with_indices(list.indices, [&](auto all) {
    const auto pack_as = [&]<class Index>(Index index) {
      for (std::size_t i = 0; i < count; ++i) {
        index = static_cast<Index>(all[first + i]);
        std::memcpy(to + i * sizeof index, &index, sizeof index);
      }
    };
    if (list.wide) return pack_as(std::uint64_t());
    pack_as(std::uint32_t());
  });
}

// Calls piece(first, listed, whether more follow) for all pieces of a list, of `most` elements
// each, whose indices are in `packed` then.
template <class Piece>
void in_pieces(const FarList& list, std::size_t most, Packed& packed, Piece&& piece) {
  for (std::size_t at = 0; at < list.indices.count; at += most) {
    const std::size_t count = std::min(most, list.indices.count - at);
    pack_indices(packed.data(), list, at, count);
    piece(at,
          Listed{list.offset, list.scale, static_cast<std::uint32_t>(count),
                 static_cast<std::uint32_t>(list.element), list.wide ? 1u : 0u},
          list.indices.count - at > most);
  }
}

// How many elements a message takes, and of a get its answer. 0: it does not take one.
std::size_t most_asked(const FarList& list) noexcept {
  return am::max_medium() / std::max(list.element, list.index_bytes());
}
std::size_t most_written(const FarList& list) noexcept {
  if (list.element > am::max_medium()) return 0;
  return am::max_medium() / (list.element + list.index_bytes());
}

void send_get_list(PiecesStart& start, const FarList& from, Call call) {
  const std::size_t most = most_asked(from);
  if (most == 0) {
    for (std::size_t i = 0; i < from.indices.count; ++i) {
      send_get_pieces(start, from.shape_of(i), from.place_of(i), call);
    }
    return;
  }
  am::Endpoint& endpoint = world().endpoint();
  Packed packed;
  in_pieces(from, most, packed, [&](std::size_t at, const Listed& listed, bool more) {
    start.sender().send(from.proc, more, [&] {
      endpoint.request_medium<&on_get_listed>({from.proc, call.where},
                                              std::span(packed).first(listed.index_bytes()), listed,
                                              start.ticket(), from.place_of(at));
    });
  });
}

// Calls send(payload, listed) for all pieces of what is written.
template <class Send>
void in_packed_pieces(PieceSender& sender, const FarList& to, const LocalElements& local,
                      Send&& send) {
  Packed packed;
  in_pieces(to, most_written(to), packed, [&](std::size_t at, const Listed& listed, bool more) {
    const std::size_t before = listed.index_bytes();
    const std::size_t bytes = listed.count * to.element;
    local.gather(packed.data() + before, to.place_of(at), bytes);
    sender.send(to.proc, more,
                [&] { send(std::span<const std::byte>(packed).first(before + bytes), listed); });
  });
}

void send_put_list(PiecesStart& start, const FarList& to, const LocalElements& local, Call call) {
  if (most_written(to) == 0) {
    for (std::size_t i = 0; i < to.indices.count; ++i) {
      send_put_pieces(start, to.shape_of(i), local, to.place_of(i), call);
    }
    return;
  }
  am::Endpoint& endpoint = world().endpoint();
  in_packed_pieces(start.sender(), to, local, [&](auto payload, const Listed& listed) {
    endpoint.request_medium<&on_put_listed>({to.proc, call.where}, payload, listed, start.ticket());
  });
}

void send_store_list(PieceSender& sender, const FarList& to, const LocalElements& local,
                     store_counter& counter, Call call) {
  if (most_written(to) == 0) {
    for (std::size_t i = 0; i < to.indices.count; ++i) {
      send_store_pieces(sender, to.shape_of(i), local, to.place_of(i), counter, call);
    }
    return;
  }
  am::Endpoint& endpoint = world().endpoint();
  in_packed_pieces(sender, to, local, [&](auto payload, const Listed& listed) {
    endpoint.request_medium<&on_store_listed>({to.proc, call.where}, payload, listed,
                                              counter.place());
    counter.count_sent(listed.count * to.element);
  });
}

// Elements one after the other.
LocalElements row(const std::byte* first, std::uint64_t bytes) {
  return {const_cast<std::byte*>(first), am::Strided::contiguous(bytes)};
}

// A list that may be accessed, after all checks.
struct Checked {
  std::byte* base;  // of its process; far_base(): it is on another node
  std::uint64_t largest;
  std::uint64_t bytes;  // of all elements

  FarList far(const GlobalList& list) const {
    return {proc_of(list.bits),
            list.bits & kOffsetMask,
            list.element,
            list.indices,
            list.element,
            largest > std::numeric_limits<std::uint32_t>::max(),
            0};
  }
};

Checked check_list(const GlobalList& list, Call call) {
  const std::uint64_t most = largest(list.indices);
  const std::uint64_t extent = most < std::numeric_limits<std::uint64_t>::max()
                                   ? product(most + 1, "elements", list.element, "bytes", call)
                                   : product(most, "elements", 2, "bytes", call);  // which throws
  const std::uint64_t bytes = list.indices.count * list.element;
  check_extent(list.bits, extent, bytes, list.alignment, call);
  return {mapping_of(list.bits), most, bytes};
}

// Calls f(list of one process, elements of it) for each process; `elements` are ordered by process.
template <class F>
void for_each_process(std::span<const FarElement> elements, std::size_t element, F&& f) {
  std::vector<std::uint64_t> offsets(elements.size());
  for (std::size_t i = 0; i < elements.size(); ++i) offsets[i] = elements[i].bits & kOffsetMask;
  const bool wide = place.segment_bytes > std::numeric_limits<std::uint32_t>::max();
  for (std::size_t at = 0; at < elements.size();) {
    const std::uint32_t proc = proc_of(elements[at].bits);
    std::size_t end = at + 1;
    while (end < elements.size() && proc_of(elements[end].bits) == proc) ++end;
    f(FarList{proc, 0, 1, {offsets.data() + at, end - at, true}, element, wide, at});
    at = end;
  }
}

// Orders elements by process, and otherwise as they are; returns their numbers in that order.
std::vector<std::uint64_t> by_process(std::span<FarElement> elements) {
  std::ranges::stable_sort(elements, {}, [](const FarElement& e) { return proc_of(e.bits); });
  std::vector<std::uint64_t> order(elements.size());
  std::ranges::transform(elements, order.begin(), &FarElement::number);
  return order;
}
// The process that all are of; am::kNobody if they are of several.
std::uint32_t only_process(std::span<const FarElement> ordered) noexcept {
  const std::uint32_t proc = proc_of(ordered.front().bits);
  return proc == proc_of(ordered.back().bits) ? proc : am::kNobody;
}

LocalElements listed(const std::byte* local, const std::vector<std::uint64_t>& order,
                     std::size_t element) {
  return {const_cast<std::byte*>(local), {}, order.data(), element};
}

}  // namespace

handle get_list(std::byte* local, const GlobalList& from, Call call) {
  if (from.indices.count == 0) return {};
  const Checked checked = check_list(from, call);
  if (checked.base != far_base()) [[likely]] {
    gather_list(local, mapped(checked.base, from.bits), from.indices, from.element, from.element);
    return {};
  }
  PiecesStart start(proc_of(from.bits), checked.bytes, row(local, checked.bytes));
  send_get_list(start, checked.far(from), call);
  return start.started();
}

handle put_list(const GlobalList& to, const std::byte* local, Call call) {
  if (to.indices.count == 0) return {};
  const Checked checked = check_list(to, call);
  if (checked.base != far_base()) [[likely]] {
    scatter_list(mapped(checked.base, to.bits), to.indices, to.element, local, to.element);
    return {};
  }
  PiecesStart start(proc_of(to.bits), checked.bytes);
  send_put_list(start, checked.far(to), row(local, checked.bytes), call);
  return start.started();
}

void store_list(const GlobalList& to, const std::byte* local, store_counter& counter, Call call) {
  if (to.indices.count == 0) return;
  const Checked checked = check_list(to, call);
  if (checked.base != far_base()) [[likely]] {
    scatter_list(mapped(checked.base, to.bits), to.indices, to.element, local, to.element);
    counter.count(checked.base, to.bits, checked.bytes);
    return;
  }
  PieceSender sender;
  send_store_list(sender, checked.far(to), row(local, checked.bytes), counter, call);
  sender.finish();
}

void check_each(std::span<const FarElement> far, std::size_t element, Call call) {
  for (const FarElement& one : far) check_far(one.bits, element, call);
}

handle get_each(std::byte* local, std::span<FarElement> from, std::size_t element, Call call) {
  const auto order = by_process(from);
  PiecesStart start(only_process(from), from.size() * element, listed(local, order, element),
                    order.size());
  for_each_process(from, element, [&](const FarList& list) { send_get_list(start, list, call); });
  return start.started();
}

handle put_each(std::span<FarElement> to, const std::byte* local, std::size_t element, Call call) {
  const auto order = by_process(to);
  PiecesStart start(only_process(to), to.size() * element);
  for_each_process(to, element, [&](const FarList& list) {
    send_put_list(start, list, listed(local, order, element), call);
  });
  return start.started();
}

void store_each(std::span<FarElement> to, const std::byte* local, std::size_t element,
                store_counter& counter, Call call) {
  const auto order = by_process(to);
  PieceSender sender;
  for_each_process(to, element, [&](const FarList& list) {
    send_store_list(sender, list, listed(local, order, element), counter, call);
  });
  sender.finish();
}

void add_indexed_handlers(am::Endpoint& endpoint) {
  endpoint.add_handlers<&on_get_listed, &on_put_listed, &on_store_listed>();
}

}  // namespace splitc::detail
