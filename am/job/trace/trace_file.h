#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "am/types/types.h"

namespace am {

// The file that process 0 writes.
class TraceFile {
 public:
  // Empties it, or makes it. Throws Error, of process `me`: it cannot be written.
  TraceFile(const std::string& path, Rank me);

  void append(std::string_view text) noexcept;
  // The last call: why not all of it is there; "": it is.
  std::string close();

 private:
  struct Close {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };

  void note_error() noexcept;

  std::unique_ptr<std::FILE, Close> file_;
  int error_ = 0;  // an errno, the first
};

}  // namespace am
