#include <algorithm>

#include "examples/prk/stencil.h"

namespace prk {

using namespace splitc;

Field::Field(const StencilOptions& options)
    : tiles_(options.size, options.size),
      tile_(tiles_.of(my_proc())),
      size_(options.size),
      radius_(options.radius),
      pitch_(tile_.x.size() + 2 * radius_),
      points_(pitch_ * (tile_.y.size() + 2 * radius_)) {
  for (std::size_t y = 0; y < tile_.y.size(); ++y) {
    for (std::size_t x = 0; x < tile_.x.size(); ++x) {
      first()[y * pitch_ + x] = static_cast<double>(tile_.x.begin + x + tile_.y.begin + y);
    }
  }
}

std::uint32_t Field::neighbour(std::size_t side) const noexcept {
  // Below 0 it is a large number, too.
  const std::uint32_t x = tiles_.x_of(my_proc()) + static_cast<std::uint32_t>(kSides[side].x);
  const std::uint32_t y = tiles_.y_of(my_proc()) + static_cast<std::uint32_t>(kSides[side].y);
  return x < tiles_.across() && y < tiles_.down() ? tiles_.proc(x, y) : procs();
}

double* Field::at(std::size_t side, bool beyond) noexcept {
  // From the first point: backwards for a side before it, forwards for one behind it.
  const auto along = [&](int direction, std::size_t points) -> std::ptrdiff_t {
    const auto radius = static_cast<std::ptrdiff_t>(radius_);
    if (direction < 0) return beyond ? -radius : 0;
    if (direction > 0) return static_cast<std::ptrdiff_t>(points) - (beyond ? 0 : radius);
    return 0;
  };
  return first() + along(kSides[side].y, tile_.y.size()) * static_cast<std::ptrdiff_t>(pitch_) +
         along(kSides[side].x, tile_.x.size());
}

strided Field::region(std::size_t side) const noexcept {
  const std::size_t rows = kSides[side].y == 0 ? tile_.y.size() : radius_;
  return {.run = kSides[side].x == 0 ? tile_.x.size() : radius_,
          .rows = static_cast<std::uint32_t>(rows),
          .row_stride = pitch_};
}

std::size_t Field::largest_region() const noexcept {
  return radius_ * std::max((size_ + tiles_.across() - 1) / tiles_.across(),
                            (size_ + tiles_.down() - 1) / tiles_.down());
}

StencilHalo::StencilHalo(Field& field, std::size_t sides)
    : field_(field),
      sides_(sides),
      room_(field.largest_region()),
      boxes_(procs(), 2 * std::size(kSides) * room_) {}

std::ptrdiff_t StencilHalo::box(unsigned turn, std::size_t side) const noexcept {
  return static_cast<std::ptrdiff_t>((turn * std::size(kSides) + side) * room_);
}

global_ptr<double> StencilHalo::box_beyond(unsigned turn, std::size_t side) const {
  const std::uint32_t to = field_.neighbour(side);
  return to == procs() || room_ == 0 ? nullptr : boxes_.on(to) + box(turn, side ^ 1);
}

void StencilHalo::unpack(unsigned turn) {
  for (std::size_t side = 0; side < sides_; ++side) {
    if (field_.neighbour(side) == procs()) continue;
    const strided region = field_.region(side);
    const double* from = boxes_.mine().data() + box(turn, side);
    double* to = field_.ghosts(side);
    for (std::uint32_t row = 0; row < region.rows; ++row) {
      for (std::size_t i = 0; i < region.run; ++i) to[i] = from[i];
      from += region.run, to += region.row_stride;
    }
  }
}

namespace {

strided packed(const strided& region) {
  return {.run = region.run, .rows = region.rows, .row_stride = region.run};
}

class HaloChannels : public StencilHalo {
 public:
  HaloChannels(Field& field, std::size_t sides) : StencilHalo(field, sides) {
    for (const unsigned turn : {0, 1}) {
      for (std::size_t side = 0; side < sides; ++side) {
        const strided region = field.region(side);
        sides_of_[turn].emplace_back(box_beyond(turn, side), packed(region), field.edge(side),
                                     region);
      }
    }
  }
  void start(unsigned turn) override {
    for (auto& side : sides_of_[turn]) {
      if (side.sends()) side.put();
    }
  }
  void finish(unsigned turn) override {
    for (auto& side : sides_of_[turn]) side.wait();
    unpack(turn);
    for (auto& side : sides_of_[turn]) side.ready();
    sent_ = turn;
  }
  void settle() override {
    for (auto& side : sides_of_[sent_]) side.wait_reusable();
  }

 private:
  std::vector<put_channel<double>> sides_of_[2];  // by turn, then by side
  unsigned sent_ = 0;
};

class HaloStores : public StencilHalo {
 public:
  HaloStores(Field& field, std::size_t sides) : StencilHalo(field, sides) {
    for (std::size_t side = 0; side < sides; ++side) {
      if (field.neighbour(side) < procs()) bytes_ += field.region(side).size() * sizeof(double);
    }
  }
  void start(unsigned turn) override {
    for (std::size_t side = 0; side < sides_; ++side) {
      const global_ptr<double> to = box_beyond(turn, side);
      const strided region = field_.region(side);
      if (to) store_strided(to, packed(region), field_.edge(side), region, arrived_[turn]);
    }
  }
  void finish(unsigned turn) override {
    store_sync(bytes_, arrived_[turn]);
    unpack(turn);
  }

 private:
  std::uint64_t bytes_ = 0;   // of all ghosts
  store_counter arrived_[2];  // by turn: a neighbour may be one ahead
};

}  // namespace

std::unique_ptr<StencilHalo> stencil_by_channels(Field& field, std::size_t sides) {
  return std::make_unique<HaloChannels>(field, sides);
}
std::unique_ptr<StencilHalo> stencil_by_stores(Field& field, std::size_t sides) {
  return std::make_unique<HaloStores>(field, sides);
}

}  // namespace prk
