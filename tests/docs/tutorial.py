#!/usr/bin/env python3
"""The C++ blocks of the README and docs/tutorial.md: one program that runs all of them, and the test of
what it prints.

    tutorial.py generate PAGE...                     prints the program
    tutorial.py check SPLITCRUN PROGRAM PAGE...      runs it; fails where a ```text block says otherwise

A block is a whole program with a main(), or, behind <!-- wrap -->, the body of one. Behind <!-- hangs -->
it is one that stands still, and the text is what splitcrun says of it. The text is what 4 processes print: in that order if
one process prints it all, else sorted. In the README a block without a main() is the body of one, and
what stands above its last empty line is outside of that.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

LANGUAGES = {"cpp", "text", "sh", "console"}  # the last is what a machine measured
INCLUDE = re.compile(r"^#include .*$", re.MULTILINE)


class Unit:
    """A program, made of one block."""

    def __init__(self, name, kind):
        self.name, self.kind = name, kind
        self.code = ""
        self.text = None


def blocks(page):
    """(language, marker, line, text) of each fenced block; an error where a fence is not understood."""
    marker, fence, line, text = "", None, 0, []
    for number, content in enumerate(page.splitlines(), 1):
        if content.startswith("```"):
            if fence is None:
                fence, line, text = content[3:], number, []
                if fence not in LANGUAGES:
                    sys.exit(f"line {number}: a block is one of {sorted(LANGUAGES)}, not '{fence}'")
            else:
                yield fence, marker, line, "\n".join(text) + "\n"
                marker, fence = "", None
        elif fence is not None:
            text.append(content)
        elif content.startswith("<!-- "):
            marker = content[5:].removesuffix(" -->")
        elif content:
            marker = ""
    if fence is not None:
        sys.exit(f"line {line}: this block does not end")


def units(paths):
    return [unit for path in paths for unit in units_of(Path(path))]


def units_of(path):
    page = path.read_text()
    made, last = [], None
    for language, marker, line, text in blocks(page):
        if language == "text" and last is not None:
            last.text = text
        if language != "cpp":
            last = None
            continue
        title = re.match(r"// (\w+\.cc)\n", text)
        place = f'#line {line + 1} "{path.name}"\n'
        if title:
            place = f'#line 1 "{title[1]}"\n'
        last = Unit(f"{path.stem}_{line}", marker)
        made.append(last)
        outside = ""
        if path.name == "README.md" and "int main(" not in text:
            marker = "wrap"
            outside, _, text = text.rpartition("\n\n")
        if marker == "wrap":
            text = f"{outside}\nint main(int, char**) {{\n{place}{text}return 0;\n}}\n"
            place = "using namespace splitc;\n"
        last.code = place + text
        if marker not in ("", "wrap", "hangs"):
            sys.exit(f"line {line}: <!-- {marker} --> is not known")
    for unit in made:
        if "int main(" not in unit.code:
            sys.exit(f"{unit.name}: neither a main() nor <!-- wrap --> in front")
    return made


def generate(*paths):
    made = units(paths)
    includes = sorted({found for unit in made for found in INCLUDE.findall(unit.code)})
    print('#include <cstdio>\n#include <string>\n#include "splitc/splitc.h"')
    print("\n".join(includes))
    for number, unit in enumerate(made):
        # run() of a block calls its program inside the one job.
        print(f"namespace unit_{number} {{")
        print("template <class P> [[maybe_unused]] int run(int argc, char** argv, P&& program) {")
        print("  return program(splitc::Args(argc, argv)), 0;\n}")
        print(INCLUDE.sub("", unit.code) + "}")
    print("""#line 1 "tutorial_main"
int main(int argc, char** argv) {
  return splitc::run(argc, argv, [&](splitc::Args args) {
    const std::string folder = args[1], chosen = args[2];
    const auto print_to = [&](const std::string& unit) {
      const std::string file = folder + "/" + unit + "." + std::to_string(splitc::my_proc());
      if (std::freopen(file.c_str(), "w", stdout) == nullptr) throw std::runtime_error(file);
    };""")
    for number, unit in enumerate(made):
        chosen = f'chosen == "{unit.name}"' if unit.kind == "hangs" else 'chosen == "all"'
        print(f'    if ({chosen}) {{ print_to("{unit.name}"); unit_{number}::main(argc, argv); '
              "std::fflush(stdout); splitc::barrier(); }")
    print("  });\n}")


def expect(unit, got, expected):
    if got != expected:
        sys.exit(f"{unit.name}: prints\n{got}\nbut the page says\n{expected}\nof\n{unit.code}")


def check_output(unit, folder):
    printed = [Path(folder, f"{unit.name}.{rank}").read_text() for rank in range(4)]
    got, expected = "".join(printed), unit.text
    if sum(bool(text) for text in printed) > 1:
        got, expected = ("\n".join(sorted(text.splitlines())) for text in (got, expected))
    expect(unit, got, expected)


def check_report(unit, splitcrun, program, folder):
    done = subprocess.run([splitcrun, "-n", "4", "--stall-report", "1", "--stall-timeout", "2", program,
                           folder, unit.name], capture_output=True, text=True)
    # The last one: by then all have begun.
    report = [line for line in done.stderr.splitlines() if "splitcrun: no progress" in line][-1]
    seconds = re.compile(r"[\d.]+ s\b")
    expect(unit, seconds.sub("N s", report), seconds.sub("N s", " ".join(unit.text.split())))


def check(splitcrun, program, *paths):
    made = units(paths)
    count = 0
    for processes in ("1", "4"):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([splitcrun, "-n", processes, program, folder, "all"], check=True)
            for unit in made:
                if unit.kind != "hangs":
                    count += Path(folder, f"{unit.name}.0").exists()
                    if processes == "4" and unit.text is not None:
                        check_output(unit, folder)
    with tempfile.TemporaryDirectory() as folder:
        for unit in made:
            if unit.kind == "hangs":
                count += 2
                check_report(unit, splitcrun, program, folder)
    if count != 2 * len(made):
        sys.exit(f"{2 * len(made) - count} runs of blocks are missing")
    for page in (Path(path).read_text() for path in paths):
        fences = len(re.findall(r"^\s*(?:```|~~~)", page, re.MULTILINE))
        if not fences or fences != 2 * len(list(blocks(page))):
            sys.exit("a page has blocks that are indented or fenced in another way")


if __name__ == "__main__":
    {"generate": generate, "check": check}[sys.argv[1]](*sys.argv[2:])
