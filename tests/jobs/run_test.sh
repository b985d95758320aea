#!/usr/bin/env bash
# What ./run makes of its command line. Bazel and the installer are stand-ins that build nothing; the
# launcher prints its arguments.
#
#   run_test.sh RUN      the script
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

mkdir -p "$folder"/{tools,project/third_party} "$folder"/{release,checked}/tools/splitcrun
cp "$1" "$folder/project/run"
printf '#!/bin/sh\n' >"$folder/project/third_party/install.sh"
for build in release checked; do
  cat >"$folder/$build/tools/splitcrun/splitcrun" <<END
#!/bin/sh
echo "$build:"
for word in "\$@"; do printf "%s\\n" "\$word" | sed 's|$folder/$build/||'; done
END
done
cat >"$folder/tools/bazel" <<END
#!/bin/sh
case "\$*" in
  query*) echo //examples:hello; echo //benchmarks:speed ;;
  info*release*) echo "$folder/release" ;;
  info*) echo "$folder/checked" ;;
esac
END
chmod +x "$folder"/tools/bazel "$folder/project/third_party/install.sh" \
  "$folder"/{release,checked}/tools/splitcrun/splitcrun
export PATH="$folder/tools:$PATH"

failures=0
# gives CODE TEXT ARGUMENTS...: ./run exits so, and TEXT is all that it prints, in one line.
gives() {
  local code=0 said
  said=$("$folder/project/run" "${@:3}" 2>&1) || code=$?
  said=$(tr '\n' ' ' <<<"$said")
  if ((code == $1)) && [[ $said == $2 ]]; then
    echo "passed: ./run ${*:3}"
  else
    echo "FAILED: ./run ${*:3}: exit code $code, and it says: $said"
    failures=$((failures + 1))
  fi
}

hint="--on-crash ./run --checked"
gives 0 "release: -n 4 $hint hello * examples/hello " hello
gives 0 "release: -n 2 $hint speed * benchmarks/speed --csv 3 " speed --csv 3
gives 0 "release: -n 7 --label $hint hello * examples/hello -n 9 " -n 7 --label hello -n 9
gives 0 "release: -n3 --nodes=2 $hint hello * examples/hello " -n3 --nodes=2 hello
gives 0 "checked: --nodes 2 -n 4 examples/hello a " --checked --nodes 2 hello a
gives 0 "checked: -n 3 benchmarks/speed " -n 3 --checked speed
all=(--stats=json --stall-report 5 --stall-timeout 60 --survive --top=2 --watch-near --trace out)
gives 0 "release: ${all[*]} -n 4 $hint hello * examples/hello " "${all[@]}" hello
gives 0 "hello speed " --list
gives 0 "./run * --checked *" --help
gives 2 "./run: --foo is no option *[[]options] NAME [[]arguments]*" --foo hello
gives 2 "./run: which program? *./run --list*" -n 4
gives 2 "./run: which program? *" --checked
gives 2 "./run: -n needs a value, such as -n 4 *" -n
gives 2 "./run: --bind needs a value, such as --bind none *" --label --bind
gives 2 "./run: no program is named 'helo'. There are: hello speed " helo
gives 2 "./run: no program is named 'hell'. Did you mean hello? There are: hello speed " hell
echo "$failures failed"
((failures == 0))
