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
if [[ -z ${PRIVATE_SLURM_WATCHED-} ]] && command -v setpriv >/dev/null; then
  PRIVATE_SLURM_WATCHED=1 exec setpriv --pdeathsig TERM "$0" "$@"
fi
export PATH="$PATH:/usr/sbin:/sbin"

nodes=1
if [[ ${1-} == -N ]]; then
  nodes=$2
  shift 2
fi

skip() {
  echo "skipped: $*" >&2
  exit 77
}

for program in munged slurmctld slurmd sinfo srun python3; do
  command -v "$program" >/dev/null || skip "no $program here (Debian: slurm-wlm, munge)"
done
((EUID == 0)) || skip "slurmd starts processes only as root"

folder=$(mktemp -d /tmp/slurm.XXXXXX) # short: sockets have paths of at most 107 characters
daemons=()
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
mkdir -m 0700 "$folder"/{state,munge}
for ((i = 1; i <= nodes; i++)); do mkdir -m 0700 "$folder/spool.n$i" "$folder/tmp.n$i"; done
dd if=/dev/urandom of="$folder/munge/key" bs=128 count=1 status=none
chmod 0400 "$folder/munge/key"
cat >"$folder/slurm.conf" <<CONF
ClusterName=private
SlurmctldHost=localhost(127.0.0.1)
SlurmUser=root
SlurmctldPort=$ctld_port
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket
CredType=cred/munge
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool.%n
TmpFS=$folder/tmp.%n
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.%n.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.%n.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SwitchType=switch/none
SelectType=select/linear
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=2
NodeName=n[1-$nodes] NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=$slurmd_ports CPUs=64
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
export SLURM_CONF=$folder/slurm.conf

start() {
  setsid "$@" >>"$folder/daemons.log" 2>&1 & # a signal to the group is not for them
  daemons+=($!)
}
start munged --foreground --force --key-file="$folder/munge/key" --socket="$folder/munge/socket" \
  --pid-file="$folder/munge/pid" --log-file="$folder/munge/log" --seed-file="$folder/munge/seed"
start slurmctld -D -i
for ((i = 1; i <= nodes; i++)); do start slurmd -D -N "n$i"; done

up=
SECONDS=0
while ((SECONDS < 20)); do
  if [[ $(timeout 5 sinfo -h -o %T 2>/dev/null) == idle ]]; then
    up=yes
    break
  fi
  sleep 0.1
done
if [[ -z $up ]]; then
  tail -n 5 "$folder"/*.log "$folder"/munge/log >&2 || true
  skip "a Slurm of its own does not come up on this machine"
fi
# In the background, because a trap has to wait for what is not.
"$@" <&0 &
command=$!
wait "$command"
