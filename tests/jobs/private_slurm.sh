# shellcheck shell=bash
# Sourced by launch_private_slurm.sh and launch_machines.sh: a Slurm of one's own in the folder `folder`,
# with a munged for itself.
: "${folder=}"

skip() {
  echo "skipped: $*" >&2
  exit 77
}

# need PROGRAM PACKAGE...: skips where one of these programs is not there.
need() {
  while (($#)); do
    command -v "$1" >/dev/null || skip "no $1 here (Debian: $2)"
    shift 2
  done
}

need_slurm() {
  need munged munge slurmctld slurm-wlm slurmd slurm-wlm sinfo slurm-wlm srun slurm-wlm
  ((EUID == 0)) || skip "slurmd starts processes only as root"
}

# prepare_slurm NODE...: the folders and the key.
prepare_slurm() {
  mkdir -m 0700 "$folder"/{state,munge}
  local node
  for node; do mkdir -m 0700 "$folder/spool.$node" "$folder/tmp.$node"; done
  dd if=/dev/urandom of="$folder/munge/key" bs=128 count=1 status=none
  chmod 0400 "$folder/munge/key"
}

# write_slurm_conf HOST PORT NODES: where the controller is, and the line that says what nodes there
# are. Each pretends to have more processors than any job of a test wants.
write_slurm_conf() {
  cat >"$folder/slurm.conf" <<CONF
ClusterName=private
SlurmctldHost=$1
SlurmUser=root
SlurmctldPort=$2
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
$3 CPUs=64
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
  export SLURM_CONF=$folder/slurm.conf
}

daemons=()
start() {
  setsid "$@" >>"$folder/daemons.log" 2>&1 & # a signal to the group is not for them
  daemons+=($!)
}

start_controller() {
  start munged --foreground --force --key-file="$folder/munge/key" \
    --socket="$folder/munge/socket" --pid-file="$folder/munge/pid" \
    --log-file="$folder/munge/log" --seed-file="$folder/munge/seed"
  start slurmctld -D -i
}

# await_nodes SECONDS: until all nodes are there; skips if they are not by then.
await_nodes() {
  SECONDS=0
  while ((SECONDS < $1)); do
    [[ $(timeout 5 sinfo -h -o %T 2>/dev/null) != idle ]] || return 0
    sleep 0.1
  done
  tail -n 5 "$folder"/*.log "$folder"/munge/log >&2 || true
  skip "a Slurm of its own does not come up on this machine"
}
