#include "splitc/rpc/program.h"

#include <elf.h>
#include <link.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <shared_mutex>
#include <span>
#include <vector>

#include "am/job/job.h"
#include "am/route/router.h"
#include "splitc/world/context.h"
#include "splitc/world/world.h"

namespace splitc::detail {
namespace {

using Header = ElfW(Phdr);
using Memory = std::span<const std::byte>;

bool is_code(const Header& part) { return part.p_type == PT_LOAD && (part.p_flags & PF_X) != 0; }

constexpr std::uintptr_t kInProgram = 0;  // no address of code

// Calls visit(base, header, memory) for each part of the object whose code has `address`, or of the
// program, which is the first that the loader knows.
template <class Visit>
void for_each_part(std::uintptr_t address, Visit visit) {
  struct Search {
    std::uintptr_t address;
    Visit& visit;
  } search{address, visit};
  const auto visit_one = [](dl_phdr_info* info, std::size_t, void* context) {
    Search& sought = *static_cast<Search*>(context);
    const std::span parts(info->dlpi_phdr, info->dlpi_phnum);
    const auto has_address = [&](const Header& part) {
      return is_code(part) && sought.address - (info->dlpi_addr + part.p_vaddr) < part.p_memsz;
    };
    if (sought.address != kInProgram && std::ranges::none_of(parts, has_address)) return 0;
    for (const Header& part : parts) {
      const auto* first = reinterpret_cast<const std::byte*>(info->dlpi_addr + part.p_vaddr);
      sought.visit(info->dlpi_addr, part, Memory(first, part.p_memsz));
    }
    return 1;  // no more
  };
  dl_iterate_phdr(visit_one, &search);
}

// Of that object.
Code find_code(std::uintptr_t address) {
  Code code;
  std::uintptr_t end = 0;
  for_each_part(address, [&](std::uintptr_t base, const Header& part, Memory memory) {
    code.base = base;
    const auto behind = reinterpret_cast<std::uintptr_t>(memory.data() + memory.size());
    if (is_code(part)) end = std::max(end, behind);
  });
  constexpr std::uint64_t kMost = std::uint64_t{1} << 32;
  code.bytes = end == 0 ? 0 : std::min<std::uint64_t>(end - code.base, kMost);
  return code;
}

// A library that was added, and the place of its base.
struct Library {
  Code code;
  std::uint64_t place;
};
struct Libraries {
  std::shared_mutex mutex;  // guards the rest, among threads
  std::vector<Library> all;
};
Libraries libraries;

std::shared_lock<std::shared_mutex> lock_to_read() {
  std::shared_lock lock(libraries.mutex, std::defer_lock);
  if (is_threaded()) lock.lock();
  return lock;
}

// The linker's build id among `notes`; empty if it is not there.
Memory find_build_id(Memory notes) {
  constexpr auto padded = [](std::size_t bytes) { return (bytes + 3) / 4 * 4; };
  ElfW(Nhdr) note;
  while (notes.size() >= sizeof note) {
    std::memcpy(&note, notes.data(), sizeof note);
    const std::size_t id = sizeof note + padded(note.n_namesz);
    if (id > notes.size() || note.n_descsz > notes.size() - id) break;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof ELF_NOTE_GNU &&
        std::memcmp(&notes[sizeof note], ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0) {
      return notes.subspan(id, note.n_descsz);
    }
    notes = notes.subspan(std::min(notes.size(), id + padded(note.n_descsz)));
  }
  return {};
}

// Fowler, Noll and Vo's number for bytes, a word at a time; the shift lets the high bits of a word
// work on the low ones, too.
std::uint64_t digest(Memory bytes, std::uint64_t value = 0xcbf29ce484222325u) noexcept {
  while (!bytes.empty()) {
    std::uint64_t word = 0;
    const std::size_t count = std::min(bytes.size(), sizeof word);
    std::memcpy(&word, bytes.data(), count);
    value = (value ^ word) * 0x100000001b3u;
    value ^= value >> 29;
    bytes = bytes.subspan(count);
  }
  return value;
}

// What is the same in processes that run the same program, and in no others.
struct Identity {
  std::uint64_t words[4];
  bool operator==(const Identity&) const = default;
};

// For processes of one node: the file. None if that cannot be found.
Identity file_of_program() {
  struct stat file {};
  if (stat("/proc/self/exe", &file) != 0) return {};
  return {{file.st_dev, file.st_ino, static_cast<std::uint64_t>(file.st_size),
           static_cast<std::uint64_t>(file.st_mtim.tv_sec * 1'000'000'000 + file.st_mtim.tv_nsec)}};
}

// For processes of several nodes, whose files have other numbers: the contents of an object.
Identity contents_of(std::uintptr_t address) {
  Memory id;
  std::uint64_t code_bytes = 0;
  for_each_part(address, [&](std::uintptr_t, const Header& part, Memory memory) {
    if (part.p_type == PT_NOTE && id.empty()) id = find_build_id(memory);
    if (is_code(part)) code_bytes += memory.size();
  });
  if (!id.empty()) return {{1, digest(id), digest(id, id.size()), code_bytes}};
  std::uint64_t of_code = 1;
  for_each_part(address, [&](std::uintptr_t, const Header& part, Memory memory) {
    if (is_code(part)) of_code = digest(memory, of_code);
  });
  return {{2, of_code, 0, code_bytes}};
}

}  // namespace

void find_program_code() {
  program_code = find_code(kInProgram);
  libraries.all.clear();
}

std::uint32_t place_in_library(std::uintptr_t address, Call name) {
  const auto lock = lock_to_read();
  for (const Library& library : libraries.all) {
    const std::uintptr_t offset = address - library.code.base;
    if (offset < library.code.bytes) return static_cast<std::uint32_t>(library.place + offset);
  }
  refuse(name,
         "the function is in a shared library, which may lie elsewhere in each process; "
         "link it into the program, or let all processes name the library by add_library() before");
}

std::uintptr_t address_in_library(std::uint32_t place) noexcept {
  const auto lock = lock_to_read();
  // The last that begins there or before; the sender has found it in its own.
  const auto behind = std::ranges::upper_bound(libraries.all, place, {}, &Library::place);
  const Library& library = *std::prev(behind);
  return library.code.base + (place - library.place);
}

void add_library(std::uintptr_t address, Call name) {
  check_may_wait(name);
  if (this_context->number != 0) {
    refuse(name, "called by another thread than the first of the program, which called run()");
  }
  const Code code = find_code(address);
  auto& all = libraries.all;  // which no other thread changes
  const bool is_here =
      code.base == program_code.base || std::ranges::any_of(all, [&](const Library& library) {
        return library.code.base == code.base;
      });
  const std::uint64_t place =
      all.empty() ? program_code.bytes : all.back().place + all.back().code.bytes;
  constexpr std::uint64_t kMost = std::uint64_t{1} << 32;
  const bool fits = code.bytes != 0 && place + code.bytes <= kMost;
  // Before the others know, as their calls may come as soon as they do.
  if (!is_here && fits) {
    const auto lock = lock_among_threads(libraries.mutex);
    all.push_back({code, place});
  }
  Identity mine = contents_of(address);
  mine.words[0] |= std::uint64_t{is_here} << 32 | std::uint64_t{fits} << 33;
  bool same = true;
  for (const Identity& other : world().job().exchange(mine)) same = same && other == mine;
  if (same && fits) return;
  if (!is_here && fits) {
    const auto lock = lock_among_threads(libraries.mutex);
    all.pop_back();
  }
  refuse(name, fits
                   ? "the processes named different libraries, or builds of one; all name the same "
                     "ones in the same order"
                   : "there is no code at the address that was given, or more than 4 GiB of it; "
                     "pass a function of the library");
}

bool all_run_one_program(am::Job& job) {
  const Identity mine = job.router().far_peers() ? contents_of(kInProgram) : file_of_program();
  const auto same = std::ranges::count(job.exchange(mine), mine);  // of all
  return mine != Identity{} && same == job.size();
}

}  // namespace splitc::detail
