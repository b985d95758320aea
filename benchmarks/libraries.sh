# UCX and GASNet-EX between two processes of one node, where they are installed; sourced by the scripts
# that compare with them. The script has a folder $work, and `root` is that of the project.

# find_ucx: whether UCX can be measured; says why not.
find_ucx() {
  command -v ucx_perftest >/dev/null && return
  echo "UCX is not installed (no ucx_perftest): left out"
  return 1
}

# on_ucx BYTES COUNT: the round trip of an active message in ns. ucx_perftest's latency is one way, so
# this is twice the lesser of its median and its average.
on_ucx() {
  local bytes=$1 count=$2 port=$((20000 + RANDOM % 10000)) server
  ucx_perftest -d memory -x posix -t am_lat -c 1 -p "$port" >/dev/null 2>&1 &
  server=$!
  # Until the kernel lists it as listening (0A) at this port, or it has ended.
  until grep -qi " [0-9A-F]*:$(printf %04X "$port") [0-9A-F:]* 0A " /proc/net/tcp /proc/net/tcp6 ||
    ! kill -0 "$server" 2>/dev/null; do
    sleep 0.01
  done
  timeout 60 ucx_perftest 127.0.0.1 -d memory -x posix -t am_lat -s "$bytes" -n "$count" -c 0 -p "$port" \
    -f 2>/dev/null | awk -v count="$count" '$1 == count { print 2000 * ($2 < $3 ? $2 : $3) }' || true
  kill "$server" 2>/dev/null || true
  wait "$server" 2>/dev/null || true
}

# find_gasnet: compiles GASNet's program, if pkg-config knows its conduit for one node (smp), which may
# take PKG_CONFIG_PATH; says why not.
find_gasnet() {
  if ! pkg-config --exists gasnet-smp-seq 2>/dev/null; then
    echo "GASNet is not installed (pkg-config knows no gasnet-smp-seq): left out"
    return 1
  fi
  local flags libraries
  read -ra flags <<<"$(pkg-config --cflags gasnet-smp-seq)"
  read -ra libraries <<<"$(pkg-config --libs gasnet-smp-seq)"
  "$(pkg-config --variable=GASNET_CC gasnet-smp-seq)" "${flags[@]}" -falign-functions=64 -falign-loops=64 \
    "$root/benchmarks/rivals/gasnet_ping_pong.c" -o "$work/gasnet_program" "${libraries[@]}" \
    2>"$work/errors" && return
  echo "GASNet's compiler fails ($(grep -m 1 error "$work/errors")): left out"
  return 1
}

# on_gasnet WHAT REPETITIONS: ns of `am`, a short request and its reply, or of `get`, a read of 8 bytes.
on_gasnet() {
  GASNET_PSHM_NODES=2 GASNET_QUIET=1 timeout 60 "$work/gasnet_program" "$2" 2>/dev/null |
    awk -v what="$1" '$1 == what { print $2 }' || true
}
