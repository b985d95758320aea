#pragma once

#include <cstddef>
#include <span>

// Ordinary static variables that others can reach, as every variable of a Split-C program could be.

// In front of the definition of a variable outside functions: it lies in memory that is part of
// this process's segment while a program runs.
//
//   SPLITC_GLOBAL long counter;                     // also: static, several variables, arrays
//   SPLITC_GLOBAL double edge[2][100] = {{1.0}};
//
//   counter += 1;                                   // an ordinary variable of this process
//   fetch_and_add(toglobal(0, &counter), 1L);       // that of process 0
//   bulk_get(mine, toglobal(left, &edge[1][0]), sizeof mine);
//
// toglobal() gives the address of such a variable, or of a part of it, in any process; all that
// takes a global pointer takes that one, and calls that ask for memory of the segment (channels,
// segments of endpoints) take the variable itself. tolocal() of such a pointer is another address
// of the same memory.
//
// Lifetime. When run() begins, the value of the moment goes on in the segment, at the same address
// of the process; no process is in the program before the variables of all are there. When run()
// ends, the last value goes on in ordinary memory, for destructors and a next run(). A child that
// is forked meanwhile gets a copy of its own.
//
// Threads. In the program as any memory of the segment: of two that access a variable at once, none
// may write, unless both do so by atomic functions (docs/memory-rules.md). While run() begins and
// ends no other thread of this process uses these variables.
//
// Errors. run() fails if the processes do not all run one program with the same shared libraries,
// or if a segment lacks the room. Not for variables that are inline, members of templates, const or
// thread_local: the compiler says that their section conflicts, or run() that they do not fill
// pages, as it does where g++ -flto cuts a large program into parts (-flto-partition=one does not).
// Variables of a shared library that is loaded while a program runs are not in the segment. One
// that is closed then takes its variables along; no other thread calls toglobal() meanwhile.
//
// Cost. None for an access by its name. Each source that has such variables takes whole pages of
// the program's file and of the segment, where a variable without an initial value takes its size
// in the file, too. The start copies them once, and takes an all-gather, an allocation and a
// barrier; programs without such variables have none of this. After Split-C, whose global pointers
// were made of the address of anything.
#define SPLITC_GLOBAL                                                                         \
  asm(".pushsection splitc_globals, 8191, \"aw\", @progbits\n.balign " SPLITC_PAGE_OF_GLOBALS \
      "\n.popsection");                                                                       \
  static_assert(splitc::detail::registers(splitc::detail::static_pages<0>));                  \
  [[gnu::section("splitc_globals")]]

// The largest page that processors of this kind have. (The macro puts the alignment behind all
// variables of a source, in the last part of the section: so they begin and end with a page, in
// whatever order sources are linked, and share none with other variables.)
#ifdef __aarch64__
#define SPLITC_PAGE_OF_GLOBALS "65536"
#else
#define SPLITC_PAGE_OF_GLOBALS "4096"
#endif

// By the linker: where these variables begin and end in the program, or in a shared library.
extern "C" {
[[gnu::visibility("hidden")]] extern std::byte __start_splitc_globals[];
[[gnu::visibility("hidden")]] extern std::byte __stop_splitc_globals[];
}

namespace splitc::detail {

// The pages of the program, or of a shared library, in the list of all. Neither copied nor moved.
class StaticPages {
 public:
  StaticPages(std::byte* first, std::byte* last) noexcept;
  ~StaticPages();
  StaticPages(const StaticPages&) = delete;
  StaticPages& operator=(const StaticPages&) = delete;

 private:
  friend class StaticMemory;

  std::span<std::byte> pages_;
  bool mapped_ = false;  // to the segment
  StaticPages* next_ = nullptr;
};

// A template, so that it is there where the macro is used, and nowhere else; one of each shared
// library, as it is hidden.
template <int>
[[gnu::visibility("hidden")]] inline StaticPages static_pages{__start_splitc_globals,
                                                              __stop_splitc_globals};
constexpr bool registers(const StaticPages& /*instantiated by this*/) { return true; }

// The variables of all, in the segment while this lives. Made by start/ only; one at a time.
class StaticMemory {
 public:
  StaticMemory() = default;
  StaticMemory(const StaticMemory&) = delete;
  StaticMemory& operator=(const StaticMemory&) = delete;
  ~StaticMemory();

  // Collective if there are variables, nothing otherwise. `same_program`: all processes run one.
  // Throws Error in every process if one lacks the memory, or if they do not have the same
  // variables; and in one whose variables do not fill pages.
  void allocate(bool same_program);

 private:
  static void make_private() noexcept;  // what is mapped
};

}  // namespace splitc::detail
