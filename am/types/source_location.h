#pragma once

#include <cstdint>

namespace am {

// A place in the source of a program: std::source_location, which clang 14 does not have. A default
// argument SourceLocation::current() is the place of the call. Line 0: not known; but the address
// may be to which the call returns.
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
  // Of a call that has no room for its place: where in the program it returns to.
  static SourceLocation returning_to(const void* address) noexcept {
    SourceLocation here;
    here.bits_ = reinterpret_cast<std::uintptr_t>(address) & kFileMask;
    return here;
  }
  // Static; "" if not known. Without the "./" that a compiler puts before the name of a header
  // which it has found in its working directory.
  const char* file_name() const noexcept {
    if (line() == 0) return "";
    const auto* const name = reinterpret_cast<const char*>(bits_ & kFileMask);
    return name[0] == '.' && name[1] == '/' ? name + 2 : name;
  }
  // kLastLine stands for all behind it, too.
  constexpr unsigned line() const noexcept { return static_cast<unsigned>(bits_ >> kFileBits); }

  // nullptr if the line is known, or nothing is.
  const void* return_address() const noexcept {
    return line() == 0 ? reinterpret_cast<const void*>(bits_) : nullptr;
  }
  // All that is known, as one number: equal for the same place, unless the name of its file stands
  // at several addresses.
  constexpr std::uint64_t bits() const noexcept { return bits_; }

  static constexpr unsigned kLastLine = 0xffff;

 private:
  static constexpr int kFileBits = 48;
  static constexpr std::uint64_t kFileMask = (std::uint64_t{1} << kFileBits) - 1;
  std::uint64_t bits_ = 0;  // the address of the file's name, or of code, and the line above it
};
static_assert(sizeof(SourceLocation) == sizeof(void*));

// A call that the program has made: its name, which is static, and where it stands, for errors,
// statistics, traces and the report on a job that stands still. Two words, which travel in
// registers.
struct Call {
  constexpr Call(const char* text = "", SourceLocation here = {}) noexcept
      : name(text), where(here) {}
  // The same call, with the address to which it returns unless its place is known.
  Call or_from(const void* return_address) const noexcept {
    return {name, where.bits() != 0 ? where : SourceLocation::returning_to(return_address)};
  }

  const char* name;  // as the program knows it, such as "barrier"
  SourceLocation where;
};

// An operand, and where it stands in the program: an operator has no room for that, nor has a call
// that takes any number of arguments, but the conversion of an operand has. The place is known to
// the compiler, and costs nothing where nobody looks at it.
template <class T>
struct Located {
  constexpr Located(const T& operand, SourceLocation here = SourceLocation::current()) noexcept
      : value(operand), where(here) {}
  T value;
  SourceLocation where;
};

}  // namespace am
