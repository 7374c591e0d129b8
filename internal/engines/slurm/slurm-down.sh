#!/usr/bin/env bash
# slurm-down.sh stops the Slurm that slurm-up.sh brought up in SLURM_T_DIR, with everything that its
# jobs have left running, and removes the directory.
set -u
D=${SLURM_T_DIR:-/tmp/tunehost-slurm}
[ -d "$D" ] || exit 0

# ours PID: a daemon or a job of this cluster; the number may belong to another process by now.
ours() {
  { tr "\0" "\n" < "/proc/$1/environ" | grep -qxF "SLURM_CONF=$D/slurm.conf"; } 2>/dev/null ||
    { tr "\0" " " < "/proc/$1/cmdline" | grep -qF "$D/"; } 2>/dev/null
}
# members: the processes in the nodes' network namespaces, and each srun that uses the cluster.
members() {
  while read -r ns; do ip netns pids "$ns" 2>/dev/null; done < "$D/netns" 2>/dev/null
  for p in $(pgrep -x srun); do ours "$p" && echo "$p"; done
}
stop() { # SIGNAL PID...
  local signal=$1 p
  shift
  for p in "$@"; do kill "-$signal" "$p" 2>/dev/null; done
}

daemons=$(for p in $(sort -un "$D/pids" 2>/dev/null); do ours "$p" && echo "$p"; done)
stop KILL $daemons
for ((t = 0; t < 50; t++)); do # jobs may fork while they are killed
  left=$(members)
  [ -n "$left" ] || break
  stop KILL $left
  sleep 0.02
done
if [ -s "$D/netns" ]; then while read -r ns; do ip netns del "$ns"; done < "$D/netns"; fi
[ ! -s "$D/bridge" ] || ip link del "$(cat "$D/bridge")"
for ((t = 0; t < 50; t++)); do
  left=$(for p in $daemons; do [ -d "/proc/$p" ] && ours "$p" && echo "$p"; done)
  [ -n "$left" ] || break
  sleep 0.02
done
rm -rf "$D"
