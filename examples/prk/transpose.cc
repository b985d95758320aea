// Transpose: B += A^T, where each process has a block of columns of both; and then 1 is added to
// every number of A. Each pair of processes exchanges a block, which its owner transposes.
//
// A block that arrives lies in a box of its sender, one for each of two turns. No barrier is
// needed: a process that sends the blocks of one turn has had those of the turn before from all,
// which have emptied the boxes of the turn before that one.

#include <cmath>
#include <memory>
#include <stdexcept>
#include <vector>

#include "examples/prk/kernel.h"
#include "examples/prk/loops.h"

namespace prk {
namespace {

using namespace splitc;

class Transpose : public Kernel {
 public:
  explicit Transpose(std::size_t order)
      : order_(order),
        mine_(columns(my_proc())),
        a_(order * mine_.size()),
        b_(order * mine_.size()),
        boxes_(procs(), 2 * room()) {
    for (std::size_t j = 0; j < mine_.size(); ++j) {
      for (std::size_t i = 0; i < order; ++i) {
        a_[j * order + i] = static_cast<double>(order * (mine_.begin + j) + i);
      }
    }
  }

  void iterate() override {
    for (std::uint32_t phase = 1; phase < procs(); ++phase) {
      send((my_proc() + procs() - phase) % procs(), turn_);
    }
    transpose_block(my_proc(), 1, b_.data() + mine_.begin, order_);
    for (std::uint32_t phase = 1; phase < procs(); ++phase) {
      const std::uint32_t from = (my_proc() + phase) % procs();
      wait_for(from, turn_);
      const Range rows = columns(from);
      prk_add_block(box(my_proc(), from, turn_), rows.size(), mine_.size(), b_.data() + rows.begin,
                    order_);
      release(from, turn_);
    }
    turn_ ^= 1;
  }

  double found(std::uint32_t iterations) override {
    const double times = iterations, summand = times * (times - 1) / 2;
    double wrong = 0;
    for (std::size_t j = 0; j < mine_.size(); ++j) {
      for (std::size_t i = 0; i < order_; ++i) {
        const auto first = static_cast<double>(order_ * i + mine_.begin + j);
        wrong += std::abs(b_[j * order_ + i] - (first * times + summand));
      }
    }
    return wrong;
  }

 protected:
  // Sends process `to` its block; waits for that of `from`; it has been used.
  virtual void send(std::uint32_t to, unsigned turn) = 0;
  virtual void wait_for(std::uint32_t from, unsigned turn) = 0;
  virtual void release(std::uint32_t, unsigned) {}

  Range columns(std::uint32_t proc) const { return part(order_, procs(), proc); }
  std::size_t numbers(std::uint32_t from, std::uint32_t to) const {
    return columns(from).size() * columns(to).size();
  }
  // The box of `from` at process `at`, which is here or anywhere.
  global_ptr<double> box_on(std::uint32_t at, std::uint32_t from, unsigned turn) const {
    return boxes_.on(at) +
           static_cast<std::ptrdiff_t>(turn * room() + columns(from).begin * columns(at).size());
  }
  double* box(std::uint32_t at, std::uint32_t from, unsigned turn) const {
    return tolocal(box_on(at, from, turn));
  }
  // Of this process's columns the block whose columns `to` has.
  void transpose_block(std::uint32_t to, int add, double* target, std::size_t pitch) {
    const Range rows = columns(to);
    prk_transpose(add, a_.data() + rows.begin, order_, rows.size(), mine_.size(), target, pitch);
  }
  const Range& mine() const noexcept { return mine_; }

 private:
  std::size_t room() const { return order_ * ((order_ + procs() - 1) / procs()); }

  std::size_t order_;
  Range mine_;
  std::vector<double> a_, b_;  // this process's columns
  spread_array<double> boxes_;
  unsigned turn_ = 0;
};

// Where the other process is on this node, a block is transposed straight into its box. One word
// says that it has come; between nodes that is counted with its bytes.
class TransposeStores : public Transpose {
 public:
  explicit TransposeStores(std::size_t order) : Transpose(order), said_(procs(), 2 * procs()) {
    std::size_t most = 0;
    for (std::uint32_t to = 0; to < procs(); ++to) most += numbers(my_proc(), to);
    packed_.resize(most);
    arrived_.reserve(2 * procs());
    for (std::uint32_t i = 0; i < 2 * procs(); ++i) {
      arrived_.push_back(std::make_unique<store_counter>());
    }
  }
  ~TransposeStores() override {
    while (!arrived_.empty()) arrived_.pop_back();
  }

 protected:
  void send(std::uint32_t to, unsigned turn) override {
    store_counter& arrived = counter(my_proc(), turn);
    if (is_near(to)) {
      transpose_block(to, 0, box(to, my_proc(), turn), mine().size());
      return store(said_.on(to) + my_proc(), 1, arrived);
    }
    double* const packed = packed_.data() + mine().size() * columns(to).begin;
    transpose_block(to, 0, packed, mine().size());
    bulk_store(box_on(to, my_proc(), turn), packed, numbers(my_proc(), to) * sizeof(double),
               arrived);
  }
  void wait_for(std::uint32_t from, unsigned turn) override {
    const std::size_t bytes = numbers(from, my_proc()) * sizeof(double);
    store_sync(is_near(from) ? sizeof(std::uint64_t) : bytes, counter(from, turn));
  }

 private:
  store_counter& counter(std::uint32_t from, unsigned turn) {
    return *arrived_[turn * procs() + from];
  }

  std::vector<double> packed_;                           // for other nodes
  spread_array<std::uint64_t> said_;                     // only their coming says something
  std::vector<std::unique_ptr<store_counter>> arrived_;  // by turn and sender
};

class TransposeChannels : public Transpose {
 public:
  explicit TransposeChannels(std::size_t order) : Transpose(order) {
    for (const unsigned turn : {0, 1}) {
      packed_[turn].resize(order * mine().size());
      for (std::uint32_t phase = 1; phase < procs(); ++phase) {
        const std::uint32_t to = (my_proc() + procs() - phase) % procs();
        channels_[turn].emplace_back(box_on(to, my_proc(), turn),
                                     std::span(packed(to, turn), numbers(my_proc(), to)));
      }
    }
  }

 protected:
  void send(std::uint32_t to, unsigned turn) override {
    auto& channel = channels_[turn][(my_proc() + procs() - to) % procs() - 1];
    channel.wait_reusable();
    transpose_block(to, 0, packed(to, turn), mine().size());
    channel.put();
  }
  void wait_for(std::uint32_t from, unsigned turn) override { incoming(from, turn).wait(); }
  void release(std::uint32_t from, unsigned turn) override { incoming(from, turn).ready(); }

 private:
  double* packed(std::uint32_t to, unsigned turn) {
    return packed_[turn].data() + mine().size() * columns(to).begin;
  }
  put_channel<double>& incoming(std::uint32_t from, unsigned turn) {
    return channels_[turn][(from + procs() - my_proc()) % procs() - 1];
  }

  std::vector<double> packed_[2];
  std::vector<put_channel<double>> channels_[2];  // by turn, then by phase
};

}  // namespace

int transpose(Args args) {
  Runs runs;
  std::size_t order = 1000;
  examples::CommandLine line("A matrix in blocks of columns, transposed.", "prk transpose");
  line.option("--order", order, "rows and columns").range(std::size_t{1}, std::size_t{1} << 20);
  add_options(line, runs, {"channels", "stores"});
  if (!line.parse(args)) return 0;
  if (order < procs()) {
    throw std::runtime_error("prk transpose: --order " + std::to_string(order) +
                             " has no column for some of " + std::to_string(procs()) +
                             " processes; give at least one for each");
  }
  const auto n = static_cast<double>(order);
  const Way ways[] = {
      {"channels", [=] { return std::make_unique<TransposeChannels>(order); }},
      {"stores", [=] { return std::make_unique<TransposeStores>(order); }},
  };
  return measure(runs,
                 {.title = "transpose: " + std::to_string(order) + " x " + std::to_string(order),
                  .verified = "the sum of all errors",
                  .expected = [](double) { return 0; },
                  .unit = "MB",
                  .work = 2 * sizeof(double) * n * n / 1e6},
                 ways);
}

}  // namespace prk
