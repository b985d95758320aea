#!/usr/bin/env bash
# Runs a command beside a Slurm of its own: one machine, which may be several of its nodes, free
# ports, everything in a temporary folder.
# The Slurm and its jobs end with the command, and both when whoever started this script is killed.
#
#   launch_private_slurm.sh [-N NODES] COMMAND...
#
# COMMAND finds the Slurm through SLURM_CONF. Exit code 77: there is no Slurm here, or it does not
# come up; the last line on standard error says why.
set -euo pipefail
# shellcheck source=tests/jobs/private_slurm.sh
source "$(dirname "${BASH_SOURCE[0]}")/private_slurm.sh"
if [[ -z ${PRIVATE_SLURM_WATCHED-} ]] && command -v setpriv >/dev/null; then
  PRIVATE_SLURM_WATCHED=1 exec setpriv --pdeathsig TERM "$0" "$@"
fi
export PATH="$PATH:/usr/sbin:/sbin"

nodes=1
if [[ ${1-} == -N ]]; then
  nodes=$2
  shift 2
fi

need_slurm
need python3 python3

folder=$(mktemp -d /tmp/slurm.XXXXXX) # short: sockets have paths of at most 107 characters
command=
stop() {
  [[ -z $command ]] || kill "$command" 2>/dev/null || true
  # Steps first, or their processes would stay.
  local tries
  for ((tries = 0; tries < 50; tries++)); do
    [[ -n $(timeout 5 squeue -h -o %A 2>/dev/null) ]] || break
    timeout 5 scancel --user=root 2>/dev/null || true
    sleep 0.1
  done
  # Then backwards: the others need munge.
  for ((i = ${#daemons[@]} - 1; i >= 0; i--)); do
    kill "${daemons[i]}" 2>/dev/null || true
    wait "${daemons[i]}" 2>/dev/null || true
  done
  rm -rf "$folder"
}
trap stop EXIT
trap 'exit 143' TERM INT HUP

read -r ctld_port slurmd_ports < <(python3 - "$nodes" <<'PYTHON'
import socket
import sys
taken = [socket.socket() for _ in range(1 + int(sys.argv[1]))]
for one in taken:
    one.bind(("127.0.0.1", 0))
first, *others = [str(one.getsockname()[1]) for one in taken]
print(first, ",".join(others))
PYTHON
)
mapfile -t names < <(seq -f n%g "$nodes")
prepare_slurm "${names[@]}"
write_slurm_conf "localhost(127.0.0.1)" "$ctld_port" \
  "NodeName=n[1-$nodes] NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=$slurmd_ports"
start_controller
for name in "${names[@]}"; do start slurmd -D -N "$name"; done
await_nodes 20
# In the background, because a trap has to wait for what is not.
"$@" <&0 &
command=$!
wait "$command"
