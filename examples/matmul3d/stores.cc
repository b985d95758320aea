// Every row of a piece is stored straight at its place, and whoever it comes to counts the bytes.

#include <memory>

#include "examples/matmul3d/exchange.h"

namespace matmul3d {
namespace {

using namespace splitc;

class Stores : public Exchange {
 public:
  explicit Stores(Problem& problem) : problem_(problem) {}
  void exchange(unsigned turn, Phase phase) override;

 private:
  Problem& problem_;
  store_counter arrived_[2][2];  // by turn and phase: others may be ahead
};

void send(const Piece& piece, global_ptr<double> numbers, store_counter& counter) {
  global_ptr<double> to = numbers + static_cast<std::ptrdiff_t>(piece.place);
  if (piece.contiguous()) {
    bulk_store(to, piece.from, piece.bytes(), counter);
    return;
  }
  const double* from = piece.from;
  for (std::size_t row = 0; row < piece.rows; ++row, from += piece.stride) {
    bulk_store(to, std::span(from, piece.columns), counter);
    to += static_cast<std::ptrdiff_t>(piece.stride);
  }
}

void Stores::exchange(unsigned turn, Phase phase) {
  store_counter& counter = arrived_[turn][phase == Phase::kProducts];
  for (const Piece& piece : problem_.outgoing(turn, phase)) {
    send(piece, problem_.numbers_of(piece.peer), counter);
  }
  std::uint64_t bytes = 0;
  for (const Piece& piece : problem_.incoming(turn, phase)) bytes += piece.bytes();
  store_sync(bytes, counter);
}

}  // namespace

std::unique_ptr<Exchange> with_stores(Problem& problem) {
  return std::make_unique<Stores>(problem);
}

}  // namespace matmul3d
