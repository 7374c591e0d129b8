# Starts train.py on each node of the trial's lease. The lease is a job of Slurm: srun --overlap
# shares its resources with tunehost's own agents.
GANG_PORT=$(python3 -c 'import socket; s = socket.socket(); s.bind(("", 0)); print(s.getsockname()[1])')
export GANG_PORT
exec srun --overlap --nodes="$SLURM_JOB_NUM_NODES" --ntasks-per-node=1 --ntasks="$SLURM_JOB_NUM_NODES" \
  --cpus-per-task=1 --gres=gpu:1 --mem=0 --kill-on-bad-exit=1 --export=ALL python3 "$(dirname "$0")/train.py"
