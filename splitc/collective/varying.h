#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "am/types/types.h"
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

template <class T>
GroupVarying varying(const OfGroup& of, std::span<T> to, std::span<const std::size_t> counts) {
  check_plain<T>();
  return {of, std::as_bytes(to), counts, sizeof(T), type_of<std::remove_const_t<T>>()};
}
// Moves the parts to `from`, and says how many elements they have.
template <class T, class From>
std::size_t varying_into(const OfGroup& of, std::span<T> to, std::span<const std::size_t> counts,
                         std::span<From> from, std::span<std::size_t> from_counts) {
  check_apart(std::as_bytes(to), std::as_bytes(from), false, of.call);
  check_counts_of(from_counts, of.size(), of.call);
  const GroupVarying parts = varying(of, to, counts);
  const auto begin = parts.begin();
  const std::size_t n = begin.back() / sizeof(T);
  for (std::size_t i = 0; i < from_counts.size(); ++i) {
    from_counts[i] = (begin[i + 1] - begin[i]) / sizeof(T);
  }
  if (n <= from.size()) {
    parts.move(reinterpret_cast<std::byte*>(from.data()));
    return n;
  }
  // The others have no part in this, and may go on.
  std::vector<std::byte> nowhere(begin.back());
  parts.move(nowhere.data());
  refuse_room(from.size(), n, of.call);
}

}  // namespace detail

// The parts of all_to_all_varying(): what each process has sent to this one.
template <class T>
class received_parts {
 public:
  // By the library.
  explicit received_parts(const detail::GroupVarying& varying)
      : all_(varying.begin().back() / sizeof(T)),
        begin_(varying.begin().begin(), varying.begin().end()) {
    for (std::size_t& at : begin_) at /= sizeof(T);
    varying.move(reinterpret_cast<std::byte*>(all_.data()));
  }

  // The part of process `proc`, valid as long as this; Error if there is no such process. And all
  // parts one after the other.
  std::span<const T> of(std::uint32_t proc, am::Here where = {}) const {
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
// that the others have for this process, whose sizes it need not know. Costs an all_to_all() of 16
// bytes more, and memory for what has come.
template <elements R>
received_parts<detail::ValueOf<const R>> all_to_all_varying(const R& to,
                                                            std::span<const std::size_t> counts,
                                                            am::Here where = {}) {
  const detail::OfGroup of = detail::of_job({"all_to_all_varying", where});
  return received_parts<detail::ValueOf<const R>>(detail::varying(of, detail::span_of(to), counts));
}
// Exchanges into `from`: the parts one after the other, by process, and behind them it is left
// alone. Returns how many elements have come, and leaves in from_counts, if it is given and so of
// procs() elements, how many of each process. `from` may be larger than what comes, and by so much
// differ from that of the others. If it is smaller, this process throws Error when the call has
// ended in all, and `from` is as it was. Error if it overlaps `to`. No memory is allocated but some
// words for each process.
template <elements R>
std::size_t all_to_all_varying(const R& to, std::span<const std::size_t> counts,
                               std::span<detail::ValueOf<const R>> from,
                               std::span<std::size_t> from_counts = {}, am::Here where = {}) {
  return detail::varying_into(detail::of_job({"all_to_all_varying", where}), detail::span_of(to),
                              counts, from, from_counts);
}

}  // namespace splitc
