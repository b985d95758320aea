// Cannon's algorithm: the pieces travel, A's along the rows of the grid and B's along its columns,
// and everybody talks to its neighbours only. (L. E. Cannon, A cellular computer to implement the
// Kalman filter algorithm, 1969.)
//
// On a square grid of q x q it is as in the textbooks: process (i, j) begins with the blocks k = i
// + j of A and B, and in q steps of a shift each it meets all pairs. On any other grid the shorter
// ring goes round several times: after t steps the process has the pieces k of A with k = i + j + t
// modulo the width of the grid, and those of B with the same modulo its height, so that it has both
// of exactly one, k = i + j + t modulo the number of pieces, which it multiplies. In each step all
// pieces move, those that are not multiplied, too, so such a grid moves more: by the length of the
// longer ring in the number of steps. In a ring of one process nothing moves.

#include <functional>
#include <memory>

#include "examples/matmul/shift.h"
#include "examples/matmul/versions.h"

namespace matmul {
namespace {

using namespace splitc;
using MakeShift = std::unique_ptr<Shift> (*)(const Operand& operand);

// One operand: nothing moves in a ring of one process.
class Traveller {
 public:
  Traveller(const Operand& operand, MakeShift make) : operand_(operand) {
    if (operand.ring().size > 1) shift_ = make(operand);
  }
  // Piece k, which is here in step t.
  const double* piece(std::uint32_t k, std::uint32_t t) const {
    return (shift_ ? operand_.buffer(t % 2) : operand_.own()) + operand_.place(k);
  }
  template <class F>
  void if_it_moves(F&& f) {
    if (shift_) f(*shift_);
  }

 private:
  const Operand& operand_;
  std::unique_ptr<Shift> shift_;
};

class Cannon {
 public:
  Cannon(Problem& problem, MakeShift make)
      : problem_(problem), a_(problem.a(), make), b_(problem.b(), make) {}

  void run() {
    const std::uint32_t steps = problem_.grid().pieces;
    communicate([](Shift& shift) { shift.align(); });
    for (std::uint32_t t = 0; t < steps; ++t) {
      const bool last = t + 1 == steps;
      if (!last) communicate([t](Shift& shift) { shift.send(t); });
      const std::uint32_t k = problem_.piece(t);
      problem_.multiply(k, a_.piece(k, t), b_.piece(k, t));
      communicate([=](Shift& shift) {
        if (!last) shift.receive(t);
        shift.release(t, t + 2 < steps);
      });
    }
  }

 private:
  template <class F>
  void communicate(F&& f) {
    problem_.communicate([&] {
      a_.if_it_moves(f);
      b_.if_it_moves(f);
    });
  }

  Problem& problem_;
  Traveller a_, b_;
};

std::function<void()> prepare(Problem& problem, MakeShift make) {
  return [cannon = std::make_shared<Cannon>(problem, make)] { cannon->run(); };
}

}  // namespace

std::function<void()> by_cannon_with_stores(Problem& problem) {
  return prepare(problem, shift_by_stores);
}
std::function<void()> by_cannon_with_channels(Problem& problem) {
  return prepare(problem, shift_by_channels);
}

}  // namespace matmul
