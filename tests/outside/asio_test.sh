#!/usr/bin/env bash
# Messages in the event loop of Asio (Debian: libasio-dev): asio_program.cc.
program=$PWD/tests/outside/asio_program.cc
source tests/outside/outside.sh
needs g++
echo '#include <asio.hpp>' >probe.cc
if ! g++ -std=c++20 -fsyntax-only probe.cc 2>/dev/null; then
  echo "skipped: g++ finds no asio.hpp (Debian: libasio-dev)"
  exit 0
fi
"$prefix/bin/splitc++" "$program" -o program -pthread || fail "compiling with Asio"
for nodes in 1 2; do
  got=$("$prefix/bin/splitcrun" -n 2 --nodes "$nodes" --timeout 60 ./program) || fail "exit code on $nodes nodes"
  [[ $got == "100 answers, 100 of them right" ]] || fail "on $nodes nodes it prints:" "$got"
  echo "passed: in the loop of Asio, on $nodes nodes"
done
