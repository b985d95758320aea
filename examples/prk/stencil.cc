// Stencil: a linear filter on a square of points, in tiles. Every iteration adds the filtered
// points to the result, and then 1 to every point, so that all ghosts are new.

#include "examples/prk/stencil.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace prk {
namespace {

using namespace splitc;

class Stencil : public Kernel {
 public:
  using MakeHalo = std::unique_ptr<StencilHalo> (*)(Field& field, std::size_t sides);

  Stencil(const StencilOptions& options, MakeHalo make)
      : options_(options),
        field_(options),
        weights_((2 * options.radius + 1) * (2 * options.radius + 1)),
        halo_(make(field_, options.sides())) {
    prk_weights(options.star ? 1 : 0, options.radius, weights_.data());
    const auto inner = [&](Range range) {
      const std::size_t begin = std::max<std::size_t>(range.begin, options.radius);
      const std::size_t end = std::min<std::size_t>(range.end, options.size - options.radius);
      return Range{begin, std::max(begin, end)};
    };
    active_ = {inner(field_.tile().x), inner(field_.tile().y)};
    result_.resize(active_.x.size() * active_.y.size());
  }

  void iterate() override {
    halo_->start(turn_);
    halo_->finish(turn_);
    const Tile& tile = field_.tile();
    const double* const first = field_.first() + (active_.y.begin - tile.y.begin) * field_.pitch() +
                                (active_.x.begin - tile.x.begin);
    prk_apply(options_.star ? 1 : 0, options_.radius, weights_.data(), first, field_.pitch(),
              result_.data(), {active_.x.size(), active_.y.size(), active_.x.size()});
    halo_->settle();
    prk_increment(field_.first(), field_.shape());
    turn_ ^= 1;
  }

  double found(std::uint32_t) override {
    double norm = 0;
    for (const double value : result_) norm += std::abs(value);
    const auto side = static_cast<double>(options_.size - 2 * options_.radius);
    return norm / (side * side);
  }

 private:
  StencilOptions options_;
  Field field_;
  Tile active_{};  // the points of the tile that are not at the border of the square
  std::vector<double> weights_, result_;
  std::unique_ptr<StencilHalo> halo_;
  unsigned turn_ = 0;
};

// Throws unless there are points with a whole stencil, and all ghosts are points of the tile next
// to them.
void check(const StencilOptions& options, const Tiles& tiles) {
  const std::string size = "prk stencil: --size " + std::to_string(options.size);
  if (2 * std::size_t{options.radius} + 1 > options.size) {
    throw std::runtime_error(size + " has no point for a stencil of --radius " +
                             std::to_string(options.radius) + "; 2 R + 1 points are the least");
  }
  const std::size_t least = std::max(1u, options.radius);
  if (options.size / tiles.across() < least || options.size / tiles.down() < least) {
    throw std::runtime_error(size + " in " + tiles.words() + " gives some fewer than " +
                             std::to_string(least) +
                             " points along a dimension; take fewer processes or more points");
  }
}

}  // namespace

int stencil(Args args) {
  Runs runs;
  StencilOptions options;
  std::string shape = "star";
  examples::CommandLine line("A linear filter on a square of points, in tiles.", "prk stencil");
  line.option("--size", options.size, "points along each dimension")
      .range(std::size_t{1}, std::size_t{1} << 20);
  line.option("--radius", options.radius, "of the stencil").range(0u, 100u);
  line.option("--shape", shape, "of the stencil: a star, or all of a square")
      .one_of({"star", "grid"});
  add_options(line, runs, {"channels", "stores"});
  if (!line.parse(args)) return 0;

  options.star = shape == "star";
  const Tiles tiles(options.size, options.size);
  check(options, tiles);
  const std::size_t side = options.size - 2 * std::size_t{options.radius};
  const std::size_t points =
      options.star ? 4 * options.radius + 1 : (2 * options.radius + 1) * (2 * options.radius + 1);
  const double speed = options.radius > 0 ? 2.0 : 0.0;
  const Way ways[] = {
      {"channels", [=] { return std::make_unique<Stencil>(options, stencil_by_channels); }},
      {"stores", [=] { return std::make_unique<Stencil>(options, stencil_by_stores); }},
  };
  return measure(runs,
                 {.title = "stencil: " + std::to_string(options.size) + " x " +
                           std::to_string(options.size) + " points, " + shape + " of radius " +
                           std::to_string(options.radius) + ", " + tiles.words(),
                  .verified = "the mean of the result",
                  .expected = [=](double iterations) { return speed * iterations; },
                  .unit = "MFlop",
                  .work = static_cast<double>((2 * points + 1) * side * side) / 1e6},
                 ways);
}

}  // namespace prk
