#include "examples/image_components/pictures.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>

#include "examples/random.h"

namespace image_components {
namespace {

// Of a bar.
std::size_t width(const Drawing& d) { return std::max<std::size_t>(1, d.size / 16); }
bool is_bar(const Drawing& d, std::size_t at) { return at / width(d) % 2 == 0; }

// From the centre.
struct Place {
  double dx, dy;
  double distance() const { return std::hypot(dx, dy); }
};
Place from_centre(const Drawing& d, std::size_t x, std::size_t y) {
  const double centre = (static_cast<double>(d.size) - 1) / 2;
  return {static_cast<double>(x) - centre, static_cast<double>(y) - centre};
}

bool horizontal_bars(const Drawing& d, std::size_t, std::size_t y) { return is_bar(d, y); }
bool vertical_bars(const Drawing& d, std::size_t x, std::size_t) { return is_bar(d, x); }
bool forward_bars(const Drawing& d, std::size_t x, std::size_t y) { return is_bar(d, x + y); }
bool back_bars(const Drawing& d, std::size_t x, std::size_t y) {
  return is_bar(d, x + d.size - 1 - y);
}
bool cross(const Drawing& d, std::size_t x, std::size_t y) {
  const Place place = from_centre(d, x, y);
  const auto half = static_cast<double>(width(d));
  return std::abs(place.dx) < half || std::abs(place.dy) < half;
}
bool disc(const Drawing& d, std::size_t x, std::size_t y) {
  return from_centre(d, x, y).distance() < 0.4 * static_cast<double>(d.size);
}
bool circles(const Drawing& d, std::size_t x, std::size_t y) {
  const double distance = from_centre(d, x, y).distance();
  return distance < static_cast<double>(d.size) / 2 &&
         is_bar(d, static_cast<std::size_t>(distance));
}
bool squares(const Drawing& d, std::size_t x, std::size_t y) {
  const auto in_middle = [&](std::size_t at) {
    const std::size_t eighth = at * 8 / d.size % 4;
    return eighth == 1 || eighth == 2;
  };
  return in_middle(x) && in_middle(y);
}
// Two arms that wind around one another, twice each, with a gap as wide as an arm between them.
bool spiral(const Drawing& d, std::size_t x, std::size_t y) {
  const Place place = from_centre(d, x, y);
  const double turns = 8 * place.distance() / static_cast<double>(d.size) -
                       std::atan2(place.dy, place.dx) / (2 * std::numbers::pi);
  const double turned = turns - std::floor(turns);
  return turns >= 1 && turns < 3 && (turned < 0.25 || (turned >= 0.5 && turned < 0.75));
}
// Site percolation.
bool noise(const Drawing& d, std::size_t x, std::size_t y) {
  return 100 * examples::fraction(examples::mix(d.seed) + y * d.size + x) < d.percent;
}

constexpr Kind kKinds[] = {
    {"horizontal_bars", horizontal_bars},
    {"vertical_bars", vertical_bars},
    {"forward_bars", forward_bars},
    {"back_bars", back_bars},
    {"cross", cross},
    {"disc", disc},
    {"circles", circles},
    {"squares", squares},
    {"spiral", spiral},
    {"noise", noise},
};

}  // namespace

std::span<const Kind> kinds() { return kKinds; }

Image draw(const Kind& kind, const Drawing& drawing) {
  Image image{drawing.size, drawing.size};
  for (std::size_t y = 0; y < drawing.size; ++y) {
    for (std::size_t x = 0; x < drawing.size; ++x) {
      image.pixels.push_back(kind.is_white(drawing, x, y) ? 255 : 0);
    }
  }
  return image;
}

}  // namespace image_components
