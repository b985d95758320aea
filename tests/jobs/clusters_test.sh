#!/usr/bin/env bash
# The batch script of docs/clusters.md, on two machines made of namespaces under a Slurm: answers,
# which processes share memory and which have the network, deaths, and that nothing stays behind.
#
#   clusters_test.sh LAUNCHER PAGE JOB EM3D KEY_SORT
#                                  launch_machines.sh, docs/clusters.md, the batch script, two programs
#
# Skipped where launch_machines.sh says that there can be no such machines.
set -euo pipefail

failures=0
problem() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}
passed() { echo "passed: $*"; }

# check NAME COMMAND...: whether it succeeds.
check() {
  if "${@:2}"; then passed "$1"; else problem "$1: not ${*:2}"; fi
}
# has NAME TEXT: a line of the job's output has TEXT.
has() {
  if grep -qE -e "$2" "$output"; then passed "$1"; else problem "$1: no '$2'"; fi
}
lines() { grep -cE -e "$1" "$output" || true; } # with that

# submit: the batch script in this folder. Sets `job` and `output`.
submit() {
  job=$(sbatch --parsable job.sh)
  output=waves-$job.out
}
is() { scontrol -o show job "$job" | grep -qE -e "$1"; }
has_ended() { is "JobState=(COMPLETED|FAILED|CANCELLED|TIMEOUT|NODE_FAIL|OUT_OF_MEMORY)"; }
await_end() { until has_ended; do sleep 0.1; done; }
await_network() { until grep -qs "joined by" "$output" || has_ended; do sleep 0.1; done; }

# of_machines COMMAND...: once on each.
of_machines() { srun --nodes=2 --ntasks-per-node=1 --mpi=none "$@"; }

programs_that_run() { # one that ends meanwhile is none
  local exe
  for exe in /proc/[0-9]*/exe; do
    case $(readlink "$exe") in */em3d | */key_sort) echo "${exe//[^0-9]/}" ;; esac
  done
}
export -f programs_that_run

# machines_are_clean NAME: no process of the job is left on either, and no file in /dev/shm.
machines_are_clean() {
  check "$1" test -z "$(of_machines bash -c 'programs_that_run; ls -A /dev/shm')"
}

machines_are_two() {
  local what
  for what in net mnt pid uts ipc; do
    check "two $what namespaces" \
      test "$(of_machines readlink "/proc/self/ns/$what" | sort -u | wc -l)" -eq 2
  done
}

bytes_over_the_cable() { awk '$1 == "port1:" { print $2 }' /proc/net/dev; }

computes() {
  local with="by $MPI" before rank number='[0-9][0-9,]*'
  before=$(bytes_over_the_cable)
  submit
  await_end
  check "the job ends well $with" is "JobState=COMPLETED "
  for rank in 0 1; do has "rank $rank is on node1 $with" "^$rank: node1$"; done
  for rank in 2 3; do has "rank $rank is on node2 $with" "^$rank: node2$"; done
  has "two nodes and their network $with" "2 nodes, joined by [a-z_;]+ on eth0 \(10\.0\.0\.0/24\)"
  has "0 and 1 near, 2 and 3 far $with" "^0: +0 +- +- +$number +$number$"
  has "2 and 3 near, 0 and 1 far $with" "^0: +3 +$number +$number +- +-$"
  check "em3d's eight answers $with" test "$(lines "equal to the serial sweep")" -eq 8
  check "key_sort's eight $with" test "$(lines "keys a second.* digest")" -eq 8
  check "megabytes through the cable $with" test "$(bytes_over_the_cable)" -gt $((before + 1000000))
  machines_are_clean "nothing stays on the machines $with"
  ((failures == 0)) || cat "$output"
}

# em3d that does not end by itself, under its own name.
replace_em3d() {
  mv em3d real
  mkdir endless
  mv real endless/em3d
  printf '#!/bin/sh\nexec endless/em3d "$@" --version bulk --repetitions 1000000\n' >em3d
  chmod +x em3d
}

kill_one() {
  until programs_that_run | grep -q .; do sleep 0.1; done
  kill -KILL "$(programs_that_run | head -n 1)"
}
export -f kill_one

dies() {
  local with="by $MPI"
  submit
  await_network
  srun --overlap --jobid="$job" --nodes=1 --ntasks=1 --nodelist=node2 --mpi=none bash -c kill_one
  await_end
  check "a death ends the job $with" is "JobState=FAILED "
  has "the death is named $with" "srun: error: node2: task [23]: Killed"
  has "the other machine's processes are ended $with" "srun: error: node1: tasks 0-1: "
  check "what follows is not run $with" test "$(lines "keys a second")" -eq 0
  machines_are_clean "nothing stays on the machines after a death $with"
  ((failures == 0)) || cat "$output"
}

# What runs on the login machine, in the folder with programs and script.
inside() {
  machines_are_two
  for MPI in pmix pmi2; do
    export MPI
    computes
  done
  replace_em3d
  for MPI in pmix pmi2; do dies; done
  echo "$failures failed"
  ((failures == 0))
}

# A job that does not end, which is said by a file.
inside_for_ever() {
  replace_em3d
  MPI=pmix submit
  await_network
  has_ended || touch running
  read -r <>never
}

# marked MARK: processes that have it in their environment, as all of a cluster.
marked() { grep -lsz "^CLUSTER_MARK=$1\$" /proc/[0-9]*/environ | tr -dc '0-9\n' || true; }
shared_places() { stat -c '%n %d' /dev/shm /run /etc/hosts /tmp; }

# nothing_stays WHEN MARK PLACES: of a cluster with that mark, PLACES as they were before.
nothing_stays() {
  local interface
  for interface in port1 switch; do
    check "no $interface $1" eval "! ip link show $interface >/dev/null 2>&1"
  done
  check "no mount $1" test "$(shared_places)" = "$3"
  check "no file $1" test ! -e /run/slurm/slurm.conf
  check "no process $1" test -z "$(marked "$2" | xargs -r ps -o pid=,args= -p)"
}

fill_folder() {
  mkdir "$folder/$1"
  cp -L "$job_script" "$folder/$1/job.sh"
  cp -L "$em3d" "$key_sort" "$folder/$1"
  mkfifo "$folder/$1/never"
}

ends_with_its_command() {
  local before mark=$RANDOM.$$ code=0
  before=$(shared_places)
  fill_folder whole
  (cd "$folder/whole" && CLUSTER_MARK=$mark "$launcher" "$self" --inside) || code=$?
  if ((code == 77)); then
    echo "skipped: $launcher says why"
    exit 0
  fi
  check "what runs on the machines" test "$code" -eq 0
  nothing_stays "stays when the cluster ends" "$mark" "$before"
}

is_killed() {
  local signal=$1 before mark=$RANDOM.$$ cluster
  before=$(shared_places)
  fill_folder "$signal"
  cd "$folder/$signal"
  CLUSTER_MARK=$mark "$launcher" "$self" --inside-for-ever &
  cluster=$!
  cd - >/dev/null
  until [[ -e $folder/$signal/running ]]; do
    kill -0 "$cluster" || { problem "the cluster does not start again" && return; }
    sleep 0.1
  done
  kill "-$signal" "$cluster"
  { wait "$cluster"; } 2>/dev/null || true
  # The kernel ends them, which takes it a moment.
  until [[ -z $(marked "$mark") ]]; do sleep 0.1; done
  nothing_stays "stays after SIG$signal" "$mark" "$before"
}

case $1 in
  --inside)
    inside
    exit
    ;;
  --inside-for-ever)
    inside_for_ever
    exit
    ;;
esac
self=$(realpath "$0") launcher=$(realpath -s "$1") page=$2 job_script=$3 em3d=$4 key_sort=$5
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 143' TERM INT HUP
check "the page shows the batch script" \
  cmp <(awk '/^```sh$/ { inside = 1; next } /^```$/ { if (inside) exit } inside' "$page") "$job_script"
ends_with_its_command
for signal in KILL TERM; do is_killed "$signal"; done
echo "$failures failed"
((failures == 0))
