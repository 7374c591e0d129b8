#!/usr/bin/env bash
# slurm-up.sh brings up a real Slurm of several nodes on this machine, for tests and to try
# things out: one slurmctld and one slurmd per node, each slurmd in a network namespace of its
# own, with a munge key, ports and configuration of its own. It changes nothing below /etc.
#
#   eval "$(./slurm-up.sh)"     # sets SLURM_CONF; ./slurm-down.sh stops and removes everything
#
# It needs root and the packages slurmctld, slurmd, slurm-client, munge, iproute2 (Debian 12).
# Environment, with defaults:
#   SLURM_T_DIR=/tmp/tunehost-slurm   everything that it writes
#   SLURM_T_NODES=4  SLURM_T_CPUS=8  SLURM_T_GPUS=2  SLURM_T_MEM=4096 (MiB)   the nodes: n1, n2, ...
#   SLURM_T_NET=77                    the nodes are 10.77.0.11, 10.77.0.12, ...; this machine is 10.77.0.1
#   SLURM_T_PORT=26817                first port
#   SLURM_T_SLURMD_TIMEOUT=10         seconds until a silent node is down
#   SLURM_T_HIDE=                     folders, separated by spaces, that the nodes do not see: each has an empty one
#   SLURM_T_CTLD=                     SlurmctldParameters, such as preempt_send_user_signal
#   SLURM_T_INSTALL=0                 1: install missing packages with apt-get
# Exit status 77: something is missing that this script may not install.
#
# "ip -n tsl77-n3 link set eth0 down" cuts n3 off. Partitions: main (default), low (preempted by main
# after a grace time of 20 s), short (time limit of 10 minutes).
set -euo pipefail
D=${SLURM_T_DIR:-/tmp/tunehost-slurm}
N=${SLURM_T_NODES:-4} C=${SLURM_T_CPUS:-8} G=${SLURM_T_GPUS:-2} M=${SLURM_T_MEM:-4096}
export SLURM_T_HIDE=${SLURM_T_HIDE-}
NET=${SLURM_T_NET:-77} P=${SLURM_T_PORT:-26817} BR=tsl$NET
HERE=$(dirname "$(readlink -f "$0")")
say() { echo "slurm-up: $*" >&2; }

[ "$(id -u)" = 0 ] || { say "network namespaces and several slurmd need root"; exit 77; }
if [ "${SLURM_T_INSTALL:-0}" = 1 ]; then
  "$HERE/slurm-packages.sh" >&2 || exit 77
elif ! missing=$("$HERE/slurm-packages.sh" --missing) || [ -n "$missing" ]; then
  say "not installed: $missing; apt-get install slurmctld slurmd slurm-client munge iproute2"
  exit 77
fi

export SLURM_CONF=$D/slurm.conf
ready() { [ "$(timeout 3 sinfo -h -N -r -p main -t idle,mix,alloc -o %N 2>/dev/null | wc -l)" -ge "$N" ]; }
if [ -s "$SLURM_CONF" ] && ready; then
  say "$N nodes are up already"
  echo "export SLURM_CONF=$SLURM_CONF"
  exit 0
fi
SLURM_T_DIR=$D "$HERE/slurm-down.sh"
trap '[ $? = 0 ] || SLURM_T_DIR=$D "$HERE/slurm-down.sh" >&2' EXIT

install -d -m 0755 "$D" "$D/log" "$D/dev" "$D/munge"
install -d -m 0700 "$D/state" "$D/munge/priv"
: > "$D/pids"

dd if=/dev/urandom of="$D/munge/priv/key" bs=128 count=1 status=none
chmod 600 "$D/munge/priv/key"
munged --force --key-file="$D/munge/priv/key" --socket="$D/munge/sock" --pid-file="$D/munge/pid" \
  --log-file="$D/munge/priv/log" --seed-file="$D/munge/priv/seed" --num-threads=4 2>/dev/null
cat "$D/munge/pid" >> "$D/pids"

# Slurm sets CUDA_VISIBLE_DEVICES for character devices only; these are second names of /dev/null.
for ((i = 0; i < G; i++)); do mknod -m 666 "$D/dev/gpu$i" c 1 3; done

network() {
  local i
  ip link add $BR type bridge
  echo $BR > "$D/bridge"
  ip addr add 10.$NET.0.1/24 dev $BR
  ip link set $BR up
  for ((i = 1; i <= N; i++)); do
    ip netns add $BR-n$i
    echo $BR-n$i >> "$D/netns"
    ip link add $BR-v$i type veth peer name eth0 netns $BR-n$i
    ip link set $BR-v$i master $BR up
    ip -n $BR-n$i addr add 10.$NET.0.$((10 + i))/24 dev eth0
    ip -n $BR-n$i link set eth0 up
    ip -n $BR-n$i link set lo up
  done
}
network

H=$(hostname -s)
cat > "$SLURM_CONF" <<CONF
ClusterName=tunetest
SlurmctldHost=$H(10.$NET.0.1)
SlurmctldPort=$P
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$D/munge/sock,cred_expire=10
CredType=cred/munge
StateSaveLocation=$D/state
SlurmdSpoolDir=$D/spool.%n
SlurmctldPidFile=$D/slurmctld.pid
SlurmdPidFile=$D/slurmd.%n.pid
SlurmctldLogFile=$D/log/slurmctld.log
SlurmdLogFile=$D/log/slurmd.%n.log
SlurmdDebug=info
SlurmctldDebug=info
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
SwitchType=switch/none
ReturnToService=2
SlurmdTimeout=${SLURM_T_SLURMD_TIMEOUT:-10}
SlurmctldTimeout=30
InactiveLimit=0
KillWait=5
MinJobAge=300
MaxJobCount=20000
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=5,bf_interval=2
${SLURM_T_CTLD:+SlurmctldParameters=$SLURM_T_CTLD}
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
DefMemPerCPU=64
SlurmdParameters=config_overrides
PreemptType=preempt/partition_prio
PreemptMode=CANCEL
JobRequeue=1
GresTypes=gpu
PropagateResourceLimits=NONE
CONF
: > "$D/gres.conf"
printf 'CgroupAutomount=no\nConstrainCores=no\n' > "$D/cgroup.conf"
gres=""
[ "$G" = 0 ] || gres="Gres=gpu:$G"
for ((i = 1; i <= N; i++)); do
  echo "NodeName=n$i NodeHostname=$H NodeAddr=10.$NET.0.$((10 + i)) Port=$((P + 100 + i)) CPUs=$C Sockets=1" \
    "CoresPerSocket=$C ThreadsPerCore=1 RealMemory=$M $gres State=UNKNOWN" >> "$SLURM_CONF"
  case $G in
    0) ;;
    1) echo "NodeName=n$i Name=gpu File=$D/dev/gpu0" >> "$D/gres.conf" ;;
    *) echo "NodeName=n$i Name=gpu File=$D/dev/gpu[0-$((G - 1))]" >> "$D/gres.conf" ;;
  esac
done
cat >> "$SLURM_CONF" <<CONF
PartitionName=main Nodes=n[1-$N] Default=YES PriorityTier=10 PreemptMode=OFF MaxTime=INFINITE State=UP
PartitionName=low Nodes=n[1-$N] PriorityTier=1 PreemptMode=CANCEL GraceTime=20 MaxTime=INFINITE State=UP
PartitionName=short Nodes=n[1-$N] PriorityTier=10 PreemptMode=OFF MaxTime=10 State=UP
CONF

slurmctld -c -D >> "$D/log/slurmctld.out" 2>&1 & echo $! >> "$D/pids"
# Only the network: "ip netns exec" would hide the cgroups that slurmd looks for.
for ((i = 1; i <= N; i++)); do
  install -d -m 0755 "$D/spool.n$i"
  nsenter --net=/run/netns/$BR-n$i unshare --mount bash -c \
    'for d in $SLURM_T_HIDE; do mount -t tmpfs -o mode=1777 none "$d" || exit; done; exec slurmd -D -N "$1"' - n$i >> "$D/log/slurmd.n$i.out" 2>&1 & echo $! >> "$D/pids"
done
for ((t = 0; t < 300; t++)); do
  if ready; then
    say "$N nodes with $C CPUs and $G GPUs are up"
    echo "export SLURM_CONF=$SLURM_CONF"
    exit 0
  fi
  sleep 0.1
done
say "the nodes did not come up"
tail -n 5 "$D"/log/*.{out,log} >&2
exit 1
