// The sender writes into the buffer of the receiver, and whoever it comes to counts the bytes.

#include <memory>
#include <span>

#include "examples/matmul/shift.h"

namespace matmul {
namespace {

using namespace splitc;

class Stores : public Shift {
 public:
  explicit Stores(const Operand& operand) : operand_(operand), free_(procs()) {}

  void align() override {
    bulk_store(operand_.buffer_of(operand_.ring().aligned(), 0), mine(operand_.own()), aligned_);
    store_sync(bytes(), aligned_);
  }
  void send(std::uint32_t t) override {
    if (t > 0) store_sync(sizeof(char), released_);
    bulk_store(operand_.buffer_of(operand_.ring().before(), (t + 1) % 2),
               mine(operand_.buffer(t % 2)), arrived_);
  }
  void receive(std::uint32_t) override { store_sync(bytes(), arrived_); }
  void release(std::uint32_t, bool wanted) override {
    if (wanted) store(free_.on(operand_.ring().after()), 1, released_);
  }

 private:
  std::span<const double> mine(const double* from) const { return {from, operand_.share()}; }
  std::uint64_t bytes() const { return operand_.share() * sizeof(double); }

  const Operand& operand_;
  spread_array<char> free_;  // written only to be counted
  // One sender each, so that no bytes are taken for others: of the first pieces, which come from
  // elsewhere; of all others, of which no two are in flight; and of free buffers.
  store_counter aligned_, arrived_, released_;
};

}  // namespace

std::unique_ptr<Shift> shift_by_stores(const Operand& operand) {
  return std::make_unique<Stores>(operand);
}

}  // namespace matmul
