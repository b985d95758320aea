// A piece goes from its place here to its place there, by a channel of its own for each turn.

#include <memory>
#include <vector>

#include "examples/matmul3d/exchange.h"

namespace matmul3d {
namespace {

using namespace splitc;

class Channels : public Exchange {
 public:
  explicit Channels(Problem& problem);
  void exchange(unsigned turn, Phase phase) override;

 private:
  using Set = std::vector<put_channel<double>>;
  Set& set(unsigned turn, Phase phase) noexcept { return sets_[turn][phase == Phase::kProducts]; }

  Set sets_[2][2];
};

// All processes send equally many pieces, so the channels can be made by collective calls.
Channels::Channels(Problem& problem) {
  for (const unsigned turn : {0, 1}) {
    for (const Phase phase : {Phase::kInputs, Phase::kProducts}) {
      for (const Piece& piece : problem.outgoing(turn, phase)) {
        const strided shape{.run = piece.columns,
                            .rows = static_cast<std::uint32_t>(piece.rows),
                            .row_stride = piece.stride};
        const auto there =
            problem.numbers_of(piece.peer) + static_cast<std::ptrdiff_t>(piece.place);
        set(turn, phase).emplace_back(there, shape, piece.from, shape);
      }
    }
  }
}

void Channels::exchange(unsigned turn, Phase phase) {
  // What was waited for last has been used.
  Set& used = phase == Phase::kInputs ? set(1 - turn, Phase::kProducts) : set(turn, Phase::kInputs);
  for (auto& channel : used) channel.ready();
  for (auto& channel : set(turn, phase)) channel.put();
  for (auto& channel : set(turn, phase)) channel.wait();
}

}  // namespace

std::unique_ptr<Exchange> with_channels(Problem& problem) {
  return std::make_unique<Channels>(problem);
}

}  // namespace matmul3d
