// Every run of a layer is stored straight into the neighbour's ghosts, which counts the bytes. Of a
// layer whose points all lie apart every store would carry 8 bytes: it is packed first.

#include <memory>
#include <vector>

#include "examples/jacobi3d/halo.h"

namespace jacobi3d {
namespace {

using namespace splitc;

class Stores : public Halo {
 public:
  explicit Stores(Block& block);
  void start(unsigned turn) override;
  void finish(unsigned turn) override;

 private:
  void send(std::uint32_t face, unsigned turn);

  Block& block_;
  std::uint64_t bytes_ = 0;  // of all ghosts
  std::vector<double> packed_;
  store_counter arrived_[2];  // by turn: a neighbour may be one ahead
};

Stores::Stores(Block& block) : block_(block) {
  for (std::uint32_t face = 0; face < kFaces; ++face) bytes_ += block.ghosts(0, face).size_bytes();
}

void Stores::start(unsigned turn) {
  for (std::uint32_t face = 0; face < kFaces; ++face) send(face, turn);
}

void Stores::finish(unsigned turn) { store_sync(bytes_, arrived_[turn]); }

void Stores::send(std::uint32_t face, unsigned turn) {
  const Layer layer = outermost(block_.size(), face);
  const double* const values = block_.values(turn);
  global_ptr<double> to = block_.ghosts_beyond(turn, face);
  if (layer.run == 1) {
    packed_.resize(layer.points());
    pack(values, layer, packed_.data());
    bulk_store(to, std::span(packed_), arrived_[turn]);
    return;
  }
  for (std::size_t row = 0; row < layer.rows; ++row) {
    bulk_store(to, std::span(values + layer.first + row * layer.stride, layer.run), arrived_[turn]);
    to += static_cast<std::ptrdiff_t>(layer.run);
  }
}

}  // namespace

std::unique_ptr<Halo> with_stores(Block& block) { return std::make_unique<Stores>(block); }

}  // namespace jacobi3d
