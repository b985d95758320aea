#include "am/collective/cost.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace am {
namespace {

// In nanoseconds. Fitted, with what am/job takes tcp to cost, to 504 medians of calls of 1 KiB to 1
// MiB by each way, of 2 to 8 processes on 1 to 8 nodes (benchmarks/collectives --only sizes); what
// the model chooses takes 1.5 % longer on average than what was fastest.
constexpr double kStep = 800;          // of a barrier on a node, where processes share cores
constexpr double kCopiedByte = 0.02;   // by the processor, in cache
constexpr double kKernelCall = 2'000;  // a copy by the kernel, from memory that is not mapped
constexpr double kKernelByte = 0.16;

class Model {
 public:
  Model(const CollectiveShape& shape, const LogGP& network)
      : p_(shape.procs),
        far_(shape.procs - shape.most_near),
        near_(shape.most_near),
        nodes_(shape.nodes),
        steps_(std::bit_width(shape.most_near - 1)),
        rounds_(std::bit_width(shape.nodes - 1)),
        crowding_(std::max(1.0, shape.crowding)),
        board_(static_cast<double>(shape.board)),
        network_(network) {}

  double broadcast_by_boards(double b) const {
    return barriers_for(b) + travel(rounds_ * b, 2 * b) + copies(2 * b);
  }
  // From four nodes on in slices.
  double broadcast_directly(double b) const {
    const double meetings = (near_ > 1 ? 3 : 2) + (nodes_ >= kSliced ? 1 : 0);
    double time = meetings * barrier() + (near_ > 1 ? by_kernel(1, b) : 0);
    if (nodes_ > 1) {
      const double served = nodes_ >= kSliced ? 2 * b : (nodes_ - 1) * b;
      time += messages(2 * (nodes_ - 1)) + travel(served, 2 * b);
    }
    return time;
  }

  double gather_by_boards(double b) const {
    return barriers_for(nodes_ > 1 ? p_ * b : b) + travel(far_ * b, 2 * far_ * b / near_) +
           copies((1 + p_) * b);
  }
  double gather_directly(double b) const { return 2 * barrier() + from_each(b); }

  double reduce_by_boards(double b) const { return gather_by_boards(b) + copies(p_ * b); }
  // Between nodes only.
  double reduce_by_slices(double b) const {
    if (nodes_ == 1) return std::numeric_limits<double>::infinity();
    return all_to_all_by_boards(b / p_) + gather_by_boards(b / p_) + copies(b);
  }
  double reduce_by_less(double b) const {
    return std::min(reduce_by_slices(b), reduce_directly(b));
  }
  double reduce_directly(double b) const {
    return 3 * barrier() + 2 * from_each(b / p_) + copies(b);
  }

  // Between nodes by Bruck's rounds, in each of which half of all parts travel.
  double all_to_all_by_boards(double b) const {
    const double moved = rounds_ * nodes_ / 2 * near_ * near_ * b;  // by a leader
    return barriers_for(p_ * b) + travel(moved, 2 * moved / near_) +
           copies(2 * p_ * b + 2 * moved / near_);
  }
  double all_to_all_directly(double b) const { return 2 * barrier() + from_each(b); }

 private:
  static constexpr double kSliced = 4;

  double barrier() const {
    return steps_ * kStep * crowding_ +
           rounds_ * (network_.latency_ns + 2 * network_.overhead_ns * crowding_);
  }
  double barriers_for(double bytes) const {
    return std::max(1.0, std::ceil(bytes / board_)) * barrier();
  }
  double copies(double bytes) const { return bytes * kCopiedByte * crowding_; }
  double by_kernel(double calls, double bytes) const {
    return (calls * kKernelCall + bytes * kKernelByte) * crowding_;
  }
  double messages(double count) const { return count * kShare * network_.overhead_ns * crowding_; }
  // Over the network: `path` bytes one after the other, while a process sends and receives `work`
  // bytes, which its core has to move.
  double travel(double path, double work) const {
    if (nodes_ == 1) return 0;
    return std::max(path, work * crowding_) * network_.byte_ns;
  }
  // `b` bytes from the memory of each other process: of another node a message and its answer, both
  // of which two processes handle.
  double from_each(double b) const {
    return by_kernel(near_ - 1, (near_ - 1) * b) + messages(4 * far_) +
           travel(far_ * b, 2 * far_ * b) + copies(b);
  }

  const double p_, far_, near_, nodes_;
  const double steps_, rounds_;  // of a barrier, on a node and between nodes
  const double crowding_, board_;
  const LogGP network_;
};

// The largest size up to which `boards` is not dearer than `direct`. Where boards are filled
// several times, and they cost the same more than once, one of these sizes.
template <class Boards, class Direct>
std::uint64_t crossover(Boards boards, Direct direct) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 32;
  std::uint64_t low = 0, high = kMost;
  if (boards(kMost) <= direct(kMost)) return kMost;
  while (high - low > 1) {
    const std::uint64_t middle = (low + high) / 2;
    (boards(static_cast<double>(middle)) <= direct(static_cast<double>(middle)) ? low : high) =
        middle;
  }
  return low;
}

}  // namespace

Crossovers cheapest(const CollectiveShape& shape, const LogGP& network) {
  const Model model(shape, network);
  const auto between = [&model](double (Model::*boards)(double) const,
                                double (Model::*direct)(double) const) {
    return crossover([&](double b) { return (model.*boards)(b); },
                     [&](double b) { return (model.*direct)(b); });
  };
  return {.broadcast = between(&Model::broadcast_by_boards, &Model::broadcast_directly),
          .gather = between(&Model::gather_by_boards, &Model::gather_directly),
          .reduce = between(&Model::reduce_by_boards, &Model::reduce_by_less),
          .reduce_slices = between(&Model::reduce_by_slices, &Model::reduce_directly),
          .all_to_all = between(&Model::all_to_all_by_boards, &Model::all_to_all_directly)};
}

Crossovers chosen(const Crossovers& model, const ChosenCrossovers& choice) noexcept {
  return {.broadcast = choice.broadcast.value_or(model.broadcast),
          .gather = choice.gather.value_or(model.gather),
          .reduce = choice.reduce.value_or(model.reduce),
          .reduce_slices = choice.reduce_slices.value_or(model.reduce_slices),
          .all_to_all = choice.all_to_all.value_or(model.all_to_all)};
}

}  // namespace am
