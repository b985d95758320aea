#include "splitc/access/shapes.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "splitc/world/remote.h"

namespace splitc::detail {
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
