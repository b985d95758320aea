#include "examples/contents.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>

namespace examples {

std::string contents_of(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             std::fclose);
  std::string text;
  std::array<char, 65536> buffer;
  while (file != nullptr) {
    const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), file.get());
    text.append(buffer.data(), got);
    if (got == 0 && std::ferror(file.get()) == 0) return text;
    if (got == 0) break;
  }
  throw std::runtime_error(path + " cannot be read: " + std::strerror(errno));
}

}  // namespace examples
