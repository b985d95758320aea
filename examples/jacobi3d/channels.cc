// A layer goes from the block to the neighbour's ghosts as it lies there, by a channel of its own
// for each face and turn: nothing is packed, and nobody is told but by the arrival itself.

#include <vector>

#include "examples/jacobi3d/halo.h"

namespace jacobi3d {
namespace {

using namespace splitc;

class Channels : public Halo {
 public:
  explicit Channels(Block& block);
  ~Channels() override { barrier(); }
  void exchange(unsigned turn) override;

 private:
  void make_receivers(unsigned turn, spread_array<am::ChannelHandle>& handles);
  void make_senders(unsigned turn, const am::ChannelHandle* handles);

  Block& block_;
  std::vector<am::ReceiveChannel> ghosts_[2];  // by turn, then by face
  std::vector<am::SendChannel> layers_[2];
  std::uint32_t arrived_[2] = {0, 0};  // ghosts of each turn
};

// Of the outermost points in the block, and of the ghosts that they become.
am::Strided shape_of(const Layer& layer) noexcept {
  return {.run = layer.run * sizeof(double),
          .rows = static_cast<std::uint32_t>(layer.rows),
          .row_stride = layer.stride * sizeof(double)};
}
am::Strided packed_shape_of(const Layer& layer) noexcept {
  return shape_of({layer.first, layer.run, layer.rows, layer.run});
}

Channels::Channels(Block& block) : block_(block) {
  spread_array<am::ChannelHandle> handles(procs(), 2 * kFaces);  // at the sender, by turn and face
  for (const unsigned turn : {0, 1}) make_receivers(turn, handles);
  sync();
  barrier();
  for (const unsigned turn : {0, 1}) make_senders(turn, handles.mine().data() + turn * kFaces);
}

void Channels::make_receivers(unsigned turn, spread_array<am::ChannelHandle>& handles) {
  for (std::uint32_t face = 0; face < kFaces; ++face) {
    ghosts_[turn].emplace_back(
        world().bundle(), reinterpret_cast<std::byte*>(block_.ghosts(turn, face).data()),
        packed_shape_of(outermost(block_.size(), face)), [this, turn] { ++arrived_[turn]; });
    put(handles.on(block_.neighbour(face)) + (turn * kFaces + opposite(face)),
        ghosts_[turn].back().handle());
  }
}

void Channels::make_senders(unsigned turn, const am::ChannelHandle* handles) {
  for (std::uint32_t face = 0; face < kFaces; ++face) {
    const Layer layer = outermost(block_.size(), face);
    layers_[turn].emplace_back(world().bundle(), handles[face]);
    layers_[turn].back().associate(
        reinterpret_cast<const std::byte*>(block_.values(turn) + layer.first), shape_of(layer));
  }
}

void Channels::exchange(unsigned turn) {
  for (am::ReceiveChannel& ghosts : ghosts_[1 - turn]) {  // these have been used
    if (ghosts.in_use()) ghosts.ready();
  }
  for (am::SendChannel& layer : layers_[turn]) layer.put();
  wait_until([&] { return arrived_[turn] == kFaces; });
  arrived_[turn] = 0;
}

}  // namespace

std::unique_ptr<Halo> with_channels(Block& block) { return std::make_unique<Channels>(block); }

}  // namespace jacobi3d
