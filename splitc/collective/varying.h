#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "am/types/owned.h"
#include "am/types/source_location.h"
#include "splitc/collective/collective.h"
#include "splitc/world/elements.h"
#include "splitc/world/place.h"

// All to all, of parts of any size: splitc/collective/collective.h has the rules.
//
//   std::vector<Update> to = ..;                  // the part for process 0, then that for 1, ..
//   std::vector<std::size_t> counts = ..;         // how many elements each of them has
//
//   for (const Update& u : all_to_all_varying(to, counts).all()) apply(u);
//
// In a loop, into memory that is there already:
//
//   std::vector<Update> from(most);
//   for (..) {
//     const std::size_t n = all_to_all_varying(to, counts, from);
//     for (const Update& u : std::span(from).first(n)) apply(u);
//   }

namespace splitc {
namespace detail {

class Exposed;

// In two steps, so that the caller finds the memory when it knows how much comes: the sizes of the
// parts, and the parts. Both collective.
class Varying {
 public:
  // `to` consists of the part for process 0, of counts[0] elements of `element` bytes, and so on.
  // Throws Error unless they are procs(), and `to` is all of them.
  Varying(std::span<const std::byte> to, std::span<const std::size_t> counts, std::size_t element,
          std::uint64_t type, Call call);
  ~Varying();
  Varying(const Varying&) = delete;
  Varying& operator=(const Varying&) = delete;

  // Where the part of each process is to begin, in bytes, and the end of all.
  std::span<const std::size_t> begin() const noexcept { return begin_; }
  // Moves them to `from`, where there is room for them.
  void move(std::byte* from) const;

 private:
  // A part in the memory of its sender.
  struct Part {
    std::uint64_t at;
    std::uint64_t bytes;
  };

  void move_in_pieces(std::byte* from) const;

  void exchange_sizes();

  const std::span<const std::byte> to_;
  const std::uint64_t type_;
  const Call call_;
  std::vector<Part> mine_, theirs_;  // by receiver, and by sender
  am::Owned<Exposed> shown_;         // all of to_
  std::vector<std::size_t> begin_;
};

// Throws Error unless there is one of `counts` for each of `all`, or none.
void check_counts_of(std::span<const std::size_t> counts, std::size_t all, Call call);
[[noreturn]] void refuse_room(std::size_t room, std::size_t needed, Call call);

// Moves the parts of `varying` to `from`, and says how many elements they have.
template <class T, class V>
std::size_t move_into(const V& varying, std::span<T> from, std::span<std::size_t> from_counts,
                      Call call) {
  const auto begin = varying.begin();
  const std::size_t n = begin.back() / sizeof(T);
  for (std::size_t i = 0; i < from_counts.size(); ++i) {
    from_counts[i] = (begin[i + 1] - begin[i]) / sizeof(T);
  }
  if (n <= from.size()) {
    varying.move(reinterpret_cast<std::byte*>(from.data()));
    return n;
  }
  // The others have no part in this, and may go on.
  std::vector<std::byte> nowhere(begin.back());
  varying.move(nowhere.data());
  refuse_room(from.size(), n, call);
}

}  // namespace detail

// The parts of all_to_all_varying(): what each process has sent to this one.
template <class T>
class received_parts {
 public:
  // By the library.
  template <class V>
  explicit received_parts(const V& varying)
      : all_(varying.begin().back() / sizeof(T)),
        begin_(varying.begin().begin(), varying.begin().end()) {
    for (std::size_t& at : begin_) at /= sizeof(T);
    varying.move(reinterpret_cast<std::byte*>(all_.data()));
  }

  // The part of process `proc`, valid as long as this; Error if there is no such process. And all
  // parts one after the other.
  std::span<const T> of(std::uint32_t proc,
                        am::SourceLocation where = am::SourceLocation::current()) const {
    if (proc >= begin_.size() - 1) detail::refuse_proc(proc, {"received_parts::of", where});
    return std::span(all_).subspan(begin_[proc], begin_[proc + 1] - begin_[proc]);
  }
  const std::vector<T>& all() const noexcept { return all_; }

 private:
  std::vector<T> all_;
  std::vector<std::size_t> begin_;  // of each part, and the end
};

// `to` consists of the part for process 0, of counts[0] elements, then that for process 1, and so
// on. Error if `counts` are not procs(), or their sum is not the size of `to`. Returns the parts
// that the others have for this process; nobody need know their sizes. Costs, with more
// than 64 processes, an all_to_all() of 16 bytes more, and memory for what has come.
template <elements R>
received_parts<detail::ValueOf<const R>> all_to_all_varying(
    const R& to, std::span<const std::size_t> counts,
    am::SourceLocation where = am::SourceLocation::current()) {
  using T = detail::ValueOf<const R>;
  detail::check_plain<T>();
  return received_parts<T>(detail::Varying(std::as_bytes(detail::span_of(to)), counts, sizeof(T),
                                           detail::type_of<T>(), {"all_to_all_varying", where}));
}
// The same into `from`: the parts one after the other, by process, and behind them it is left
// alone. Returns how many elements have come, and leaves in from_counts, if it is given and so of
// procs() elements, how many of each process. `from` may be larger than what comes, and by so much
// differ from that of the others. If it is smaller, this process throws Error when the call has
// ended in all, and `from` is as it was. Error if it overlaps `to`. No memory is allocated but some
// words for each process.
template <elements R>
std::size_t all_to_all_varying(const R& to, std::span<const std::size_t> counts,
                               std::span<detail::ValueOf<const R>> from,
                               std::span<std::size_t> from_counts = {},
                               am::SourceLocation where = am::SourceLocation::current()) {
  using T = detail::ValueOf<const R>;
  detail::check_plain<T>();
  const detail::Call call("all_to_all_varying", where);
  const auto bytes = std::as_bytes(detail::span_of(to));
  detail::check_apart(bytes, std::as_bytes(from), false, call);
  detail::check_counts_of(from_counts, procs(), call);
  const detail::Varying parts(bytes, counts, sizeof(T), detail::type_of<T>(), call);
  return detail::move_into(parts, from, from_counts, call);
}

}  // namespace splitc
