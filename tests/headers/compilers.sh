# What the tests of this folder share; they run in the root of the clone.
set -euo pipefail

# The headers that programs begin with. (splitc/with_mpi.h needs an MPI library's compiler.)
entries=(splitc/splitc.h am/am.h am/c/am2.h splitc/compat.h)

# Those of the compilers that the library is for that are here; without "all" as the argument, those
# that are used unless another is named.
names=(g++ clang++)
[[ ${1-} != all ]] || names+=(g++-11 g++-12 clang++-14 clang++-16 clang++-19)
compilers=() paths=
for name in "${names[@]}"; do
  path=$(readlink -f "$(command -v "$name")") || continue
  [[ $paths == *" $path "* ]] || compilers+=("$name")
  paths+=" $path "
done
((${#compilers[@]})) || { echo "no compiler is here"; exit 1; }

failed=0

# includes HEADER...: a source with these.
includes() { printf '#include "%s"\n' "$@"; }

# silent COMPILER NAME OPTION...: it compiles the source of standard input without a word.
silent() {
  local said
  if ! said=$("$1" -x c++ -fsyntax-only -I. "${@:3}" - 2>&1) || [[ $said ]]; then
    printf 'failed: %s, %s, %s\n%s\n' "$2" "$1" "${*:3}" "$said"
    failed=1
  fi
}
