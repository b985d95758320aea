// Functions and lines of the source of where a process has crashed, by addr2line (binutils), or
// eu-addr2line (elfutils).
#pragma once

#include <string>
#include <string_view>

namespace am::launcher {

// `frames` as am::CrashFrames has them, as lines of text:
//
//     #0 step(double*, int) at /home/me/heat.cc:40
//        (inlined by) run at /home/me/heat.cc:61
//     #1 main at /home/me/heat.cc:80
//     #2 in libc.so.6
//
// Of what addr2line knows nothing of there is the file. Where there is none of the two programs, or
// they take longer than 5 s in all, the last line is a command that prints them. No newline behind
// the last. "": no frames. Starts programs, and waits for them.
std::string source_lines(std::string_view frames);

}  // namespace am::launcher
