#include "splitc/collective/direct.h"

#include <algorithm>
#include <cstring>

#include "am/collective/barrier.h"
#include "am/job/job.h"
#include "splitc/collective/exposed.h"
#include "splitc/world/world.h"

namespace splitc::detail {
namespace {

// From so many nodes on a broadcast goes in slices, which the nodes read from one another.
constexpr std::uint32_t kSliced = 4;

// Slice `index` of `count` equal ones, of whole elements.
struct Slice {
  Slice(std::size_t elements, std::uint32_t index, std::uint32_t count, std::size_t element) {
    const std::size_t each = (elements + count - 1) / count;
    const std::size_t begin = std::min(elements, each * index);
    at = begin * element;
    bytes = (std::min(elements, begin + each) - begin) * element;
  }
  template <class Byte>
  std::span<Byte> of(Byte* all) const noexcept {
    return {all + at, bytes};
  }
  std::size_t at;
  std::size_t bytes;
};

// Every process once, this one last: so that not all begin with the same.
template <class Visit>
void for_others_first(const Visit& visit) {
  for (std::uint32_t i = 1; i <= procs(); ++i) visit((my_proc() + i) % procs());
}

// A broadcast of one process, which stands for its node, to one of each other node.
class Representatives {
 public:
  Representatives(Exposed& all, std::span<std::byte> data, std::uint32_t root)
      : all_(all), data_(data), root_(root), nodes_(world().job().barrier().nodes()) {}

  std::uint32_t of(std::uint32_t node) const {
    return node == nodes_.of(root_) ? root_ : nodes_.ranks(node).front();
  }
  std::uint32_t mine() const { return of(nodes_.mine()); }
  // Collective.
  void read() {
    const bool reads = my_proc() == mine() && my_proc() != root_;
    if (nodes_.count() < kSliced) {
      if (reads) all_.read(root_, Exposed::kFirst, 0, data_);
      return;
    }
    if (reads) read_slice(nodes_.mine(), root_);
    all_.meet();
    for (std::uint32_t steps = 1; reads && steps < nodes_.count(); ++steps) {
      const std::uint32_t node = nodes_.after(nodes_.mine(), steps);
      if (of(node) != root_) read_slice(node, of(node));
    }
  }

 private:
  // All nodes but that of the root have one.
  void read_slice(std::uint32_t node, std::uint32_t from) {
    const std::uint32_t index = nodes_.before(node, nodes_.of(root_) + 1);
    const Slice slice(data_.size(), index, nodes_.count() - 1, 1);
    all_.read(from, Exposed::kFirst, slice.at, slice.of(data_.data()));
  }

  Exposed& all_;
  const std::span<std::byte> data_;
  const std::uint32_t root_;
  const am::Nodes& nodes_;
};

}  // namespace

bool bcast_direct(std::span<std::byte> data, std::uint32_t root, std::uint64_t kind, Call call) {
  Exposed all(call, data.size(), kind, data);
  if (!all.works()) return false;
  Representatives nodes(all, data, root);
  if (has_far_peers()) {
    nodes.read();
    if (world().job().barrier().nodes().most() > 1) all.meet();
  }
  if (my_proc() != nodes.mine()) all.read(nodes.mine(), Exposed::kFirst, 0, data);
  all.finish();
  return true;
}

bool gather_direct(std::span<const std::byte> mine, std::byte* all, bool only_to_one,
                   std::uint64_t kind, Call call) {
  const std::size_t bytes = mine.size();
  Exposed shown(call, bytes, kind, mine);
  if (!shown.works()) return false;
  if (!only_to_one || my_proc() == 0) {
    for_others_first([&](std::uint32_t proc) {
      shown.read(proc, Exposed::kFirst, 0, {all + proc * bytes, bytes});
    });
  }
  shown.finish();
  return true;
}

bool all_to_all_direct(std::span<const std::byte> to, std::byte* from, std::uint64_t kind,
                       Call call) {
  const std::size_t part = to.size() / procs();
  Exposed shown(call, to.size(), kind, to);
  if (!shown.works()) return false;
  for_others_first([&](std::uint32_t proc) {
    shown.read(proc, Exposed::kFirst, my_proc() * part, {from + proc * part, part});
  });
  shown.finish();
  return true;
}

// Each process combines a slice, in the order of the processes, and then all read the results. The
// slice that it writes is the only one that no other process reads of it.
bool reduce_direct(std::span<const std::byte> mine, std::byte* result, const Combine& combine,
                   Call call) {
  const std::size_t elements = mine.size() / combine.element;
  Exposed shown(call, mine.size(), combine.kind, mine, {result, mine.size()});
  if (!shown.works()) return false;
  const auto slice_of = [&](std::uint32_t proc) {
    return Slice(elements, proc, procs(), combine.element);
  };
  const Slice own = slice_of(my_proc());
  std::vector<std::byte> parts(own.bytes * procs());
  for_others_first([&](std::uint32_t proc) {
    shown.read(proc, Exposed::kFirst, own.at, {parts.data() + proc * own.bytes, own.bytes});
  });
  shown.wait();
  const std::exception_ptr thrown =
      combine_all(combine, parts.data(), own.bytes,
                  [&](std::uint32_t proc) { return parts.data() + proc * own.bytes; });
  if (own.bytes != 0) std::memcpy(result + own.at, parts.data(), own.bytes);
  shown.meet();
  for_others_first([&](std::uint32_t proc) {
    if (proc == my_proc()) return;
    const Slice theirs = slice_of(proc);
    shown.read(proc, Exposed::kSecond, theirs.at, theirs.of(result));
  });
  shown.finish();
  if (thrown) std::rethrow_exception(thrown);
  return true;
}

}  // namespace splitc::detail
