#!/usr/bin/env bash
# A job across two hosts: two network namespaces that a cable (a veth pair) joins, two processes in
# each, which meet at a rendezvous. Those of one host share memory, the others have the network. And
# jobs on a third host, whose loopback has only an IPv6 address.
#
#   hosts_test.sh FOLDER      where examples/ and tests/ are, built
#
# Needs root and `ip netns`, else it is skipped.
set -euo pipefail
cd "$1"
export PATH="$PATH:/usr/sbin:/sbin"

skip() {
  echo "skipped: $*"
  exit 0
}
((EUID == 0)) || skip "only root makes network namespaces"
command -v ip >/dev/null || skip "no ip here (Debian: iproute2)"

hosts=("splitc-a-$$" "splitc-b-$$")
only_ipv6="splitc-6-$$"
folder=$(mktemp -d)
clean_up() {
  local host pid
  for host in "${hosts[@]}" "$only_ipv6"; do
    for pid in $(ip netns pids "$host" 2>/dev/null); do kill -KILL "$pid" 2>/dev/null || true; done
    ip netns delete "$host" 2>/dev/null || true # takes its end of the cable along, and so the other
  done
  rm -rf "$folder"
}
trap clean_up EXIT
trap 'exit 143' TERM INT HUP

# The interfaces must not be named as containers' are (veth...): those are not used unasked.
connect_hosts() {
  ip netns add "${hosts[0]}" && ip netns add "${hosts[1]}" &&
    ip link add host0 netns "${hosts[0]}" type veth peer name host0 netns "${hosts[1]}" &&
    ip -n "${hosts[0]}" address add 192.0.2.1/24 dev host0 &&
    ip -n "${hosts[1]}" address add 192.0.2.2/24 dev host0 &&
    for host in "${hosts[@]}"; do
      ip -n "$host" link set lo up && ip -n "$host" link set host0 up || return 1
    done
}
add_ipv6() {
  ip -n "${hosts[0]}" address add fd00:2::1/64 dev host0 nodad &&
    ip -n "${hosts[1]}" address add fd00:2::2/64 dev host0 nodad &&
    ip netns add "$only_ipv6" && ip -n "$only_ipv6" link set lo up &&
    ip -n "$only_ipv6" address delete 127.0.0.1/8 dev lo &&
    ip -n "$only_ipv6" address show dev lo | grep -q ::1/128
}
connect_hosts || skip "this machine makes no network namespaces, or no veth pairs"
for host in "${hosts[@]}"; do # the kernel takes up to a second to tell that the cable is in
  until ip -n "$host" link show host0 | grep -q "state UP"; do sleep 0.05; done
done

port=4711
pids=()

# start PROGRAM [ARGUMENTS]: a job of four, ranks 0 and 1 on the first host. Sets pids, by rank; what
# rank R says goes to $folder/out.R and $folder/err.R. `settings` are variables for all of them.
settings=()
start() {
  port=$((port + 1))
  pids=()
  local rank
  for rank in 0 1 2 3; do
    : >"$folder/out.$rank"
    ip netns exec "${hosts[rank / 2]}" env SPLITC_RENDEZVOUS="192.0.2.1:$port" \
      SPLITC_SECRET="known to the test" SPLITC_SIZE=4 SPLITC_RANK="$rank" "${settings[@]}" \
      timeout --foreground --signal=KILL 90 "$@" \
      >"$folder/out.$rank" 2>"$folder/err.$rank" </dev/null &
    pids+=($!)
  done
}

# finish: waits for all. Sets codes, by rank.
finish() {
  codes=()
  local pid
  for pid in "${pids[@]}"; do
    local code=0
    { wait "$pid"; } 2>/dev/null || code=$? # the shell would tell who was killed
    codes+=("$code")
  done
}

failures=0
problem() {
  echo "FAILED: $*"
  tail -n 20 "$folder"/out.? "$folder"/err.?
  failures=$((failures + 1))
}

# succeeds NAME TEXT PROGRAM [ARGUMENTS]: all leave with 0, and a line with TEXT is among theirs.
succeeds() {
  start "${@:3}"
  finish
  if [[ ${codes[*]} != "0 0 0 0" ]]; then
    problem "$1: exit codes ${codes[*]}"
  elif ! grep -qE -e "$2" "$folder"/out.? "$folder"/err.?; then
    problem "$1: nobody says '$2'"
  else
    echo "passed: $1"
  fi
}

# fails NAME TEXT PROGRAM [ARGUMENTS]: all leave with 1, and a line with TEXT tells why.
fails() {
  start "${@:3}"
  finish
  if [[ ${codes[*]} != "1 1 1 1" ]]; then
    problem "$1: exit codes ${codes[*]}"
  elif ! grep -qE -e "$2" "$folder"/err.?; then
    problem "$1: nobody says '$2'"
  else
    echo "passed: $1"
  fi
}

# Every process of tests/jobs/victim prints rank and pid, and then does not end by itself.
wait_until_all_run() {
  local rank
  for rank in 0 1 2 3; do
    until [[ -s $folder/out.$rank ]]; do
      kill -0 "${pids[rank]}" 2>/dev/null || return 1
      sleep 0.05
    done
  done
}

# ends_all NAME KILLED TEXT DEED...: when the deed is done to a running job all its processes end,
# those on both hosts but rank KILLED with a sentence that has TEXT.
ends_all() {
  local rank
  start tests/jobs/victim "$doing"
  if ! wait_until_all_run; then
    finish
    problem "$1: the job does not start"
    return
  fi
  "${@:4}"
  finish
  for rank in 0 1 2 3; do
    ((rank != $2)) || continue
    if ((codes[rank] == 0 || codes[rank] == 137)); then
      problem "$1: rank $rank leaves with ${codes[rank]}"
      return
    elif ! grep -qE -e "$3" "$folder/err.$rank"; then
      problem "$1: rank $rank does not say '$3'"
      return
    fi
  done
  echo "passed: $1"
}
kill_rank() { kill -KILL "$(cut -d' ' -f2 "$folder/out.$1")"; }

for ((i = 0; i < 400; i++)); do echo "$((i * 7919 % 500)) $((i * 104729 % 500))"; done >"$folder/graph"

text=tests/examples/real_text
sorts() {
  rm -f "$folder/sorted"
  succeeds "$1" "in order, nothing lost" examples/sample_sort "$text" -o "$folder/sorted"
  LC_ALL=C sort "$text" | cmp - "$folder/sorted" || problem "$1: not what sort writes"
}

for provider in "" "tcp;ofi_rxm" "sockets" "udp;ofi_rxd"; do
  settings=(SPLITC_VERBOSE=1)
  [[ -z $provider ]] || settings+=("SPLITC_PROVIDER=$provider")
  # They do not protect a job from strangers, and are used only where that is wanted.
  [[ $provider != sockets && $provider != "udp;ofi_rxd" ]] || settings+=("SPLITC_INTERFACE=host0")
  with="over ${provider:-what is chosen}"
  succeeds "hello_splitc $with" "2 nodes, joined by ${provider:-[a-z_;]+} on host0 \(192.0.2.0/24\)" \
    examples/hello_splitc
  succeeds "components $with" "equal to the serial answer" examples/components "$folder/graph"
  sorts "sample_sort $with"
  succeeds "em3d $with" "bulk .* equal to the serial sweep" examples/em3d --size 50 --steps 2
done
settings=(SPLITC_VERBOSE=1)
succeeds "hello_am" "rank 0 says that 13 squared is 169" examples/hello_am
succeeds "ping_pong" "ranks 2 and 3: [0-9.]+ us" examples/ping_pong
settings=(SPLITC_INTERFACE=192.0.2.0/24)
succeeds "an interface by its subnet" "all mail together: 10" examples/hello_splitc

use_ipv6() {
  local provider name
  settings=(SPLITC_INTERFACE=fd00:2::/64 SPLITC_VERBOSE=1)
  succeeds "an interface by its IPv6 subnet" \
    "2 nodes, joined by [a-z_;]+ on host0 \(fd00:2::/64\)" examples/hello_splitc
  for provider in "" "tcp;ofi_rxm" "sockets" "udp;ofi_rxd"; do
    name="a loopback with only ::1, over ${provider:-what is chosen}"
    if ! ip netns exec "$only_ipv6" env SPLITC_VERBOSE=1 SPLITC_PROVIDER="$provider" \
      tools/splitcrun/splitcrun -n 2 --nodes 2 --timeout 60 examples/hello_splitc \
      >"$folder/out.0" 2>"$folder/err.0"; then
      problem "$name"
    elif ! grep -qE "joined by ${provider:-[a-z_;]+} on lo \(::1/128\)" "$folder"/???.0; then
      problem "$name: another network"
    else
      echo "passed: $name"
    fi
  done
}
if add_ipv6; then use_ipv6; else echo "left out: no IPv6 here"; fi

settings=(SPLITC_INTERFACE=eth7)
fails "an interface that is not there" "no network interface, address or subnet eth7" \
  examples/hello_splitc
settings=(SPLITC_PROVIDER=sockets)
fails "a provider that does not protect, on an interface that nobody has named" \
  "sockets does not protect a job from strangers, .* an interface that is named" examples/hello_splitc
settings=(SPLITC_PROVIDER=shm)
fails "a provider for one host only" "no provider and network is common to all 4 processes" \
  examples/hello_splitc

settings=()
for doing in barriers flood; do
  ends_all "rank 3 killed in the middle of $doing" 3 "rank 3 has died" kill_rank 3
  ends_all "rank 0 killed in the middle of $doing" 0 "rank 0 has died" kill_rank 0
done
doing=barriers
ends_all "the cable is cut" -1 "rank [0-3]" ip -n "${hosts[1]}" link set host0 down
echo "$failures failed"
((failures == 0))
