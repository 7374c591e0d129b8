#!/bin/bash -l
# A lease of tunehost.
@VALUES@
umask 077
set -C # no file that is there is written into, nor what a link names
if [ ! -L "${log%/*}" ] && { : > "$log"; } 2>/dev/null; then exec >> "$log" 2>&1; fi
set +C
trap : USR1 # notices of the end: the plugin sees the time itself
set -e
trap 'echo "the setup failed at: $BASH_COMMAND" >&2' ERR
@SETUP@
trap - ERR
set +e
@READY@
if [ -n "$sum" ] && [ "$bundles" = 1 ]; then await "$agent" "$sum"; fi
if [ -z "$agent" ]; then
  sleep infinity &
elif [ ! -x "$agent" ] && [ -z "$sum" -o "$bundles" = 1 ]; then
  echo "$agent is not on the node ${SLURMD_NODENAME:-$HOSTNAME}: put tunehost where all nodes see it, or set send: true" >&2
  exit 127
elif [ "$bundles" = 1 ]; then
  # GOGC: agents start with fewer collections, and remove it from what they start.
  if [ -n "$sockets" ]; then export TUNEHOST_AGENT_SOCKET=${sockets}0/agent; fi
  GOGC=${GOGC-800} TUNEHOST_AGENT_BUNDLE=0 "$agent" agent &
else
  export TUNEHOST_PROGRAM=$agent TUNEHOST_GPUS=$gpus TUNEHOST_SOCKETS=$sockets TUNEHOST_SUM=$sum
  unset SLURM_EXPORT_ENV
  each=@BUNDLE@
  srun @TASKS@ &
fi
child=$!
if [ "$bundles" = 1 ]; then trap 'kill -USR1 $child' USR1 TERM; fi # the agent tells the host
while :; do # signals end wait, not the child
  wait $child
  status=$?
  kill -0 $child 2>/dev/null || break
done
exit $status
