// Names for addresses in the code of another process.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "am/types/types.h"

namespace am {

// The function of process `pid` that has `address`, without its parameters, and what addr2line
// needs: "step (heat+0x2b3f)". Less where less is known, "" when nothing is. Reads /proc and the
// program's file: some milliseconds.
std::string describe_code(pid_t pid, std::uint64_t address);

// The function of the program in which a lambda stands, where `function`, a demangled name, is that
// lambda, or a function of the library that the compiler has expanded it into: "main(int, char**)"
// of "main(int, char**)::{lambda()#1}::operator()() const". Otherwise `function`.
std::string around_lambdas(const std::string& function);

// The name of the handler whose am::Handler<...>::invoke begins at `address`, or of the function
// that begins there: "on_ping"; "" if it is not known.
std::string describe_handler(pid_t pid, std::uint64_t address);

// Where a call stands: "heat.cc:40", else as describe_code() has it, of this process; "": not
// known.
std::string describe_place(const SourceLocation& where);

}  // namespace am
