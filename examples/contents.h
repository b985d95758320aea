#pragma once

#include <string>

namespace examples {

// All bytes of the file at `path`. Throws std::runtime_error, naming file and cause.
std::string contents_of(const std::string& path);

}  // namespace examples
