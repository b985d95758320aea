// A piece goes from its place here to its place there, by a channel of its own for each turn.

#include <vector>

#include "examples/matmul3d/exchange.h"

namespace matmul3d {
namespace {

using namespace splitc;

class Channels : public Exchange {
 public:
  explicit Channels(Problem& problem);
  ~Channels() override { barrier(); }
  void exchange(unsigned turn, Phase phase) override;

 private:
  // The channels of one phase and turn.
  struct Set {
    std::vector<am::ReceiveChannel> in;
    std::vector<am::SendChannel> out;
    std::uint32_t arrived = 0;
  };
  // Where, at a sender, the handle for its piece to process `to` is.
  static std::ptrdiff_t place_of(unsigned turn, Phase phase, std::uint32_t to) noexcept {
    return (turn * 2 + (phase == Phase::kProducts)) * std::ptrdiff_t{procs()} + to;
  }
  Set& set(unsigned turn, Phase phase) noexcept { return sets_[turn][phase == Phase::kProducts]; }
  void release(Set& set);

  Problem& problem_;
  Set sets_[2][2];
};

am::Strided shape_of(const Piece& piece) noexcept {
  return {.run = piece.columns * sizeof(double),
          .rows = static_cast<std::uint32_t>(piece.rows),
          .row_stride = piece.stride * sizeof(double)};
}

Channels::Channels(Problem& problem) : problem_(problem) {
  spread_array<am::ChannelHandle> handles(procs(), 4 * procs());
  for (const unsigned turn : {0, 1}) {
    for (const Phase phase : {Phase::kInputs, Phase::kProducts}) {
      Set& here = set(turn, phase);
      for (const Piece& piece : problem.incoming(turn, phase)) {
        std::byte* const first = reinterpret_cast<std::byte*>(&problem.numbers()[piece.place]);
        here.in.emplace_back(world().bundle(), first, shape_of(piece), [&here] { ++here.arrived; });
        put(handles.on(piece.peer) + place_of(turn, phase, my_proc()), here.in.back().handle());
      }
    }
  }
  sync();
  barrier();
  for (const unsigned turn : {0, 1}) {
    for (const Phase phase : {Phase::kInputs, Phase::kProducts}) {
      for (const Piece& piece : problem.outgoing(turn, phase)) {
        const auto& handle = handles.mine()[place_of(turn, phase, piece.peer)];
        auto& channel = set(turn, phase).out.emplace_back(world().bundle(), handle);
        channel.associate(reinterpret_cast<const std::byte*>(piece.from), shape_of(piece));
      }
    }
  }
}

void Channels::exchange(unsigned turn, Phase phase) {
  // What was waited for last has been used.
  release(phase == Phase::kInputs ? set(1 - turn, Phase::kProducts) : set(turn, Phase::kInputs));
  Set& here = set(turn, phase);
  for (am::SendChannel& channel : here.out) channel.put();
  wait_until([&] { return here.arrived == here.in.size(); });
  here.arrived = 0;
}

void Channels::release(Set& set) {
  for (am::ReceiveChannel& channel : set.in) {
    if (channel.in_use()) channel.ready();
  }
}

}  // namespace

std::unique_ptr<Exchange> with_channels(Problem& problem) {
  return std::make_unique<Channels>(problem);
}

}  // namespace matmul3d
