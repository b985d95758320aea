// Synch_p2p: a wavefront through a grid, whose columns are divided among the processes. A process
// can compute its part of a row when the one before it has computed its own, of which it needs the
// last number. The last number of all begins the next iteration at process 0.
//
// Numbers travel in slots, which are used in turn; each has so many numbers as rows are sent
// together, 1 by default. The slots are two halves, and a half that has been emptied is given back
// by a word of its own, a credit. So a slot is filled only when its number before has been taken.

#include <array>
#include <memory>
#include <stdexcept>
#include <vector>

#include "examples/prk/kernel.h"
#include "examples/prk/loops.h"

namespace prk {
namespace {

using namespace splitc;

constexpr std::uint32_t kHalf = 16;
constexpr std::uint32_t kSlots = 2 * kHalf;

struct Wavefront {
  std::size_t width, height;
  std::size_t group;  // rows that are sent together
};

// What one process sends to the next, and the last one to the first.
class Slots {
 public:
  explicit Slots(std::size_t group)
      : out_(kSlots * group),
        group_(group),
        slots_(procs(), kSlots * group),
        credits_(procs(), 2),
        corner_(procs(), 1) {}
  virtual ~Slots() = default;

  // The numbers of a slot that is sent, or that has arrived.
  double* out(std::uint32_t slot) noexcept { return out_.data() + slot * group_; }
  const double* in(std::uint32_t slot) const noexcept {
    return slots_.mine().data() + slot * group_;
  }
  virtual void send(std::uint32_t slot) = 0;
  virtual void wait(std::uint32_t slot) = 0;
  virtual void take(std::uint32_t slot) = 0;  // it has been used
  virtual void give_back(std::uint32_t half) = 0;
  virtual void wait_for_half(std::uint32_t half) = 0;
  // The number of the last process, at process 0. Both call this.
  virtual double corner(double number) = 0;

 protected:
  static bool is_first() { return my_proc() == 0; }
  static bool is_last() { return my_proc() + 1 == procs(); }
  std::span<const double> out_of(std::uint32_t slot) { return {out(slot), group_}; }
  global_ptr<double> next(std::uint32_t slot) const {
    return slots_.on(my_proc() + 1) + static_cast<std::ptrdiff_t>(slot * group_);
  }
  global_ptr<char> credit(std::uint32_t half) const {
    return credits_.on(my_proc() - 1) + static_cast<std::ptrdiff_t>(half);
  }
  global_ptr<double> corner_box() const { return corner_.on(0); }

 private:
  std::vector<double> out_;
  std::size_t group_;
  spread_array<double> slots_;
  spread_array<char> credits_;
  spread_array<double> corner_;
};

class SlotsByChannels : public Slots {
 public:
  explicit SlotsByChannels(std::size_t group) : Slots(group) {
    for (std::uint32_t slot = 0; slot < kSlots; ++slot) {
      slots_.emplace_back(is_last() ? global_ptr<double>() : next(slot), out_of(slot));
    }
    for (std::uint32_t half = 0; half < 2; ++half) {
      credits_.emplace_back(is_first() ? global_ptr<char>() : credit(half), std::span(&byte_, 1));
    }
    corner_.emplace_back(is_last() ? corner_box() : global_ptr<double>(), std::span(&number_, 1));
  }
  // A channel is closed after its last put has been reported: that of a credit which was not
  // needed.
  ~SlotsByChannels() override {
    for (std::uint32_t half = 0; half < 2; ++half) {
      if (owed_[half]) credits_[half].wait();
    }
  }
  void send(std::uint32_t slot) override {
    slots_[slot].put();
    if (slot % kHalf == kHalf - 1) owed_[slot / kHalf] = true;
  }
  void wait(std::uint32_t slot) override { slots_[slot].wait(); }
  void take(std::uint32_t slot) override { slots_[slot].ready(); }
  void give_back(std::uint32_t half) override { credits_[half].put(); }
  void wait_for_half(std::uint32_t half) override {
    credits_[half].wait();
    credits_[half].ready();
    owed_[half] = false;
    for (std::uint32_t i = 0; i < kHalf; ++i) slots_[half * kHalf + i].wait_reusable();
  }
  double corner(double number) override {
    if (is_last()) {
      corner_[0].wait_reusable();
      number_ = number;
      corner_[0].put();
    }
    if (!is_first()) return 0;
    corner_[0].wait();
    const double arrived = *tolocal(corner_box());
    corner_[0].ready();
    return arrived;
  }

 private:
  char byte_ = 1;
  double number_ = 0;
  bool owed_[2] = {};  // the credit of a half that is sent
  std::vector<put_channel<double>> slots_;
  std::vector<put_channel<char>> credits_;   // by half
  std::vector<put_channel<double>> corner_;  // one
};

class SlotsByStores : public Slots {
 public:
  explicit SlotsByStores(std::size_t group) : Slots(group), bytes_(group * sizeof(double)) {}
  void send(std::uint32_t slot) override { bulk_store(next(slot), out(slot), bytes_, full_[slot]); }
  void wait(std::uint32_t slot) override { store_sync(bytes_, full_[slot]); }
  void take(std::uint32_t) override {}
  void give_back(std::uint32_t half) override { store(credit(half), 1, empty_[half]); }
  void wait_for_half(std::uint32_t half) override { store_sync(1, empty_[half]); }
  double corner(double number) override {
    if (is_last()) store(corner_box(), number, corner_);
    if (!is_first()) return 0;
    store_sync(sizeof(double), corner_);
    return *tolocal(corner_box());
  }

 private:
  std::size_t bytes_;
  std::array<store_counter, kSlots> full_;
  store_counter empty_[2], corner_;
};

// Where parts differ, the first processes have the larger ones: process 0 has a column besides that
// of the border, whose corner changes without being sent.
Range columns_of(std::size_t width) {
  const Range mirrored = part(width, procs(), procs() - 1 - my_proc());
  return {width - mirrored.end, width - mirrored.begin};
}

class SynchP2p : public Kernel {
 public:
  SynchP2p(const Wavefront& grid, std::unique_ptr<Slots> slots)
      : grid_(grid),
        mine_(columns_of(grid.width)),
        pitch_(mine_.size() + 1),
        numbers_(pitch_ * grid.height),
        slots_(std::move(slots)) {
    // The first row has the number of its column; so the ghosts are right there, too.
    for (std::size_t i = 0; i < pitch_; ++i) {
      numbers_[i] = static_cast<double>(mine_.begin + i) - 1;
    }
    if (first()) {
      for (std::size_t j = 0; j < grid.height; ++j) row(j)[1] = static_cast<double>(j);
    }
  }

  void iterate() override {
    for (std::size_t j = 1; j < grid_.height; j += grid_.group, ++turn_) {
      const std::size_t rows = std::min(grid_.group, grid_.height - j);
      if (!first()) receive(j, rows);
      for (std::size_t k = j; k < j + rows; ++k) {
        // Process 0 has the column of the border in place of a ghost.
        const std::size_t border = first() ? 1 : 0;
        prk_wave(row(k - 1) + border, row(k) + border, mine_.size() - border);
      }
      if (!last()) send(j, rows);
    }
    const double corner = -row(grid_.height - 1)[mine_.size()];
    if (procs() == 1) {
      row(0)[1] = corner;
    } else if (first() || last()) {
      const double arrived = slots_->corner(corner);
      if (first()) row(0)[1] = arrived;
    }
  }

  double found(std::uint32_t) override { return last() ? row(grid_.height - 1)[mine_.size()] : 0; }

 private:
  bool first() const { return my_proc() == 0; }
  bool last() const { return my_proc() + 1 == procs(); }
  // Row j: the ghost, and then this process's numbers.
  double* row(std::size_t j) noexcept { return numbers_.data() + j * pitch_; }

  void receive(std::size_t j, std::size_t rows) {
    const auto slot = static_cast<std::uint32_t>(turn_ % kSlots);
    slots_->wait(slot);
    for (std::size_t k = 0; k < rows; ++k) row(j + k)[0] = slots_->in(slot)[k];
    slots_->take(slot);
    if (slot % kHalf == kHalf - 1) slots_->give_back(slot / kHalf);
  }
  void send(std::size_t j, std::size_t rows) {
    const auto slot = static_cast<std::uint32_t>(turn_ % kSlots);
    if (slot % kHalf == 0 && turn_ >= kSlots) slots_->wait_for_half(slot / kHalf);
    for (std::size_t k = 0; k < rows; ++k) slots_->out(slot)[k] = row(j + k)[mine_.size()];
    slots_->send(slot);
  }

  Wavefront grid_;
  Range mine_;
  std::size_t pitch_;
  std::vector<double> numbers_;
  std::unique_ptr<Slots> slots_;
  std::uint64_t turn_ = 0;  // slots that have been used
};

}  // namespace

int synch_p2p(Args args) {
  Runs runs;
  Wavefront grid{.width = 1000, .height = 1000, .group = 1};
  examples::CommandLine line("A wavefront through a grid, from process to process.",
                             "prk synch_p2p");
  line.option("--width", grid.width, "columns of the grid, which are divided")
      .range(std::size_t{2}, std::size_t{1} << 30);
  line.option("--height", grid.height, "rows").range(std::size_t{2}, std::size_t{1} << 30);
  line.option("--group", grid.group, "rows that are sent together; the original calls it cheating")
      .range(std::size_t{1}, std::size_t{1} << 20);
  add_options(line, runs, {"channels", "stores"});
  if (!line.parse(args)) return 0;
  if (grid.width <= procs()) {
    throw std::runtime_error("prk synch_p2p: --width " + std::to_string(grid.width) +
                             " is too small for " + std::to_string(procs()) +
                             " processes; the least is a column for each and one more");
  }
  const double sides = static_cast<double>(grid.width + grid.height) - 2;
  const Way ways[] = {
      {"channels",
       [=] {
         return std::make_unique<SynchP2p>(grid, std::make_unique<SlotsByChannels>(grid.group));
       }},
      {"stores",
       [=] {
         return std::make_unique<SynchP2p>(grid, std::make_unique<SlotsByStores>(grid.group));
       }},
  };
  return measure(
      runs,
      {.title = "synch_p2p: " + std::to_string(grid.width) + " x " + std::to_string(grid.height) +
                " points, " + std::to_string(grid.group) + " rows together",
       .verified = "the number in the corner",
       .expected = [=](double iterations) { return iterations * sides; },
       .unit = "MFlop",
       .work = 2 * static_cast<double>((grid.width - 1) * (grid.height - 1)) / 1e6},
      ways);
}

}  // namespace prk
