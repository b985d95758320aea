#!/usr/bin/env python3
"""What the compiler says of ordinary mistakes, all in one source: for each of mistakes.txt one error,
at most 20 lines of it, and the sentence; and nothing of what is right.

    mistakes_test.py [all]        all: every compiler that is here, and not only g++ and clang++
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

TABLE = Path(__file__).parent / "mistakes.txt"
# Of an error. Later versions of clang print some more about each candidate.
MOST_LINES = {"clang++-16": 22, "clang++-19": 22}
# Lines in front of an error that say how the compiler has come there.
CONTEXT = re.compile(r"^In file included from |^ +from |: (In|At) \w|required (from|by|for)|: note: in inst")


def cases():
    """(name, sentence, what stands outside, and what inside a function); no sentence: it is right."""
    text = re.sub(r"^#.*\n", "", TABLE.read_text(), flags=re.MULTILINE)
    for part in re.split(r"^== ", text, flags=re.MULTILINE)[1:]:
        title, _, body = part.partition("\n")
        name, _, sentence = title.partition(": ")
        outside, found, inside = body.partition("--\n")
        yield name, sentence, *((outside, inside) if found else ("", body))


def source():
    yield '#include <iostream>\n#include <map>\n#include <string>\n#include <vector>\n'
    yield '#include "am/am.h"\n#include "splitc/splitc.h"\n'
    for name, _, outside, inside in cases():
        yield f'namespace {name} {{\nusing namespace splitc;\n#line 1 "{name}.cc"\n{outside}'
        yield f"[[maybe_unused]] void program() {{\n{inside}}}\n}}\n"


def errors(compiler):
    """All lines of each error, with the context in front and the notes behind."""
    command = [compiler, "-std=c++20", "-fsyntax-only", "-I.", "-x", "c++", "-"]
    if "clang" in compiler:
        command.append("-ferror-limit=0")
    said = subprocess.run(command, input="".join(source()), text=True, capture_output=True,
                          env={**os.environ, "LC_ALL": "C"}).stderr
    context = []
    error = None
    for line in said.splitlines():
        if CONTEXT.search(line) and (error is None or "note:" not in line):
            context.append(line)
            continue
        if " error: " in line:
            if error:
                yield error
            error = []
        if error is not None:
            error += context + [line]
        context = []
    if error:
        yield error


def check(compiler):
    by_case = {}
    for error in errors(compiler):
        text = "\n".join(error)
        found = re.search(r"^(\w+)\.cc:\d", text, re.MULTILINE)
        by_case.setdefault(found[1] if found else "", []).append(text)
    failed = [f"of no case:\n{text}" for text in by_case.pop("", [])]
    for name, sentence, _, _ in cases():
        said = by_case.get(name, [])
        lines = sum(text.count("\n") + 1 for text in said)
        if len(said) != bool(sentence) or lines > MOST_LINES.get(compiler, 20) or sentence not in "\n".join(said):
            failed.append(f"{name}: {len(said)} errors, {lines} lines; '{sentence}' is expected\n" +
                          "\n".join(said))
    for what in failed:
        print(f"failed: {compiler}: {what}\n")
    return not failed


if __name__ == "__main__":
    names = ["g++", "clang++"]
    if sys.argv[1:] == ["all"]:
        names = ["g++-11", "g++-12", "clang++-14", "clang++-16", "clang++-19"]
    here = [name for name in names if shutil.which(name)]
    if not here:
        sys.exit("no compiler is here")
    print(f"{sum(1 for _ in cases())} cases, {', '.join(here)}")
    sys.exit(not all([check(name) for name in here]))
