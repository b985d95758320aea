#!/usr/bin/env bash
# splitcc and splitc2cc: programs in the original Split-C, compiled where users do.
source tests/outside/outside.sh
needs g++ python3
cp -L "$clone"/tests/splitc/sources/*.{sc,h} .
export PATH=$prefix/bin:$PATH

splitcc -O2 em3d.sc -lm -o em3d
is_linked_with_shared em3d
agrees ./em3d
splitcc -static-libsplitphase components.sc -o components
is_linked_with_static components
agrees ./components

# Several files with headers of their own, one of them in plain C, and objects in between.
mkdir include
cat >include/twice.h <<'END'
int twice(int *global p);
void *buffer(int bytes);
END
cat >twice.sc <<'END'
#include "twice.h"
int twice(int *global p) { return 2 * *p; }
END
cat >buffer.c <<'END'
#include <stdlib.h>
void *buffer(int bytes);
void *buffer(int bytes) { int *new = malloc(bytes); return new; }
END
cat >main.sc <<'END'
#include <stdio.h>
#include "twice.h"
splitc_main()
{
  int *mine = buffer(sizeof(int)), *global *spread all;
  all = all_spread_malloc(PROCS, sizeof(int *global));
  *mine = 10 + MYPROC;
  all[MYPROC] = (int *global)mine;
  barrier();
  printf("%d sees %d\n", MYPROC, twice(all[1 - MYPROC]));
  barrier();
}
END
splitcc -I include -c twice.sc buffer.c
splitcc -Iinclude main.sc twice.o buffer.o -o main
prints $'0 sees 22\n1 sees 20' ./main

# refused PATTERN FILE: the compiler's errors, and those of the translation, name the original line.
refused() {
  local said
  said=$(splitcc -c "$2" 2>&1) && fail "$2 is compiled"
  # shellcheck disable=SC2053
  [[ $said == $1 ]] || fail "of $2 it says:" "$said"
  echo "passed: $2 is refused"
}
printf 'int x;\n\nint f() { return y; }\n' >wrong.sc
refused "*wrong.sc:3:*was not declared*" wrong.sc
printf 'int\nf(a, b)\n  int a;\n  char *b;\n{ return a; }\n' >old.sc
refused "old.sc:1: write the types of parameters inside the parentheses*" old.sc
refused "splitcc: there is no source none.sc *" none.sc

# Ordinary mistakes: one line each, in the types of the source.
says() {
  printf '%s\n' 'struct node { int value; };' 'int A[10]::, B[10]::[5];' "splitc_main() { $2 }" >mistake.sc
  local said
  said=$(splitcc -c mistake.sc 2>&1) && fail "'$2' is compiled"
  [[ $said == "mistake.sc:3: error: $1" ]] || fail "of '$2' it says:" "$said"
  echo "passed: $2"
}
says "cannot convert 'int []::' to 'int*' in assignment" 'int *p; p = A;'
says "cannot convert 'int *spread' to 'double *spread'" 'double *spread q = &A[3];'
says "'struct node' has no member named 'vlaue'; did you mean 'value'?" 'struct node *global p; p->vlaue = 3;'
says "there is no member 'x' in 'int'" 'int *global p; p->x = 3;'
says "there is no -> of 'int', which is no pointer" 'A[1]->x = 3;'
says "no matching function for call to 'bulk_get(int*, int)'" 'int x; bulk_get(&x, A[3]);'
says "cannot assign 'int' to 'int []'" 'B[3] = 7;'
says "cannot assign 'const int' to 'int []::'" 'A := 3;'
says "an array is no value: name an element of it" 'int x; x := A;'
# In a folder that is called as one of the library's; and a macro, whose line and whose use are named.
mkdir -p splitc
printf 'int A[10]::;\nint f() { return A->y; }\n' >splitc/own.sc
refused "splitc/own.sc:2: error: there is no member 'y' in 'int'" splitc/own.sc
printf 'struct node { int value; };\n#define NONE(p) (p)->none\nint f(struct node *global p)\n{ return NONE(p); }\n' >macro.sc
refused "macro.sc:4: error: there is no such member in 'node'
macro.sc:2: error: 'struct node' has no member named 'none'*" macro.sc
splitc2cc -Iinclude twice.sc | grep -q '^int twice(global<int> p) ' || fail "what splitc2cc prints"
