#!/usr/bin/env bash
# What splitcrun says of a process that the kernel kills at the memory limit of a control group, and
# of one that finds /dev/shm full. Each part is skipped where this user may not make such a group, or
# mount another /dev/shm.
#   memory_limit_test.sh SPLITCRUN PROGRAM     any program of two processes
set -euo pipefail
splitcrun=$PWD/$1
program=$PWD/$2

expect() {
  [[ $said == *"$1"* ]] && return
  printf 'no "%s" in:\n%s\n' "$1" "$said"
  exit 1
}

groups=/sys/fs/cgroup/memory limit=memory.limit_in_bytes
[[ -e $groups/$limit ]] || groups=/sys/fs/cgroup limit=memory.max
group=$groups/splitphase_test.$$
if mkdir "$group" 2>/dev/null; then
  trap 'rmdir "$group"' EXIT
  if echo $((64 << 20)) 2>/dev/null >"$group/$limit"; then
    status=0
    # Rank 1 keeps all of a line that has no end.
    said=$(sh -c 'echo $$ >"$0/cgroup.procs"; exec "$@"' "$group" "$splitcrun" -n 2 \
      sh -c '[ "$SPLITC_RANK" = 1 ] || exec sleep 1000; exec tail /dev/zero' 2>&1) || status=$?
    ((status == 128 + 9)) || { echo "exit code $status: $said"; exit 1; }
    expect "rank 1 (pid "
    expect "was killed by signal 9 (Killed): the kernel has ended it, or another process, as the "
    expect "memory limit of 64 MiB of the control group /splitphase_test.$$ was reached"
  else
    echo "skipped: no limit can be set in $group"
  fi
else
  echo "skipped: $group cannot be made"
fi

if unshare -m mount -t tmpfs -o size=1m none /dev/shm 2>/dev/null; then
  status=0
  said=$(SPLITC_PROVIDER=shm unshare -m sh -c \
    'mount -t tmpfs -o size=1m none /dev/shm && exec "$@"' - \
    "$splitcrun" -n 2 --nodes 2 "$program" 2>&1) || status=$?
  ((status != 0)) || { echo "it has room in 1 MiB"; exit 1; }
  expect "/dev/shm"
else
  echo "skipped: no other /dev/shm can be mounted"
fi
