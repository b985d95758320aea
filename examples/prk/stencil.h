#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "examples/prk/kernel.h"
#include "examples/prk/loops.h"

namespace prk {

struct StencilOptions {
  std::size_t size = 1000;  // points along each dimension
  std::uint32_t radius = 2;
  bool star = true;  // else the whole square around a point

  std::size_t sides() const noexcept { return star ? 4 : 8; }
};

// A neighbour of a tile is that many tiles away. Sides k and k ^ 1 are opposite ones.
struct Side {
  int x, y;
};
inline constexpr Side kSides[] = {{-1, 0},  {1, 0}, {0, -1}, {0, 1},
                                  {-1, -1}, {1, 1}, {-1, 1}, {1, -1}};

// This process's tile of the points, with `radius` ghosts around it.
class Field {
 public:
  explicit Field(const StencilOptions& options);

  std::uint32_t radius() const noexcept { return radius_; }
  const Tile& tile() const noexcept { return tile_; }
  std::size_t pitch() const noexcept { return pitch_; }
  double* first() noexcept { return points_.data() + radius_ * pitch_ + radius_; }
  prk_tile shape() const noexcept { return {tile_.x.size(), tile_.y.size(), pitch_}; }

  // The process beyond a side; procs() where the points end.
  std::uint32_t neighbour(std::size_t side) const noexcept;
  // The outermost points at a side, and the ghosts beyond it: equally many as at the other end.
  double* edge(std::size_t side) noexcept { return at(side, false); }
  double* ghosts(std::size_t side) noexcept { return at(side, true); }
  splitc::strided region(std::size_t side) const noexcept;
  std::size_t largest_region() const noexcept;  // of all processes, in points

 private:
  double* at(std::size_t side, bool beyond) noexcept;

  Tiles tiles_;
  Tile tile_;
  std::size_t size_, radius_, pitch_;
  std::vector<double> points_;
};

// One way to bring the edges of all tiles to the ghosts of their neighbours. What arrives first
// waits in a box: there is one for each side and turn, and turns alternate. No barrier is needed: a
// process that sends the edges of one turn has had those of the turn before from all its
// neighbours, which have emptied the boxes of the turn before that one.
class StencilHalo {
 public:
  StencilHalo(Field& field, std::size_t sides);
  virtual ~StencilHalo() = default;

  virtual void start(unsigned turn) = 0;   // sends the edges
  virtual void finish(unsigned turn) = 0;  // returns when the ghosts are there
  virtual void settle() {}                 // the points may be changed afterwards

 protected:
  splitc::global_ptr<double> box_beyond(unsigned turn, std::size_t side) const;
  void unpack(unsigned turn);  // all boxes

  Field& field_;
  std::size_t sides_;

 private:
  std::ptrdiff_t box(unsigned turn, std::size_t side) const noexcept;

  std::size_t room_;  // of a box
  splitc::spread_array<double> boxes_;
};
std::unique_ptr<StencilHalo> stencil_by_channels(Field& field, std::size_t sides);
std::unique_ptr<StencilHalo> stencil_by_stores(Field& field, std::size_t sides);

}  // namespace prk
