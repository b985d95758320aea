#!/usr/bin/env bash
# The Python package, built with nothing but what is installed, and in jobs of all kinds.
source tests/outside/outside.sh
needs cmake g++ make python3
package=$prefix/share/splitphase/python

# One that has NumPy and can be extended.
python=""
for candidate in python3 /usr/bin/python3; do
  "$candidate" -c 'import numpy, os, sysconfig
os.stat(sysconfig.get_path("include") + "/Python.h")' 2>/dev/null || continue
  python=$(command -v "$candidate")
  break
done
if [[ -z $python || ! -e /usr/include/pybind11/pybind11.h ]]; then
  echo "skipped: no pybind11, or no Python with NumPy (third_party/test_packages.txt)"
  exit 0
fi

# Where /bin is /usr/bin by another name, pybind11 lies in /usr only.
export PATH=/usr/bin:$PATH
cmake -S "$package" -B build -DPython_EXECUTABLE="$python" || fail "configuring the package"
cmake --build build -j 2 || fail "building the package"
cmake --install build || fail "installing the package"
export PYTHONPATH=$prefix/lib/python PYTHONDONTWRITEBYTECODE=1

# job SHAPE PROGRAM [ARGUMENTS]
job() {
  # shellcheck disable=SC2086  # several words
  "$prefix/bin/splitcrun" $1 --timeout 120 "$python" "${@:2}"
}

for shape in "-n 1" "-n 4" "-n 4 --nodes 2" "-n 3 --nodes 3"; do
  job "$shape" "$clone/tests/outside/python_package.py" || fail "exit code of python_package.py, $shape"
done
SPLITC_LINK=datagram job "-n 4 --nodes 2" "$clone/tests/outside/python_package.py" ||
  fail "exit code of python_package.py over datagrams"
"$python" "$clone/tests/outside/python_package.py" || fail "exit code of python_package.py, alone"

# ends HOW CODE SENTENCE...: so does python_errors.py HOW, and its standard error has the sentences. Also on two
# nodes where one process ends while another waits for it.
ends() {
  local shape code sentence shapes=("-n 2")
  [[ $1 != @(raises|waits|differs) ]] || shapes+=("-n 2 --nodes 2")
  for shape in "${shapes[@]}"; do
    code=0
    job "$shape" "$clone/tests/outside/python_errors.py" "$1" >said 2>errors || code=$?
    ((code == $2)) || fail "exit code $code of $1, $shape" "$(cat errors)"
    for sentence in "${@:3}"; do
      cat said errors | grep -qF -- "$sentence" || fail "$1, $shape, does not say: $sentence" "$(cat said errors)"
    done
  done
  echo "passed: a job that $1"
}
ends raises 1 "Traceback (most recent call last):" "in raises" "ValueError: nobody catches this" \
  "rank 1: the program was left by an exception: ValueError: nobody catches this"
ends exits 5 "sys.exit(5)"
ends leaves 0
ends waits 1 "in process 1:" "in wait" "rank 1: splitphase.sync: "
ends differs 1 "splitphase.Error: rank " "while this process called" "python_errors.py:"
ends keeps 0 "42 is still here"
ends again 0 "a second job has ended"

# The first program of the documentation.
awk '/^```python/ { inside = 1; next } /^```/ { exit } inside' "$prefix/share/doc/splitphase/docs/languages.md" >first.py
got=$(job "-n 4" first.py | LC_ALL=C sort) || fail "the first program"
[[ $got == "\
process 0: mine 4950.0, theirs 5250.0, all 20400.0
process 1: mine 5050.0, theirs 4950.0, all 20400.0
process 2: mine 5150.0, theirs 5050.0, all 20400.0
process 3: mine 5250.0, theirs 5150.0, all 20400.0" ]] || fail "the first program prints:" "$got"
echo "passed: the first program"

# The examples give the same by both ways, whoever takes part.
sentence() {
  sed -E 's/, [0-9.]+ (us|ms) .*//'
}
cp "$prefix"/share/doc/splitphase/docs/{index,design}.md .
examples=$prefix/share/doc/splitphase/examples/from_python
for example in "jacobi.py 50 20" "word_count.py index.md design.md"; do
  read -ra words <<<"$example"
  expected=$(job "-n 1" "$examples/${words[0]}" "${words[@]:1}" | sentence)
  [[ -n $expected ]] || fail "$example prints nothing"
  for shape in "-n 3" "-n 4 --nodes 2"; do
    got=$(job "$shape" "$examples/${words[0]}" "${words[@]:1}" | sentence) || fail "$example, $shape"
    [[ $got == "$expected" ]] || fail "$example, $shape, prints:" "$got" "instead of:" "$expected"
  done
  echo "passed: $example"
  if "$python" -c 'import mpi4py' 2>/dev/null && command -v mpirun.openmpi >/dev/null; then
    as_root=()
    ((EUID != 0)) || as_root=(--allow-run-as-root)
    got=$(mpirun.openmpi "${as_root[@]}" --oversubscribe -n 2 "$python" "$examples/${words[0]}" --mpi \
      "${words[@]:1}" | sentence) || fail "$example by MPI"
    [[ $got == "$expected" ]] || fail "$example by MPI prints:" "$got" "instead of:" "$expected"
    echo "passed: $example by MPI"
  fi
done
