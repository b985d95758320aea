#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <span>
#include <type_traits>

#include "am/types/types.h"
#include "splitc/array/for_each.h"
#include "splitc/collective/collective.h"

// Reductions of all elements of an array, in one or two dimensions and of any layout: first over
// the own elements of each process, then over the processes.
//
//   const double total = all_sum(a);
//   const double norm = std::sqrt(all_sum(a, [](double x) { return x * x; }));
//   const int least = all_min(a), most = all_max(a);
//   const bool all = all_reduce_elements(a, true, std::logical_and(), [](int x) { return x > 0; });
//
// `project`, applied to each element, gives what is reduced; left out, it is the element. The
// result has its type (a sum of chars is a char), and that is trivially copyable.
//
// Collective: every process gets the result. Begins with no barrier: each process reads what it
// owns itself, so what others have written there has to be complete, as by a barrier. Costs a loop
// over the own elements, which is vectorised where the type allows it, and one all_reduce().
//
// Deterministic: for the same values, layout and number of processes the result has the same bits
// in every process and every run, also for floating-point numbers. all_sum() adds every eighth
// element, and then these eight sums; all others combine the own elements in the order in which
// they lie in memory, then those of the processes in the order of their ranks.
//
// Errors are those of all_reduce (splitc/collective/collective.h); all_min and all_max throw Error,
// in every process, for an array of no elements.

namespace splitc {
namespace detail {

[[noreturn]] void refuse_empty(Call call);

// What a process has of a reduction: nothing, if it owns no elements.
template <class R>
struct Partial {
  R value;
  bool there;
};

template <class Array, class Project>
using projected = std::remove_cvref_t<
    std::invoke_result_t<Project&, const typename std::remove_cvref_t<Array>::value_type&>>;

// The sum of project(x) of a span, in eight lanes that do not wait for one another.
template <class R, class T, class Project>
R sum_of(std::span<T> values, Project& project) {
  constexpr std::size_t kLanes = 8;
  std::array<R, kLanes> lanes{};
  const std::size_t whole = values.size() / kLanes * kLanes;
  const T* const x = values.data();
  for (std::size_t i = 0; i < whole; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      lanes[lane] = static_cast<R>(lanes[lane] + project(x[i + lane]));
    }
  }
  R sum{};
  for (const R lane : lanes) sum = static_cast<R>(sum + lane);
  for (std::size_t i = whole; i < values.size(); ++i) sum = static_cast<R>(sum + project(x[i]));
  return sum;
}

// op over project(x) of the own elements of an array.
template <class R, class Array, class Op, class Project>
Partial<R> reduce_mine(const Array& array, Op& op, Project& project) {
  Partial<R> result{};
  for_each_piece(array, [&](auto values) {
    if (values.empty()) return;
    R value = result.there ? static_cast<R>(op(result.value, project(values[0])))
                           : static_cast<R>(project(values[0]));
    for (const auto& x : values.subspan(1)) value = static_cast<R>(op(value, project(x)));
    result = {value, true};
  });
  return result;
}

// Reduces the elements of all processes.
template <class R, class Array, class Op, class Project>
Partial<R> reduce_all(const Array& array, Op& op, Project& project, Call call) {
  return to_all(of_job(GroupCall(call)), reduce_mine<R>(array, op, project),
                [&op](const Partial<R>& a, const Partial<R>& b) {
                  if (!a.there) return b;
                  if (!b.there) return a;
                  return Partial<R>{static_cast<R>(op(a.value, b.value)), true};
                });
}
template <class R, class Array, class Op, class Project>
R reduce_some(const Array& array, Op op, Project& project, Call call) {
  const Partial<R> result = reduce_all<R>(array, op, project, call);
  if (!result.there) refuse_empty(call);
  return result.value;
}

}  // namespace detail

// The sum of all elements; a value-initialised one, 0, if there are none.
template <spread Array, class Project = std::identity>
auto all_sum(const Array& array, Project project = {}, am::Here where = {}) {
  using R = detail::projected<Array, Project>;
  R sum{};
  detail::for_each_piece(
      array, [&](auto values) { sum = static_cast<R>(sum + detail::sum_of<R>(values, project)); });
  return detail::to_all(detail::of_job({"all_sum", where}), sum, std::plus());
}

// The least and the greatest, by <. A NaN is neither less nor greater than anything, so it may be
// the result: what comes of one depends on where it stands.
template <spread Array, class Project = std::identity>
auto all_min(const Array& array, Project project = {}, am::Here where = {}) {
  return detail::reduce_some<detail::projected<Array, Project>>(array, minimum(), project,
                                                                {"all_min", where});
}
template <spread Array, class Project = std::identity>
auto all_max(const Array& array, Project project = {}, am::Here where = {}) {
  return detail::reduce_some<detail::projected<Array, Project>>(array, maximum(), project,
                                                                {"all_max", where});
}

// op over all elements, op(R, R) -> R: an associative function, the same everywhere, which
// communicates nothing. Returns op(init, result), and init if there are no elements.
template <spread Array, class R, class Op, class Project = std::identity>
R all_reduce_elements(const Array& array, R init, Op op, Project project = {},
                      am::Here where = {}) {
  const detail::Partial<R> result =
      detail::reduce_all<R>(array, op, project, {"all_reduce_elements", where});
  return result.there ? static_cast<R>(op(init, result.value)) : init;
}

}  // namespace splitc
