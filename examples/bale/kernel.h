// What a kernel is, and the ways in which its updates are sent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "examples/parcels.h"
#include "splitc/splitc.h"

namespace bale {

// What the user asks for.
struct Problem {
  std::uint32_t size = 10'000;      // words of a table, or rows of a matrix, of each process
  std::uint64_t updates = 200'000;  // of a table, by each process
  std::uint32_t degree = 10;        // columns drawn for each row of a random matrix
  std::vector<std::size_t> stars;   // the factors of a Kronecker graph, by their leaves
  std::uint64_t seed = 1;

  std::uint32_t all() const { return size * splitc::procs(); }
};

enum class Style : std::uint8_t { kPlain, kAggregator, kRounds, kRpc };
inline constexpr const char* kStyleNames[] = {"plain", "aggregator", "rounds", "rpc"};

// How a kernel is to run.
struct Way {
  Style style;
  // Of the style kRounds: with what is sent, and with what is answered.
  examples::Parcels* parcels = nullptr;
  examples::Parcels* answers = nullptr;
};

struct Verdict {
  std::uint64_t wrong;   // elements of all processes
  std::uint64_t answer;  // a digest, which all styles and all numbers of processes have in common
};

class Kernel {
 public:
  virtual ~Kernel() = default;
  // What the metric counts, of all processes together.
  virtual std::uint64_t updates() const = 0;
  // What is timed. Collective.
  virtual void run(const Way& way) = 0;
  // Of the last run, and makes ready for the next. Collective.
  virtual Verdict check() = 0;
};

std::unique_ptr<Kernel> make_histogram(const Problem& problem);
std::unique_ptr<Kernel> make_index_gather(const Problem& problem);
std::unique_ptr<Kernel> make_random_permutation(const Problem& problem);
std::unique_ptr<Kernel> make_transpose(const Problem& problem);
std::unique_ptr<Kernel> make_permuted_matrix(const Problem& problem);
std::unique_ptr<Kernel> make_topological_sort(const Problem& problem);
std::unique_ptr<Kernel> make_triangles(const Problem& problem);
std::unique_ptr<Kernel> make_shortest_paths(const Problem& problem);

// Words and rows are dealt to the processes in turn, as Bale deals them, and spread arrays of them
// their elements.
inline std::uint32_t owner(std::uint32_t index) { return index % splitc::procs(); }
inline std::uint32_t local(std::uint32_t index) { return index / splitc::procs(); }
inline std::uint32_t global(std::uint32_t local_index) {
  return local_index * splitc::procs() + splitc::my_proc();
}
// The part of such an array that a process has, to be found by functions that run there.
template <class T>
struct Part {
  std::span<T> mine;
};

// So many split-phase operations of a process are in flight at most.
inline constexpr std::size_t kAhead = 1024;

// Sends each update by a call of its own: what an aggregator is compared with.
template <class Update, class T, class F>
class one_by_one {
 public:
  one_by_one(splitc::dist_object<T>& object, F apply) : object_(object), apply_(apply) {}
  void send(std::uint32_t proc, const Update& update) {
    splitc::rpc_ff(proc, apply_, object_, update);
  }
  void flush_all() { splitc::quiesce(); }

 private:
  splitc::dist_object<T>& object_;
  F apply_;
};

// Sends them in rounds of all processes, which are in flush_all() or in send() for a full parcel.
template <class Update, class T, class F>
class in_rounds {
 public:
  in_rounds(examples::Parcels& parcels, splitc::dist_object<T>& object, F apply)
      : parcels_(parcels), object_(*object), apply_(apply) {}
  void send(std::uint32_t proc, const Update& update) {
    if (parcels_.is_full<Update>(proc)) exchange(true);
    parcels_.add(proc, update);
  }
  void flush_all() {
    while (exchange(false)) {
    }
  }

 private:
  bool exchange(bool more) {
    return parcels_.exchange<Update>(more, [this](std::uint32_t, std::span<const Update> updates) {
      for (const Update& update : updates) apply_(object_, update);
    });
  }

  examples::Parcels& parcels_;
  T& object_;
  F apply_;
};

// Calls use(sender), whose send(proc, update) has apply(t, update) called with the T of `proc`, and
// whose flush_all() returns when that has happened for all updates to this process, of which none
// is sent behind it. Collective.
template <class Update, class T, class F, class Use>
void with_sender(const Way& way, splitc::dist_object<T>& object, F apply, Use&& use) {
  if (way.style == Style::kAggregator) {
    auto sender = splitc::aggregate<Update>(object, apply);
    use(sender);
  } else if (way.style == Style::kRounds) {
    in_rounds<Update, T, F> sender(*way.parcels, object, apply);
    use(sender);
  } else {
    one_by_one<Update, T, F> sender(object, apply);
    use(sender);
  }
}

}  // namespace bale
