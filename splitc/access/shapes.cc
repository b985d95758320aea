#include "splitc/access/shapes.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "splitc/world/remote.h"

namespace splitc::detail {

namespace {

// Calls f(byte from `at` on, byte in memory, bytes) for the rows of a list, of which the first and
// the last may be there in part.
template <class F>
void for_each_listed(const Shape& shape, std::uint64_t at, std::uint64_t bytes, F&& f) {
  const std::uint64_t stride = shape.strided.row_stride;
  shape.list.visit([&](auto index) {
    am::with_size(shape.strided.run, [&](auto run) {
      std::uint64_t i = at == 0 ? 0 : at / run;
      const auto place = [&] { return index(i++) * stride; };
      std::uint64_t done = 0;
      if (const std::uint64_t before = at - i * run; before != 0) {
        done = std::min(run - before, bytes);
        f(0, place() + before, done);
      }
      for (; done + run <= bytes; done += run) f(done, place(), run);
      if (done < bytes) f(done, place(), bytes - done);
    });
  });
}

}  // namespace

std::uint64_t Shape::listed_extent(Call call) const {
  const std::uint64_t largest = list.visit([&](auto index) {
    auto most = index(0);
    for (std::size_t i = 1; i < list.count; ++i) most = std::max(most, index(i));
    return std::uint64_t{most};
  });
  std::uint64_t extent = 0;
  if (__builtin_mul_overflow(largest, strided.row_stride, &extent) ||
      __builtin_add_overflow(extent, strided.run, &extent)) {
    refuse_product(largest, "elements", strided.run, "bytes", call);
  }
  return extent;
}

void Shape::gather(std::byte* to, const std::byte* first, std::uint64_t at,
                   std::uint64_t bytes) const {
  if (!is_listed()) return am::gather(to, first, strided, at, bytes);
  for_each_listed(*this, at, bytes, [&](std::uint64_t done, std::uint64_t place, auto size) {
    std::memcpy(to + done, first + place, size);
  });
}

void Shape::scatter(std::byte* first, std::uint64_t at, const std::byte* from,
                    std::uint64_t bytes) const {
  if (!is_listed()) return am::scatter(first, strided, at, from, bytes);
  for_each_listed(*this, at, bytes, [&](std::uint64_t done, std::uint64_t place, auto size) {
    std::memcpy(first + place, from + done, size);
  });
}

void copy(std::byte* to, const Shape& to_shape, const std::byte* from, const Shape& from_shape) {
  if (to_shape.is_listed()) return to_shape.scatter(to, 0, from, from_shape.bytes());
  if (from_shape.is_listed()) return from_shape.gather(to, from, 0, to_shape.bytes());
  am::copy(to, to_shape.strided, from, from_shape.strided);
}

namespace {

// Where a shape of `extent` bytes is mapped here, after all checks; nullptr: it is on another node.
std::byte* near(const GlobalShape& all, std::uint64_t extent, Call call) {
  if constexpr (am::kChecked) {
    check_object(proc_of(all.bits), all.bits & kOffsetMask, extent, all.alignment, call);
  }
  const std::byte* const base = mapping_of(all.bits);
  if (base == far_base()) return nullptr;
  check_in_segment(all.bits, extent, call);
  note_near(all.bits, all.shape.bytes(), call);
  return mapped(base, all.bits);
}

// The shape as one of another node, after all checks.
FarShape far(const GlobalShape& all, std::uint64_t extent, Call call) {
  check_far_extent(all.bits, extent, all.shape.bytes(), call);
  const am::Strided& s = all.shape.strided;
  return {proc_of(all.bits), all.bits & kOffsetMask, all.shape,
          all.shape.is_listed() ? index_bytes_up_to((extent - s.run) / s.row_stride) : 0};
}

// Elements of several processes: a shape of each, and the same order at this one.
class ByProcess {
 public:
  ByProcess(std::span<FarElement> elements, std::size_t element)
      : element_(element), offsets_(elements.size()), order_(elements.size()) {
    std::ranges::stable_sort(elements, {}, [](const FarElement& e) { return proc_of(e.bits); });
    const std::uint32_t index_bytes = index_bytes_up_to(place.segment_bytes);
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const std::uint32_t proc = proc_of(elements[i].bits);
      offsets_[i] = elements[i].bits & kOffsetMask;
      order_[i] = elements[i].number;
      if (shapes_.empty() || shapes_.back().proc != proc) {
        shapes_.push_back({proc, 0, Shape::listed(element, 1, {&offsets_[i], 0, true}), index_bytes,
                           i * element});
      }
      ++shapes_.back().shape.list.count;
    }
  }

  std::span<const FarShape> shapes() const noexcept { return shapes_; }
  LocalShape at(std::byte* local) const noexcept {
    return {local, Shape::listed(element_, element_, {order_.data(), order_.size(), true})};
  }

 private:
  const std::size_t element_;
  std::vector<std::uint64_t> offsets_;
  std::vector<std::uint64_t> order_;
  std::vector<FarShape> shapes_;
};

}  // namespace

void refuse_sizes(std::uint64_t local, std::uint64_t global, Call call) {
  refuse(call, std::to_string(local) + " local elements for " + std::to_string(global) +
                   " global ones; give as many on both sides");
}

handle get_shape(const LocalShape& local, const GlobalShape& from, Call call) {
  const std::uint64_t extent = from.shape.extent(call);
  if (extent == 0) return {};
  const std::byte* const at = near(from, extent, call);
  if (at == nullptr) [[unlikely]]
    return far_get(local, std::array{far(from, extent, call)}, call);
  copy(local.first, local.shape, at, from.shape);
  return {};
}

handle put_shape(const GlobalShape& to, const LocalShape& local, Call call) {
  const std::uint64_t extent = to.shape.extent(call);
  if (extent == 0) return {};
  std::byte* const at = near(to, extent, call);
  if (at == nullptr) [[unlikely]]
    return far_put(std::array{far(to, extent, call)}, local, call);
  copy(at, to.shape, local.first, local.shape);
  return {};
}

void store_shape(const GlobalShape& to, const LocalShape& local, store_counter& counter,
                 Call call) {
  const std::uint64_t extent = to.shape.extent(call);
  if (extent == 0) return;
  std::byte* const at = near(to, extent, call);
  if (at == nullptr) [[unlikely]]
    return far_store(std::array{far(to, extent, call)}, local, counter, call);
  copy(at, to.shape, local.first, local.shape);
  counter.count(mapping_of(to.bits), to.bits, to.shape.bytes());
}

handle get_each(std::byte* local, std::span<FarElement> from, std::size_t element, Call call) {
  const ByProcess all(from, element);
  return far_get(all.at(local), all.shapes(), call);
}

handle put_each(std::span<FarElement> to, std::byte* local, std::size_t element, Call call) {
  const ByProcess all(to, element);
  return far_put(all.shapes(), all.at(local), call);
}

void store_each(std::span<FarElement> to, std::byte* local, std::size_t element,
                store_counter& counter, Call call) {
  const ByProcess all(to, element);
  far_store(all.shapes(), all.at(local), counter, call);
}

}  // namespace splitc::detail
