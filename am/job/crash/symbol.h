// Names of functions from a program's own symbol table, which the dynamic linker does not load.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace am {

// The symbols of one ELF file, mapped while the object lives. Safe in a signal handler.
class SymbolFile {
 public:
  // Without symbols if it cannot be read or is no file of this machine's kind.
  explicit SymbolFile(const char* path) noexcept;
  SymbolFile(const SymbolFile&) = delete;
  SymbolFile& operator=(const SymbolFile&) = delete;
  ~SymbolFile();

  // Whether addresses in the file are those in memory: a program that is not relocated.
  bool is_fixed() const noexcept { return fixed_; }

  // The function that has `address`, of the file, in it. `name` is empty if none is known, and
  // valid while this object lives.
  struct Symbol {
    std::string_view name;
    std::uint64_t offset;  // of the address in the function
  };
  Symbol find(std::uint64_t address) const noexcept;

 private:
  template <class T>
  const T* at(std::uint64_t offset, std::uint64_t count = 1) const noexcept;

  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  bool fixed_ = false;
};

}  // namespace am
