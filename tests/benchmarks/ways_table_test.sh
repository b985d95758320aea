#!/usr/bin/env bash
# Makes the table of the four ways with little work, and looks at its shape, not at the figures.
#
#   ways_table_test.sh WAYS_SH SPLITCRUN
set -euo pipefail
source "$(dirname "$0")/table_test.sh"

csv=$("$script" --bin "$bin" --rounds 1 --quick --csv)
awk -F, '
  NR == 1 { if ($0 != "operation,bytes,way,unit,value") { print "header: " $0; bad = 1 }; next }
  NF != 5 || $5 <= 0 { print "figure: " $0; bad = 1 }
  END { if (NR != 1 + 5 * 4) { print NR - 1 " figures"; bad = 1 }; exit bad }
' <<<"$csv" >&2 || fail "the CSV"
for way in messages specialised datagram memory; do
  [[ $(grep -c ",$way," <<<"$csv") == 5 ]] || fail "the figures of $way"
done

table=$("$script" --bin "$bin" --rounds 1 --quick)
[[ $(wc -l <<<"$table") == 6 ]] || fail "the lines of the table: $table"
grep -q "messages  *specialised  *datagram  *memory" <<<"$table" || fail "its heading"

# Whole applications, each in its versions, by every way.
csv=$("$script" --bin "$bin" --rounds 1 --quick --applications --csv)
for application in "EM3D channel" "sample sort bulk" "radix sort bulk" "Jacobi 3-D channels" "matmul get"; do
  [[ $(grep -c "^$application,0,.*,[0-9.]*[1-9][0-9.]*$" <<<"$csv") == 4 ]] || fail "$application: $csv"
done

# A launcher that ends one application of one way as if it had taken too long: the rest has its figures.
mkdir -p "$out/fake/tools/splitcrun"
ln -s "$bin/examples" "$out/fake/examples"
cat >"$out/fake/tools/splitcrun/splitcrun" <<END
#!/bin/sh
case "\$SPLITC_WAY \$*" in "datagram "*/matmul*) exit \$CODE ;; esac
exec "$bin/tools/splitcrun/splitcrun" "\$@"
END
chmod +x "$out/fake/tools/splitcrun/splitcrun"
with_fake() { CODE=$1 "$script" --bin "$out/fake" --rounds 1 --quick --applications; }
with_fake 124 >"$out/text" 2>"$out/said" || fail "a run that takes too long ends all: $(<"$out/said")"
grep -q "^matmul by datagram: did not end in .* the run is lost" "$out/said" || fail "it says $(<"$out/said")"
grep -q "^matmul get .* [0-9.]*  *[0-9.]*  *slow  *[0-9.]*$" "$out/text" || fail "the lost run: $(<"$out/text")"
if with_fake 1 2>/dev/null >&2; then fail "a run that fails is not an error"; fi
