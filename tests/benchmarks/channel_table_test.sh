#!/usr/bin/env bash
# Runs channel_table.sh with little work and looks at what it prints, not at how fast it was. MPI is in it where
# it is installed.
#
#   channel_table_test.sh SCRIPT SPLITCRUN NODES
set -euo pipefail
source "$(dirname "$0")/table_test.sh"

"$script" --bin "$bin" --nodes "$3" --quick >"$out/csv"
awk -F, '
  NR == 1 { if ($0 != "who,way,setting,bytes,ns") { print "header: " $0; bad = 1 }; next }
  NF != 5 || $4 !~ /^[0-9]+$/ || $5 + 0 <= 0 { print "fields: " $0; bad = 1 }
  { ++sizes[$1 " " $2 " " $3] }
  END {
    wanted = "ours message,ours bulk_store,ours channel,ours put_prereg,ours get_unreg,limit raw"
    for (i = split(wanted, names, ","); i > 0; --i) {
      if (sizes[names[i] " default"] != 10) { print sizes[names[i] " default"] + 0 " sizes of " names[i]; bad = 1 }
    }
    exit bad
  }
' "$out/csv" >&2 || fail "the figures"

for wrong in "--nodes 3" "--samples none" "--sizes 7" "--nonsense"; do
  if "$script" $wrong 2>/dev/null >&2; then fail "$wrong was accepted"; fi
done
