#!/bin/bash -l
# A lease of tunehost.
@VALUES@
mask=$(umask) # the user's, for the setup and programs
umask 077
here= away=
set -C # no file that is there is written into, nor what a link names
if [ ! -L "${log%/*}" ] && { : > "$log"; } 2>/dev/null; then
  exec >> "$log" 2>&1
else # the node does not see the host's folder: what the setup prints stays here if it fails, and the host is told
  away=1 here=/tmp/$lease.log
  { : > "$here"; } 2>/dev/null || here=$(set +C; mktemp "/tmp/$lease.XXXXXX")
  exec >> "${here:-/dev/null}" 2>&1
fi
set +C
umask "$mask"
trap : USR1 # notices of the end: the plugin sees the time itself
@READY@
export TUNEHOST_AGENT_NODE=${SLURMD_NODENAME-}
failed() { # STATUS COMMAND: the setup has ended the job
  local why="the setup failed${2:+ at: $2} (exit status $1) on the node ${SLURMD_NODENAME:-$HOSTNAME}" last
  last=$(tail -n 1 "${here:-$log}" 2>/dev/null |
    sed -E 's/^[^ ]*(slurm_script|bash): (eval: )?line [0-9]+: //' | cut -c 1-300)
  echo "$why${last:+: $last}" >&2
  if [ -z "$away" ] || [ -z "$agent" ]; then return; fi
  if [ -n "$sum" ]; then await "$sum" && agent=$program; fi
  if [ -n "$sockets" ]; then export TUNEHOST_AGENT_SOCKET=${sockets}0/agent; fi
  export TUNEHOST_AGENT_FAILURE="$why${last:+: $last}; its output is in ${here:-no file} there"
  TUNEHOST_AGENT_BUNDLE=0 timeout 90 "$agent" agent
}
setup=@SETUP@
@RUN@
if [ -n "$here" ]; then rm -f "$here"; fi
if [ -n "$sum" ] && [ "$bundles" = 1 ]; then await "$sum" && agent=$program || exit @ABSENT@; fi
if [ -z "$agent" ]; then
  sleep infinity &
elif [ ! -x "$agent" ] && [ -z "$sum" ]; then
  echo "$agent is not on the node ${SLURMD_NODENAME:-$HOSTNAME}: put tunehost where all nodes see it, or set send: true" >&2
  exit @ABSENT@
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
