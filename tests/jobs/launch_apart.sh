#!/usr/bin/env bash
# What a launcher starts to have its processes on different nodes although it has one machine: the
# process of rank R becomes COMMAND on the pretended node R modulo NODES.
#
#   launch_apart.sh NODES COMMAND...
set -euo pipefail
rank=${PMIX_RANK:-${PMI_RANK:?no rank here: neither PMIX_RANK nor PMI_RANK is set}}
export SPLITC_NODE=$((rank % $1))
exec "${@:2}"
