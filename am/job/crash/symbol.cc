#include "am/job/crash/symbol.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cstring>

#include "shmem/descriptor.h"

namespace am {

SymbolFile::SymbolFile(const char* path) noexcept {
  const shmem::OwnFd file(open(path, O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (file && fstat(file.fd(), &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
    void* data = mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_PRIVATE,
                      file.fd(), 0);
    if (data != MAP_FAILED) {
      data_ = static_cast<const std::byte*>(data);
      size_ = static_cast<std::size_t>(status.st_size);
    }
  }
  const auto* header = at<Elf64_Ehdr>(0);
  fixed_ = header != nullptr && header->e_type == ET_EXEC;
}

SymbolFile::~SymbolFile() {
  if (data_ != nullptr) munmap(const_cast<std::byte*>(data_), size_);
}

// Null if that is not all in the file.
template <class T>
const T* SymbolFile::at(std::uint64_t offset, std::uint64_t count) const noexcept {
  if (offset > size_ || count > (size_ - offset) / sizeof(T) || offset % alignof(T) != 0) {
    return nullptr;
  }
  return reinterpret_cast<const T*>(data_ + offset);
}

SymbolFile::Symbol SymbolFile::find(std::uint64_t address) const noexcept {
  const auto* header = at<Elf64_Ehdr>(0);
  if (header == nullptr || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64) {
    return {};
  }
  Symbol of_the_compiler{};
  const auto* sections = at<Elf64_Shdr>(header->e_shoff, header->e_shnum);
  for (unsigned i = 0; sections != nullptr && i < header->e_shnum; ++i) {
    // (The second is all that a stripped file has.)
    if (sections[i].sh_type != SHT_SYMTAB && sections[i].sh_type != SHT_DYNSYM) continue;
    if (sections[i].sh_link >= header->e_shnum) continue;
    const Elf64_Shdr& names = sections[sections[i].sh_link];
    const std::uint64_t count = sections[i].sh_size / sizeof(Elf64_Sym);
    const auto* symbols = at<Elf64_Sym>(sections[i].sh_offset, count);
    const auto* text = at<char>(names.sh_offset, names.sh_size);
    for (std::uint64_t j = 0; symbols != nullptr && text != nullptr && j < count; ++j) {
      const Elf64_Sym& one = symbols[j];
      if (ELF64_ST_TYPE(one.st_info) != STT_FUNC || address < one.st_value) continue;
      if (address - one.st_value >= one.st_size || one.st_name >= names.sh_size) continue;
      const char* name = text + one.st_name;
      const Symbol symbol{{name, strnlen(name, names.sh_size - one.st_name)},
                          address - one.st_value};
      // g++ adds names of its own for a function, such as f.localalias for calls within its file.
      if (symbol.name.find('.') == std::string_view::npos) return symbol;
      of_the_compiler = symbol;
    }
  }
  return of_the_compiler;
}

}  // namespace am
