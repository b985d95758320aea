#!/usr/bin/env bash
# Runs a command on a small cluster: machines made of namespaces, joined by a switch, under a Slurm of
# their own. Each has its own address, host name, processes, System V memory, /dev/shm and mounts; they
# share the kernel, the files and the clock. COMMAND runs on one more machine, `login`, which has the
# Slurm's controller; the others are node1, node2 ... at 10.0.0.1, 10.0.0.2 ...
#
#   launch_machines.sh [-N MACHINES] COMMAND...        2, unless said
#
# COMMAND finds the Slurm through SLURM_CONF; its folder is in /run, which the machines have for
# themselves. All of it is within one process namespace, so nothing can stay: when COMMAND has ended,
# or this script is killed in any way, the kernel ends all processes and with them goes the rest.
# Exit code 77: machines cannot be made here; the last line on standard error says why.
set -euo pipefail
# shellcheck source=tests/jobs/private_slurm.sh
source "$(dirname "${BASH_SOURCE[0]}")/private_slurm.sh"
export PATH="$PATH:/usr/sbin:/sbin"
folder=/run/slurm

give_shared_memory() { mount -t tmpfs -o mode=1777,nosuid,nodev shm /dev/shm; }

# What this script becomes in each machine, which ends as the machine does. Process 1 is the login
# machine's, whose network has the switch. The interface must not be named as containers' are.
connect_machine() {
  ip link set lo up &&
    ip link add eth0 type veth peer name "port$1" netns 1 &&
    ip address add "10.0.0.$1/24" dev eth0 &&
    ip link set eth0 up &&
    nsenter --target 1 --net ip link set "port$1" master switch up
}
run_machine() {
  hostname "node$1"
  give_shared_memory
  connect_machine "$1"
  # The kernel takes up to a second to tell that the cable is in.
  until ip link show eth0 | grep -q "state UP"; do sleep 0.05; done
  # The first process of a machine has to collect those that have lost their parent, as bash does.
  # shellcheck disable=SC2016  # for that shell
  exec unshare --pid --fork --kill-child --mount-proc bash -c '"$@" & wait' bash slurmd -D
}

make_switch() {
  ip link set lo up &&
    ip link add switch type bridge &&
    ip address add 10.0.0.254/24 dev switch &&
    ip link set switch up
}
write_hosts() {
  local name address=0
  echo "127.0.0.1 localhost"
  echo "10.0.0.254 login"
  for name; do echo "10.0.0.$((++address)) $name"; done
}

# What this script becomes in the login machine.
run_login() {
  local nodes=$1 names name
  shift
  mapfile -t names < <(seq -f node%g "$nodes")
  { hostname login && mount -t tmpfs -o mode=0755 run /run && give_shared_memory; } ||
    skip "this machine lets nobody mount in a namespace"
  make_switch || skip "this machine makes no bridges between network namespaces"
  mkdir "$folder"
  prepare_slurm "${names[@]}"
  write_hosts "${names[@]}" >"$folder/hosts"
  [[ ! -e /etc/hosts ]] || mount --bind "$folder/hosts" /etc/hosts
  write_slurm_conf "login(10.0.0.254)" 6817 "NodeName=node[1-$nodes] NodeAddr=10.0.0.[1-$nodes]"
  start_controller
  for name in "${names[@]}"; do
    start unshare --mount --net --uts --ipc "$0" --machine "${name#node}"
  done
  await_nodes 60
  # In the background, because a trap has to wait for what is not.
  "$@" <&0 &
  wait $!
}

case ${1-} in
  --machine)
    run_machine "$2"
    ;;
  --login)
    run_login "${@:2}"
    exit
    ;;
esac

if [[ -z ${PRIVATE_SLURM_WATCHED-} ]] && command -v setpriv >/dev/null; then
  PRIVATE_SLURM_WATCHED=1 exec setpriv --pdeathsig TERM "$0" "$@"
fi
nodes=2
if [[ ${1-} == -N ]]; then
  nodes=$2
  shift 2
fi
need ip iproute2 unshare util-linux nsenter util-linux setpriv util-linux hostname hostname
need_slurm
own=(--mount --net --pid --ipc --uts --fork --kill-child --mount-proc)
unshare "${own[@]}" true || skip "this machine makes no namespaces"

# The two go together: the kernel kills unshare when this script ends, and all in the namespace when
# unshare does.
cluster=
stop() {
  [[ -z $cluster ]] || kill -KILL "$cluster" 2>/dev/null || true
  { wait; } 2>/dev/null # the shell would tell who was killed
}
trap stop EXIT
trap 'exit 143' TERM INT HUP
setpriv --pdeathsig KILL unshare "${own[@]}" "$0" --login "$nodes" "$@" <&0 &
cluster=$!
wait "$cluster"
