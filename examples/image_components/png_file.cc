#include "examples/image_components/png_file.h"

#include <png.h>

#include <stdexcept>

namespace image_components {
namespace {

// libpng's description of an image, and what it allocates meanwhile.
struct Png : png_image {
  Png() : png_image{} { version = PNG_IMAGE_VERSION; }
  ~Png() { png_image_free(this); }
  Png(const Png&) = delete;
  Png& operator=(const Png&) = delete;

  std::size_t pixels() const noexcept { return std::size_t{width} * height; }
};

[[noreturn]] void refuse(const std::string& path, const std::string& cause) {
  throw std::runtime_error(path + " cannot be read as a PNG image: " + cause);
}

void write(const std::string& path, Png& png, std::size_t width, std::size_t height,
           const std::uint8_t* bytes) {
  png.width = static_cast<png_uint_32>(width);
  png.height = static_cast<png_uint_32>(height);
  if (png_image_write_to_file(&png, path.c_str(), 0, bytes, 0, nullptr) == 0) {
    throw std::runtime_error(path + " cannot be written as a PNG image: " + png.message);
  }
}

}  // namespace

Image read_png(const std::string& path) {
  Png png;
  if (png_image_begin_read_from_file(&png, path.c_str()) == 0) refuse(path, png.message);
  if (png.pixels() > kMaxPixels) {
    refuse(path, "it has " + std::to_string(png.width) + " x " + std::to_string(png.height) +
                     " pixels, and at most " + std::to_string(kMaxPixels) +
                     " are possible; make it smaller");
  }
  png.format = PNG_FORMAT_GRAY;
  Image image{png.width, png.height, std::vector<std::uint8_t>(png.pixels())};
  const png_color black{};
  if (png_image_finish_read(&png, &black, image.pixels.data(), 0, nullptr) == 0) {
    refuse(path, png.message);
  }
  return image;
}

void write_png(const std::string& path, const Image& image) {
  Png png;
  png.format = PNG_FORMAT_GRAY;
  write(path, png, image.width, image.height, image.pixels.data());
}

void write_png(const std::string& path, std::size_t width, std::size_t height,
               std::span<const std::uint8_t> colours) {
  Png png;
  png.format = PNG_FORMAT_RGB;
  write(path, png, width, height, colours.data());
}

}  // namespace image_components
