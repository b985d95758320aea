// PIC: particles in a square of cells, with charges at the corners of these, which move them by
// whole cells. The cells are in tiles, and a particle belongs to the process in whose tile it is.
// Its charge is such that its place after any number of steps is known.

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <stdexcept>
#include <vector>

#include "examples/prk/kernel.h"
#include "examples/prk/particles.h"

namespace prk {
namespace {

using namespace splitc;
using Particle = prk_particle;
using Particles = std::vector<Particle>;

prk_cells cells_of(const Tile& tile) {
  return {tile.x.begin, tile.x.end, tile.y.begin, tile.y.end};
}

class Pic : public Kernel {
 public:
  explicit Pic(const prk_cloud& cloud) : side_(cloud.side), tiles_(cloud.side, cloud.side) {
    const prk_cells cells = cells_of(tiles_.of(my_proc()));
    mine().resize(prk_place(&cloud, &cells, nullptr));
    prk_place(&cloud, &cells, mine().data());
    const auto count = static_cast<double>(mine().size());
    prk_finish(mine().data(), mine().size(), 1 + all_exscan(count, std::plus(), 0));
    all_ = all_reduce(count, std::plus());
  }

  void iterate() override {
    Particles& here = mine();
    std::size_t stay = 0;
    for (std::size_t i = 0; i < here.size(); ++i) {
      Particle particle = here[i];
      prk_move(&particle, static_cast<double>(side_));
      const std::uint32_t to = owner(particle);
      if (to == my_proc()) {
        here[stay++] = particle;
      } else {
        leave(to, particle);
      }
    }
    here.resize(stay);
    exchange();
  }
  double found(std::uint32_t iterations) override {
    double wrong = 0, numbers = 0;
    for (const Particle& particle : mine()) {
      wrong += prk_is_right(&particle, static_cast<double>(side_), iterations) ? 0 : 1;
      numbers += particle.number;
    }
    const double lost = all_reduce(numbers, std::plus()) - all_ * (all_ + 1) / 2;
    return wrong + (my_proc() == 0 ? std::abs(lost) : 0);
  }

 protected:
  struct Mine {
    Particles particles;
  };

  virtual void leave(std::uint32_t to, const Particle& particle) = 0;
  virtual void exchange() = 0;  // until all that left have arrived everywhere
  dist_object<Mine>& all() noexcept { return particles_; }
  Particles& mine() noexcept { return (*particles_).particles; }

 private:
  std::uint32_t owner(const Particle& particle) const {
    return tiles_.proc(place(particle.x, tiles_.across()), place(particle.y, tiles_.down()));
  }
  // Which of so many parts of the square a coordinate is in: the inverse of part().
  std::uint32_t place(double at, std::uint32_t parts) const {
    const auto cell = static_cast<std::uint64_t>(at);
    return static_cast<std::uint32_t>(((cell + 1) * parts - 1) / side_);
  }

  std::uint64_t side_;
  Tiles tiles_;
  double all_ = 0;  // particles
  dist_object<Mine> particles_;
};

// Those that leave are sorted by process and exchanged by one call of all.
class PicAllToAll : public Pic {
 public:
  explicit PicAllToAll(const prk_cloud& cloud) : Pic(cloud), leaving_(procs()), counts_(procs()) {}

 protected:
  void leave(std::uint32_t to, const Particle& particle) override {
    leaving_[to].push_back(particle);
  }
  void exchange() override {
    sorted_.clear();
    for (std::uint32_t to = 0; to < procs(); ++to) {
      counts_[to] = leaving_[to].size();
      sorted_.insert(sorted_.end(), leaving_[to].begin(), leaving_[to].end());
      leaving_[to].clear();
    }
    const auto arrived = all_to_all_varying(sorted_, counts_);
    mine().insert(mine().end(), arrived.all().begin(), arrived.all().end());
  }

 private:
  std::vector<Particles> leaving_;  // by process
  std::vector<std::size_t> counts_;
  Particles sorted_;
};

// An aggregator sends them in blocks as they leave. What arrives meanwhile is not moved again: it
// is kept apart until all have arrived.
class PicAggregator : public Pic {
 public:
  explicit PicAggregator(const prk_cloud& cloud)
      : Pic(cloud), aggregator_(aggregate<Particle>(arrived_, &take)) {}

 protected:
  void leave(std::uint32_t to, const Particle& particle) override {
    aggregator_.send(to, particle);
  }
  void exchange() override {
    aggregator_.flush_all();
    Particles& arrived = (*arrived_).particles;
    mine().insert(mine().end(), arrived.begin(), arrived.end());
    arrived.clear();
    barrier();  // until then nobody sends those of the next step
  }

 private:
  static void take(Mine& arrived, const Particle& particle) {
    arrived.particles.push_back(particle);
  }

  dist_object<Mine> arrived_;
  aggregator<Particle, Mine, void (*)(Mine&, const Particle&)> aggregator_;
};

// What the options say of the particles; false: they were a call for help.
bool read_options(Args args, Runs& runs, prk_cloud& cloud) {
  const std::vector<std::string> densities{"geometric", "sinusoidal", "linear", "patch"};
  std::string density = densities[0];
  std::vector<std::size_t> patch{0, 200, 100, 200};
  examples::CommandLine line("Particles, which move between the processes.", "prk pic");
  line.option("--size", cloud.side, "cells along each dimension: an even number")
      .range(std::uint64_t{2}, std::uint64_t{1} << 20);
  line.option("--particles", cloud.particles, "about so many")
      .range(std::uint64_t{1}, std::uint64_t{1} << 40);
  line.option("--k", cloud.k, "a step leads 2 K + 1 cells to the right")
      .range(std::uint64_t{0}, std::uint64_t{1} << 20);
  line.option("--m", cloud.m, "and so many up").range(std::uint64_t{0}, std::uint64_t{1} << 20);
  line.option("--density", density, "where the particles are").one_of(densities);
  line.option("--rho", cloud.rho, "geometric: from a column to the next").range(1e-6, 1e6);
  line.option("--alpha", cloud.alpha, "linear: a column has beta - alpha x").range(0.0, 1e6);
  line.option("--beta", cloud.beta, "linear").range(1e-6, 1e6);
  line.option("--patch", patch, "patch: its first and last column, first and last row").values(4);
  add_options(line, runs, {"all_to_all", "aggregator"});
  if (!line.parse(args)) return false;
  cloud.density =
      static_cast<prk_density>(std::ranges::find(densities, density) - densities.begin());
  cloud.left = patch[0], cloud.right = patch[1], cloud.bottom = patch[2], cloud.top = patch[3];
  return true;
}

// Throws unless the options make sense together.
void check(const prk_cloud& cloud, const Tiles& tiles) {
  const std::string size = "prk pic: --size " + std::to_string(cloud.side);
  if (cloud.side % 2 != 0) {
    throw std::runtime_error(size + " is odd, but charges alternate from column to column; take " +
                             std::to_string(cloud.side + 1));
  }
  if (cloud.side < tiles.down()) {
    throw std::runtime_error(size + " is too small for " + tiles.words() +
                             "; take at least a row of cells for each");
  }
  if (cloud.left > cloud.right || cloud.bottom > cloud.top) {
    throw std::runtime_error(
        "prk pic: --patch has its last column or row before the first one; take them in order");
  }
  if (cloud.density == kPrkLinear && cloud.alpha > cloud.beta) {
    throw std::runtime_error("prk pic: --alpha " + std::to_string(cloud.alpha) +
                             " is more than --beta " + std::to_string(cloud.beta) +
                             ": the last columns would have fewer than no particles");
  }
}

}  // namespace

int particles(Args args) {
  Runs runs;
  prk_cloud cloud{.density = kPrkGeometric,
                  .side = 1000,
                  .particles = 100'000,
                  .k = 1,
                  .m = 1,
                  .rho = 0.99,
                  .alpha = 1,
                  .beta = 3,
                  .left = 0,
                  .right = 0,
                  .bottom = 0,
                  .top = 0};
  if (!read_options(args, runs, cloud)) return 0;
  const Tiles tiles(cloud.side, cloud.side);
  check(cloud, tiles);
  const prk_cells cells = cells_of(tiles.of(my_proc()));
  const Way ways[] = {
      {"all_to_all", [=] { return std::make_unique<PicAllToAll>(cloud); }},
      {"aggregator", [=] { return std::make_unique<PicAggregator>(cloud); }},
  };
  const auto all = all_reduce(static_cast<double>(prk_place(&cloud, &cells, nullptr)), std::plus());
  return measure(runs,
                 {.title = "pic: " + std::to_string(static_cast<std::uint64_t>(all)) +
                           " particles in " + std::to_string(cloud.side) + " x " +
                           std::to_string(cloud.side) + " cells, " + tiles.words(),
                  .verified = "how many particles are wrong",
                  .expected = [](double) { return 0; },
                  .unit = "Mparticles",
                  .work = all / 1e6},
                 ways);
}

}  // namespace prk
