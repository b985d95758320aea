// Layers that lie in memory as rows are stored row by row, straight into the neighbour's ghosts. Of
// one whose points all lie apart every store would carry 8 bytes: it is packed, stored beside the
// ghosts, and unpacked. Whoever they come to counts the bytes.

#include <vector>

#include "examples/jacobi3d/halo.h"

namespace jacobi3d {
namespace {

using namespace splitc;

class Stores : public Halo {
 public:
  explicit Stores(Block& block);
  void exchange(unsigned turn) override;

 private:
  void store_rows(std::uint32_t face, unsigned turn);
  void store_packed(std::uint32_t face, unsigned turn);
  void unpack(std::uint32_t face, unsigned turn);

  // Where a packed layer for the ghosts of `face` lands.
  std::ptrdiff_t landing_place(std::uint32_t face, unsigned turn) const noexcept {
    return static_cast<std::ptrdiff_t>((turn * kFaces + face) * largest_face_);
  }

  Block& block_;
  std::uint64_t bytes_ = 0;  // of all ghosts
  std::size_t largest_face_;
  spread_array<double> landing_;
  std::vector<double> packed_;
  store_counter arrived_[2];  // by turn: a neighbour may be one ahead
};

Stores::Stores(Block& block)
    : block_(block),
      largest_face_(block.whole().largest_face()),
      landing_(procs(), 2 * kFaces * largest_face_) {
  for (std::uint32_t face = 0; face < kFaces; ++face) {
    bytes_ += ghosts(block.size(), face).points() * sizeof(double);
  }
}

// Whether the points of this block's layers along `face` all lie apart, and so those of all blocks.
bool is_scattered(std::uint32_t face) noexcept { return face / 2 == 2; }

void Stores::exchange(unsigned turn) {
  for (std::uint32_t face = 0; face < kFaces; ++face) {
    is_scattered(face) ? store_packed(face, turn) : store_rows(face, turn);
  }
  store_sync(bytes_, arrived_[turn]);
  for (std::uint32_t face = 0; face < kFaces; ++face) {
    if (is_scattered(face)) unpack(face, turn);
  }
}

void Stores::store_rows(std::uint32_t face, unsigned turn) {
  const std::uint32_t to = block_.neighbour(face);
  const Layer there = ghosts(block_.whole().size(to), opposite(face));
  global_ptr<double> row = block_.values_of(to, turn) + static_cast<std::ptrdiff_t>(there.first);
  const Layer here = outermost(block_.size(), face);
  here.for_each_run([&](std::size_t first) {
    bulk_store(row, std::span(block_.values(turn) + first, here.run), arrived_[turn]);
    row += static_cast<std::ptrdiff_t>(there.row_stride);
  });
}

void Stores::store_packed(std::uint32_t face, unsigned turn) {
  packed_.clear();
  outermost(block_.size(), face).for_each_run([&](std::size_t first) {
    packed_.push_back(block_.values(turn)[first]);
  });
  bulk_store(landing_.on(block_.neighbour(face)) + landing_place(opposite(face), turn),
             std::span(packed_), arrived_[turn]);
}

void Stores::unpack(std::uint32_t face, unsigned turn) {
  const double* point = landing_.mine().data() + landing_place(face, turn);
  ghosts(block_.size(), face).for_each_run([&](std::size_t first) {
    block_.values(turn)[first] = *point++;
  });
}

}  // namespace

std::unique_ptr<Halo> with_stores(Block& block) { return std::make_unique<Stores>(block); }

}  // namespace jacobi3d
