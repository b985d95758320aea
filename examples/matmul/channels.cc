// Between the same buffers in every run: by put channels, set up once.

#include <memory>
#include <span>
#include <vector>

#include "examples/matmul/shift.h"

namespace matmul {
namespace {

using namespace splitc;

// A put has to come after the receiver's ready() for the one before. Here it does, as both ends put
// in turn: pieces go one way, and the other way a byte, the credit, that says that their buffer is
// free and ready for the next. The sender waits for the credit before it puts pieces, and the
// receiver for these before it puts the next credit.
class Channels : public Shift {
 public:
  explicit Channels(const Operand& operand) : free_(procs(), 2) {
    const Ring& ring = operand.ring();
    const auto share = [&](const double* from) { return std::span(from, operand.share()); };
    align_.emplace_back(operand.buffer_of(ring.aligned(), 0), share(operand.own()));
    for (const unsigned i : {0, 1}) {
      pieces_.emplace_back(operand.buffer_of(ring.before(), i), share(operand.buffer(1 - i)));
      credit_.emplace_back(free_.on(ring.after()) + i, std::span(&byte_, 1));
    }
  }

  void align() override {
    align_[0].put();
    align_[0].wait();
    align_[0].ready();
  }
  void send(std::uint32_t t) override {
    const unsigned to = (t + 1) % 2;
    if (t > 0) {
      credit_[to].wait();
      credit_[to].ready();
    }
    pieces_[to].put();
  }
  void receive(std::uint32_t t) override { pieces_[(t + 1) % 2].wait(); }
  void release(std::uint32_t t, bool wanted) override {
    const unsigned used = t % 2;
    pieces_[1 - used].wait_reusable();  // what send() sends from it
    if (t > 0) pieces_[used].ready();   // that of step 0 was aligned
    if (wanted) credit_[used].put();
  }

 private:
  spread_array<char> free_;  // written by credits, and read by nobody
  char byte_ = 1;
  std::vector<put_channel<double>> align_;   // one
  std::vector<put_channel<double>> pieces_;  // by the buffer that they fill
  std::vector<put_channel<char>> credit_;    // by the buffer that is free
};

}  // namespace

std::unique_ptr<Shift> shift_by_channels(const Operand& operand) {
  return std::make_unique<Channels>(operand);
}

}  // namespace matmul
