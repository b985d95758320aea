#!/usr/bin/env bash
# The program in Fortran, built by gfortran alone with what pkg-config says: with the shared library and
# with the static one.
source tests/outside/outside.sh
needs gfortran pkg-config
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
am2() { pkg-config "$@" splitphase-am2; }
strict=(-std=f2018 -Wall -Wextra -Werror -O2)
sources=(examples/from_fortran/splitphase_am2.f90 examples/from_fortran/heat.f90)

# As words: what pkg-config prints are arguments.
# shellcheck disable=SC2046
{
  gfortran "${strict[@]}" "${sources[@]}" -o heat_shared $(am2 --libs) \
    -Wl,-rpath,"$(am2 --variable=libdir)"
  gfortran "${strict[@]}" "${sources[@]}" -o heat_static $(am2 --variable=static_libs)
}
is_linked_with_shared heat_shared
is_linked_with_static heat_static

for shape in "-n 1" "-n 2" "-n 5" "-n 3 --nodes 2"; do
  read -r _ processes _ <<<"$shape"
  for program in heat_shared heat_static; do
    # shellcheck disable=SC2086  # several words
    got=$("$prefix/bin/splitcrun" $shape --timeout 60 ./$program) || fail "exit code of $program, $shape"
    [[ $got == "$((500 * processes)) cells, 1000 steps: as one process computes them" ]] ||
      fail "$program, $shape, prints:" "$got"
    echo "passed: $program, $shape"
  done
done

# What is wrong is said in the library's sentence.
cat >wrong.f90 <<'END'
program wrong
  use splitphase_am2
  type(c_ptr) :: bundle, endpoint
  call check(AMX_SPMDStartup(c_null_ptr, c_null_ptr, 0_c_int, c_null_ptr, bundle, endpoint))
  call check(AM_SetSeg(endpoint, c_null_ptr, 8_c_size_t))
end program
END
# shellcheck disable=SC2046
gfortran -std=f2018 examples/from_fortran/splitphase_am2.f90 wrong.f90 -o wrong $(am2 --libs) \
  -Wl,-rpath,"$(am2 --variable=libdir)"
! ./wrong 2>errors || fail "a wrong call ends well"
grep -q "AM_SetSeg: NULL is no memory of 8 bytes" errors || fail "the sentence is:" "$(cat errors)"
echo "passed: errors"
