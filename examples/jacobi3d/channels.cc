// A layer goes from where it lies in the block to the neighbour's ghosts, by a channel of its own
// for each face and turn: the program packs nothing, and no message says that it has come.

#include <memory>
#include <vector>

#include "examples/jacobi3d/halo.h"

namespace jacobi3d {
namespace {

using namespace splitc;

class Channels : public Halo {
 public:
  explicit Channels(Block& block);
  void start(unsigned turn) override;
  void finish(unsigned turn) override;

 private:
  std::vector<put_channel<double>> faces_[2];  // by turn, then by face
};

Channels::Channels(Block& block) {
  for (const unsigned turn : {0, 1}) {
    for (std::uint32_t face = 0; face < kFaces; ++face) {
      const Layer layer = outermost(block.size(), face);
      const auto rows = static_cast<std::uint32_t>(layer.rows);
      const strided here{.run = layer.run, .rows = rows, .row_stride = layer.stride};
      const strided there{.run = layer.run, .rows = rows, .row_stride = layer.run};
      faces_[turn].emplace_back(block.ghosts_beyond(turn, face), there,
                                block.values(turn) + layer.first, here);
    }
  }
}

void Channels::start(unsigned turn) {
  for (auto& face : faces_[1 - turn]) face.ready();  // the ghosts of the other turn have been used
  for (auto& face : faces_[turn]) face.put();
}

void Channels::finish(unsigned turn) {
  for (auto& face : faces_[turn]) face.wait();
}

}  // namespace

std::unique_ptr<Halo> with_channels(Block& block) { return std::make_unique<Channels>(block); }

}  // namespace jacobi3d
