#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "examples/image_components/image.h"

namespace image_components {

// The image in the PNG file at `path`: colours as their brightness, and what is transparent over
// black. Throws std::runtime_error, naming file and cause, also of one of more than kMaxPixels.
Image read_png(const std::string& path);

// Writes it there. Throws likewise.
void write_png(const std::string& path, const Image& image);
// The same in colour: three bytes for each pixel, red, green and blue.
void write_png(const std::string& path, std::size_t width, std::size_t height,
               std::span<const std::uint8_t> colours);

}  // namespace image_components
