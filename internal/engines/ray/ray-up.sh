#!/usr/bin/env bash
# Starts a Ray cluster of several nodes on this machine, each a raylet of its own, and prints the variables by which
# clients find it:  eval "$(./ray-up.sh)".  ray-down.sh ends it. Needs no root.
#   RAY_T_PYTHON  a Python that has Ray (python3)
#   RAY_T_DIR     the folder of the cluster (a new one); its path must be short, for there are sockets in it
#   RAY_T_NODES, RAY_T_CPUS, RAY_T_GPUS   how many nodes, and what each has (2, 4, 2); they are called n1, n2 and so on
set -euo pipefail
dir=${RAY_T_DIR:-$(mktemp -d /tmp/rt.XXXXXX)} python=${RAY_T_PYTHON:-python3}
nodes=${RAY_T_NODES:-2} cpus=${RAY_T_CPUS:-4} gpus=${RAY_T_GPUS:-2}
"$python" -c 'import ray.util' 2>/dev/null || { echo "$python has no Ray: make python, or pip install ray" >&2; exit 77; }
mkdir -p "$dir" && chmod 700 "$dir"

# Every process of the cluster, and whatever it starts, has this variable: ray-down.sh finds them by it.
export CLUSTER_OF_RAY_T=$dir
export RAY_AUTH_MODE=token RAY_AUTH_TOKEN_PATH=$dir/token RAY_USAGE_STATS_ENABLED=0
export RAY_memory_monitor_refresh_ms=0 RAY_DISABLE_DOCKER_CPU_WARNING=1 PYTHONWARNINGS=ignore
(umask 077 && head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n' > "$dir/token")

port=$("$python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
start() { # NAME, ADDRESS and options
	local name=$1 ip=$2
	shift 2
	# Not ours to hold: the output of whoever started this.
	setsid "$python" -m ray.scripts.scripts start --block --disable-usage-stats --node-ip-address="$ip" \
		--node-name="$name" --num-cpus="$cpus" --num-gpus="$gpus" --object-store-memory=80000000 \
		--min-worker-port=0 --max-worker-port=0 "$@" > "$dir/$name.log" 2>&1 < /dev/null &
	echo $! > "$dir/$name.pid"
}
started() { # NAME
	for _ in $(seq 600); do
		! grep -q 'Ray runtime started' "$dir/$1.log" 2>/dev/null || return 0
		kill -0 "$(cat "$dir/$1.pid")" 2>/dev/null || break
		sleep 0.2
	done
	cat "$dir/$1.log" >&2
	return 1
}
start n1 127.0.0.1 --head --port="$port" --include-dashboard=false --temp-dir="$dir/s"
started n1
# Clients connect to the node that has this machine's own address, which is n1: the others can be killed.
for ((i = 2; i <= nodes; i++)); do start "n$i" "127.0.0.$i" --address="127.0.0.1:$port"; done
for ((i = 2; i <= nodes; i++)); do started "n$i"; done
echo "export RAY_ADDRESS=127.0.0.1:$port RAY_AUTH_MODE=token RAY_AUTH_TOKEN_PATH=$dir/token RAY_T_DIR=$dir"
