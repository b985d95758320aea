#!/usr/bin/env python3
"""Makes one program of several in Split-C, each in a namespace; its first argument names the one that
it runs. They include the same headers, and reading those takes nearly all of the time of compiling one.

    one_program.py SPLITC2CC PROGRAM.sc... >PROGRAMS.cc
"""

import re
import subprocess
import sys
from pathlib import Path

SYSTEM_HEADER = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<.*>", re.MULTILINE)
MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.MULTILINE)

splitc2cc, *sources = sys.argv[1:]
texts = {Path(source).stem: subprocess.run([splitc2cc, source], check=True, text=True, capture_output=True).stdout
         for source in sources}

# None of these may begin within a namespace.
for header in dict.fromkeys(line for text in texts.values() for line in SYSTEM_HEADER.findall(text)):
    print(header)
print("#include <map>\n#include <string>")
for name, text in texts.items():
    print(f"namespace {name} {{\n{text}\n}}")
    for macro in dict.fromkeys(MACRO.findall(text)):
        print(f"#undef {macro}")
print("int main(int argc, char** argv) {\n  const std::map<std::string, int (*)(int, char**)> programs{")
for name in texts:
    print(f'      {{"{name}", &{name}::main}},')
print("  };\n  return programs.at(argv[1])(argc - 1, argv + 1);\n}")
