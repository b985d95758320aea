#!/usr/bin/env bash
# A Makefile with one object file for each source, with splitc++ as its compiler.
source tests/outside/outside.sh
needs g++ make
cat >Makefile <<'END'
CXX = $(PREFIX)/bin/splitc++
CXXFLAGS = -Wall -Wextra -Werror

all: hello exchange

hello: examples/hello_splitc.o
	$(CXX) $(LDFLAGS) $^ -o $@

exchange: examples/zero_copy_exchange.o
	$(CXX) $(LDFLAGS) $^ -o $@
END
make -j 2 PREFIX="$prefix" || fail "make"
says_hello ./hello
exchanges ./exchange
