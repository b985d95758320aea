#!/usr/bin/env bash
# Makes the table of the four ways with little work, and looks at its shape, not at the figures.
#
#   ways_table_test.sh WAYS_SH SPLITCRUN
set -euo pipefail
source "$(dirname "$0")/table_test.sh"

csv=$("$script" --bin "$bin" --rounds 1 --quick --csv)
awk -F, '
  NR == 1 { if ($0 != "operation,bytes,way,ns") { print "header: " $0; bad = 1 }; next }
  NF != 4 || $4 <= 0 { print "figure: " $0; bad = 1 }
  END { if (NR != 1 + 5 * 4) { print NR - 1 " figures"; bad = 1 }; exit bad }
' <<<"$csv" >&2 || fail "the CSV"
for way in messages specialised datagram memory; do
  [[ $(grep -c ",$way," <<<"$csv") == 5 ]] || fail "the figures of $way"
done

table=$("$script" --bin "$bin" --rounds 1 --quick)
[[ $(wc -l <<<"$table") == 6 ]] || fail "the lines of the table: $table"
grep -q "messages  *specialised  *datagram  *memory" <<<"$table" || fail "its heading"
