#pragma once

#include <cstdint>

namespace am {

// A place in the source of a program: std::source_location, which clang 14 does not have. A default
// argument SourceLocation::current() is the place of the call. Line 0: not known.
//
// One word, so that it travels in a register: a call with a location costs what it costs without,
// and a loop of accesses writes none to memory. String literals lie below 2^48 on x86-64 and
// AArch64; a tag above that is dropped.
class SourceLocation {
 public:
  constexpr SourceLocation() noexcept = default;
  static SourceLocation current(const char* file = __builtin_FILE(),
                                unsigned line = __builtin_LINE()) noexcept {
    SourceLocation here;
    here.bits_ = (reinterpret_cast<std::uintptr_t>(file) & kFileMask) |
                 std::uint64_t{line < kLastLine ? line : kLastLine} << kFileBits;
    return here;
  }
  // Static; "" if not known. Without the "./" that a compiler puts before the name of a header
  // which it has found in its working directory.
  const char* file_name() const noexcept {
    if (bits_ == 0) return "";
    const auto* const name = reinterpret_cast<const char*>(bits_ & kFileMask);
    return name[0] == '.' && name[1] == '/' ? name + 2 : name;
  }
  // kLastLine stands for all behind it, too.
  constexpr unsigned line() const noexcept { return static_cast<unsigned>(bits_ >> kFileBits); }

  static constexpr unsigned kLastLine = 0xffff;

 private:
  static constexpr int kFileBits = 48;
  static constexpr std::uint64_t kFileMask = (std::uint64_t{1} << kFileBits) - 1;
  std::uint64_t bits_ = 0;  // the address of the file's name, and the line above it
};
static_assert(sizeof(SourceLocation) == sizeof(void*));

}  // namespace am
