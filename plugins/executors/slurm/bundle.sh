# One bundle: task number SLURM_PROCID. Tasks of a node that see the GPUs of all of them take their own.
read -ra gpus <<< "$TUNEHOST_GPUS"
own=${gpus[SLURM_PROCID]:-0} first=0
for ((i = SLURM_PROCID - SLURM_LOCALID; i < SLURM_PROCID; i++)); do first=$((first + ${gpus[i]:-0})); done
mine() { # LIST: the part of a list that is this task's
  local all
  IFS=, read -ra all <<< "$1"
  if ((${#all[@]} > own)); then all=("${all[@]:first:own}"); fi
  (IFS=,; echo "${all[*]}")
}
if [ -n "${CUDA_VISIBLE_DEVICES-}" ]; then
  CUDA_VISIBLE_DEVICES=$(mine "$CUDA_VISIBLE_DEVICES")
  export CUDA_VISIBLE_DEVICES
fi
if [ -n "${announce-}" ]; then
  devices=$(mine "${SLURM_STEP_GPUS:-${CUDA_VISIBLE_DEVICES-}}")
  echo "$announce ${#gpus[@]} $SLURM_PROCID $SLURMD_NODENAME ${devices:--}"
fi
export TUNEHOST_AGENT_BUNDLE=$SLURM_PROCID TUNEHOST_AGENT_NODE=${SLURMD_NODENAME-}
program=${TUNEHOST_PROGRAM-} sockets=${TUNEHOST_SOCKETS-}
if [ -n "${TUNEHOST_SUM-}" ]; then await "$TUNEHOST_SUM" || exit @ABSENT@; fi
unset TUNEHOST_PROGRAM TUNEHOST_GPUS TUNEHOST_SOCKETS TUNEHOST_SUM
if [ -z "$program" ]; then exec sleep infinity; fi
if [ ! -x "$program" ]; then
  echo "$program is not on the node ${SLURMD_NODENAME:-$HOSTNAME}: put tunehost where all nodes see it, or set send: true" >&2
  exit @ABSENT@
fi
if [ -n "$sockets" ]; then export TUNEHOST_AGENT_SOCKET=$sockets$SLURM_PROCID/agent; fi
GOGC=${GOGC-800} exec "$program" agent
