// Who multiplies fetches: the pieces stay where they belong.

#include <functional>
#include <vector>

#include "examples/matmul/versions.h"

namespace matmul {
namespace {

using namespace splitc;

// Where piece k is or, if it is another process's, will be: there it is fetched to.
double* here(const Operand& operand, std::uint32_t k, std::vector<double>& copy) {
  return operand.is_mine(k) ? operand.own() + operand.place(k) : copy.data();
}

// Reads each piece when it is needed, and waits for it.
void multiply_reading(Problem& problem) {
  const auto read = [](const Operand& operand, std::uint32_t k, std::vector<double>& copy) {
    if (!operand.is_mine(k)) bulk_read(std::span(copy), operand.piece(k));
  };
  std::vector<double> a(problem.a().piece_size()), b(problem.b().piece_size());
  for (std::uint32_t step = 0; step < problem.grid().pieces; ++step) {
    const std::uint32_t k = problem.piece(step);
    problem.communicate([&] {
      read(problem.a(), k, a);
      read(problem.b(), k, b);
    });
    problem.multiply(k, here(problem.a(), k, a), here(problem.b(), k, b));
  }
}

// Starts the reads of the next step, and multiplies while they are in flight. So there are two
// places for pieces, which are filled and used in turn.
void multiply_getting(Problem& problem) {
  struct Copies {
    std::vector<double> a, b;
  };
  const Copies empty{std::vector<double>(problem.a().piece_size()),
                     std::vector<double>(problem.b().piece_size())};
  Copies copies[2] = {empty, empty};

  const auto get = [](const Operand& operand, std::uint32_t k, std::vector<double>& copy) {
    if (!operand.is_mine(k)) bulk_get(std::span(copy), operand.piece(k));
  };
  const auto get_pieces_of = [&](std::uint32_t step) {
    const std::uint32_t k = problem.piece(step);
    get(problem.a(), k, copies[step % 2].a);
    get(problem.b(), k, copies[step % 2].b);
  };
  problem.communicate([&] { get_pieces_of(0); });
  for (std::uint32_t step = 0; step < problem.grid().pieces; ++step) {
    problem.communicate([&] {
      sync();  // for those of this step
      if (step + 1 < problem.grid().pieces) get_pieces_of(step + 1);
    });
    const std::uint32_t k = problem.piece(step);
    Copies& now = copies[step % 2];
    problem.multiply(k, here(problem.a(), k, now.a), here(problem.b(), k, now.b));
  }
}

}  // namespace

std::function<void()> by_reading(Problem& problem) {
  return [&problem] { multiply_reading(problem); };
}
std::function<void()> by_getting(Problem& problem) {
  return [&problem] { multiply_getting(problem); };
}

}  // namespace matmul
