// What splitcrun makes of the addresses at which a process has crashed.
#include "tools/splitcrun/source_lines.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <string>

#include "am/job/crash/symbol.h"

namespace am::launcher {
namespace source_lines_test {

// A library that is stripped, as distributions install them: where it is, and an exported function.
struct Stripped {
  Stripped() {
    void* const library = dlopen("libfabric.so.1", RTLD_NOW);
    Dl_info found{};
    if (library != nullptr && dladdr(dlsym(library, "fi_version"), &found) != 0) {
      path = found.dli_fname;
      exported = reinterpret_cast<std::uint64_t>(found.dli_saddr) -
                 reinterpret_cast<std::uint64_t>(found.dli_fbase);
    }
  }
  std::string path;
  std::uint64_t exported = 0;
};

std::string frame_at(std::uint64_t address, const std::string& path) {
  char hexadecimal[24];
  std::snprintf(hexadecimal, sizeof hexadecimal, "0x%lx", static_cast<unsigned long>(address));
  return hexadecimal + (" " + path + "\n");
}

TEST(SourceLines, name_a_function_that_a_stripped_library_exports) {
  const Stripped library;
  ASSERT_NE(library.path, "");
  const std::string lines = source_lines(frame_at(library.exported + 1, library.path));
  EXPECT_NE(lines.find("fi_version"), std::string::npos) << lines;
}

TEST(SourceLines, name_no_function_where_none_is_known) {
  const Stripped library;
  ASSERT_NE(library.path, "");
  const SymbolFile symbols(library.path.c_str());
  std::uint64_t between = library.exported;
  while (!symbols.find(between).name.empty()) ++between;
  EXPECT_EQ(source_lines(frame_at(between, library.path)), "  #0 in libfabric.so.1");
}

TEST(SourceLines, of_a_recursion_are_said_once) {
  const Stripped library;
  ASSERT_NE(library.path, "");
  const std::string one = frame_at(library.exported + 1, library.path);
  const std::string other = frame_at(0, library.path);
  const std::string name = source_lines(one).substr(std::string("  #0").size());
  EXPECT_EQ(source_lines(one + one + one + other), "  #0" + name +
                                                       "\n  ... the same 2 times more\n"
                                                       "  #3 in libfabric.so.1");
  EXPECT_EQ(source_lines(one + other + one),
            "  #0" + name + "\n  #1 in libfabric.so.1\n  #2" + name);
}

}  // namespace source_lines_test
}  // namespace am::launcher
