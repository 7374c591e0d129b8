#!/usr/bin/env bash
# Starts a real Kubernetes on this machine: etcd, kube-apiserver, kube-scheduler, kube-controller-manager, and
# nodes, each with a kubelet and a containerd in network, mount and process namespaces of its own, so that
# it can be cut off or killed. It needs root, the programs of kubernetes-build.sh, and Debian's packages
# containerd, runc, containernetworking-plugins and busybox-static. The last line of its output sets KUBECONFIG.
#
#   KUBERNETES_T_DIR    where everything goes (/tmp/tunehost-kubernetes)
#   KUBERNETES_T_BIN    the programs (VERSION in KUBERNETES_CACHE, see kubernetes-build.sh)
#   KUBERNETES_T_NET    the second number of the network 10.N.0.0/16 (79)
#   KUBERNETES_T_NODES  real nodes: n1, n2, … (2); KUBERNETES_T_GPUS of each, which are only numbers (2)
#   KUBERNETES_T_KWOK   simulated nodes: k1, k2, … (0), whose pods only pretend to run
#
# The exit status is 77 if the machine lacks something. kubernetes-down.sh ends it all.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
dir=${KUBERNETES_T_DIR:-/tmp/tunehost-kubernetes} net=${KUBERNETES_T_NET:-79}
nodes=${KUBERNETES_T_NODES:-2} gpus=${KUBERNETES_T_GPUS:-2} kwok=${KUBERNETES_T_KWOK:-0}
bin=${KUBERNETES_T_BIN:-${KUBERNETES_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/tunehost/kubernetes}/${KUBERNETES_VERSION:-v1.34.1}}
server=https://10.$net.0.1:6443 bridge=tk8$net

lack() { echo "$1" >&2; exit 77; }
[ "$(id -u)" = 0 ] || lack "a Kubernetes of nodes on this machine needs root"
for name in etcd kube-apiserver kube-scheduler kube-controller-manager kubelet; do
	[ -x "$bin/$name" ] || lack "$bin/$name is missing: internal/engines/kubernetes/kubernetes-build.sh builds it"
done
for name in containerd runc ctr busybox openssl curl ip unshare nsenter; do
	command -v $name >/dev/null || lack "$name is missing: apt-get install containerd runc containernetworking-plugins busybox-static openssl curl iproute2 util-linux"
done
[ -x /usr/lib/cni/bridge ] || lack "/usr/lib/cni/bridge is missing: apt-get install containernetworking-plugins"
KUBERNETES_T_DIR=$dir KUBERNETES_T_NET=$net "$here/kubernetes-down.sh"
mkdir -p "$dir"/{pki,etcd,log} && cd "$dir"

# start NAME COMMAND…: a daemon, with its output in log/NAME.log.
start() {
	local name=$1; shift
	setsid "$@" > "log/$name.log" 2>&1 < /dev/null 9>&- &
	echo $! > "$name.pid"
}

# until_true WHAT COMMAND…: waits for two minutes.
until_true() {
	local what=$1; shift
	for _ in $(seq 600); do "$@" >/dev/null 2>&1 && return; sleep 0.2; done
	echo "$what within two minutes; see $dir/log" >&2
	tail -n 5 log/*.log >&2
	exit 1
}

certificate() { # NAME SUBJECT [EXTENSIONS]
	openssl req -newkey rsa:2048 -nodes -subj "$2" -keyout "pki/$1.key" -out "pki/$1.csr" 2>/dev/null
	openssl x509 -req -in "pki/$1.csr" -CA pki/ca.crt -CAkey pki/ca.key -CAcreateserial -days 30 -out "pki/$1.crt" \
		-extfile <(printf '%s' "${3:-}") 2>/dev/null
	cat > "$1.kubeconfig" <<-YAML
	apiVersion: v1
	kind: Config
	current-context: test
	clusters: [{name: test, cluster: {server: "$server", certificate-authority: $dir/pki/ca.crt}}]
	users: [{name: $1, user: {client-certificate: $dir/pki/$1.crt, client-key: $dir/pki/$1.key}}]
	contexts: [{name: test, context: {cluster: test, user: $1, namespace: default}}]
	YAML
	chmod 600 "$1.kubeconfig"
}

api() { # METHOD PATH [CONTENT-TYPE BODY]
	curl -sf --cacert pki/ca.crt --cert pki/admin.crt --key pki/admin.key -X "$1" "$server$2" \
		${3:+-H "Content-Type: $3" --data-binary "$4"}
}

network() {
	ip link add "$bridge" type bridge
	ip addr add "10.$net.0.1/24" dev "$bridge"
	ip link set "$bridge" up
	for i in $(seq "$nodes"); do
		ip netns add "$bridge-n$i"
		ip link add "$bridge-n$i" type veth peer name eth0 netns "$bridge-n$i"
		ip link set "$bridge-n$i" master "$bridge" up
		ip -n "$bridge-n$i" addr add "10.$net.0.$((10 + i))/24" dev eth0
		ip -n "$bridge-n$i" link set lo up
		ip -n "$bridge-n$i" link set eth0 up
		ip -n "$bridge-n$i" route add default via "10.$net.0.1"
		ip netns exec "$bridge-n$i" sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'
		ip route add "10.$net.$i.0/24" via "10.$net.0.$((10 + i))"
	done
	for i in $(seq "$nodes"); do
		for j in $(seq "$nodes"); do
			[ "$i" = "$j" ] || ip -n "$bridge-n$i" route add "10.$net.$j.0/24" via "10.$net.0.$((10 + j))"
		done
	done
}

control_plane() {
	openssl genrsa -out pki/sa.key 2048 2>/dev/null
	openssl req -x509 -newkey rsa:2048 -nodes -days 30 -subj /CN=tunehost-test -keyout pki/ca.key -out pki/ca.crt 2>/dev/null
	certificate apiserver /CN=kube-apiserver "subjectAltName=IP:10.$net.0.1,IP:10.96.0.1,DNS:kubernetes.default.svc"
	certificate admin /O=system:masters/CN=admin
	certificate scheduler /CN=system:kube-scheduler
	certificate controllers /CN=system:kube-controller-manager
	local etcd=http://10.$net.0.1
	start etcd "$bin/etcd" --data-dir etcd --unsafe-no-fsync --listen-client-urls $etcd:2379 --advertise-client-urls $etcd:2379 \
		--listen-peer-urls $etcd:2380 --initial-advertise-peer-urls $etcd:2380 --initial-cluster default=$etcd:2380
	start apiserver "$bin/kube-apiserver" --etcd-servers=$etcd:2379 --bind-address="10.$net.0.1" --secure-port=6443 \
		--client-ca-file=pki/ca.crt --tls-cert-file=pki/apiserver.crt --tls-private-key-file=pki/apiserver.key \
		--service-account-key-file=pki/sa.key --service-account-signing-key-file=pki/sa.key \
		--service-account-issuer=https://kubernetes.default.svc --service-cluster-ip-range=10.96.0.0/24 \
		--authorization-mode=Node,RBAC --endpoint-reconciler-type=none --kubelet-client-certificate=pki/admin.crt \
		--kubelet-client-key=pki/admin.key --kubelet-preferred-address-types=InternalIP
	until_true 'the API server was not ready' api GET /readyz
	start scheduler "$bin/kube-scheduler" --kubeconfig=scheduler.kubeconfig --leader-elect=false --secure-port=0
	start controllers "$bin/kube-controller-manager" --kubeconfig=controllers.kubeconfig --leader-elect=false --secure-port=0 \
		--use-service-account-credentials=true --service-account-private-key-file=pki/sa.key --root-ca-file=pki/ca.crt \
		--node-monitor-grace-period=20s --node-monitor-period=2s \
		--controllers='*,-nodeipam,-cloud-node-lifecycle,-service-lb-controller,-node-route-controller'
}

gpus_of() { # NODE
	api PATCH "/api/v1/nodes/$1/status" application/json-patch+json \
		'[{"op": "add", "path": "/status/capacity/nvidia.com~1gpu", "value": "'"$gpus"'"}]'
}

ready() { # NODE
	api GET "/api/v1/nodes/$1" | tr -d ' \n' | grep -q '"type":"Ready"}\|"status":"True",[^}]*"type":"Ready"\|"type":"Ready","status":"True"'
}

simulated() {
	start kwok "$bin/kwok" --kubeconfig="$dir/admin.kubeconfig" --manage-all-nodes=false \
		--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake --node-lease-duration-seconds=10 --cidr="10.$net.200.0/24"
	for i in $(seq "$kwok"); do
		local has='{"cpu": "8", "memory": "32Gi", "pods": "110", "nvidia.com/gpu": "'$gpus'"}'
		api POST /api/v1/nodes application/json '{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "k'$i'",
			"annotations": {"kwok.x-k8s.io/node": "fake"}, "labels": {"kubernetes.io/hostname": "k'$i'", "type": "simulated"}},
			"spec": {"taints": [{"key": "simulated", "effect": "NoSchedule"}]},
			"status": {"allocatable": '"$has"', "capacity": '"$has"'}}' > /dev/null
	done
}

network
control_plane
"$here/kubernetes-images.sh" "$bin/images" >&2
for i in $(seq "$nodes"); do
	certificate "n$i" "/O=system:nodes/CN=system:node:n$i"
	start "n$i" nsenter --net="/run/netns/$bridge-n$i" unshare --mount --pid --fork --kill-child --mount-proc \
		"$here/kubernetes-node.sh" "$dir" "$bin" "$net" "$i"
done
[ "$kwok" = 0 ] || simulated
until_true 'there was no default service account' api GET /api/v1/namespaces/default/serviceaccounts/default
for i in $(seq "$nodes"); do
	until_true "the node n$i was not ready" ready "n$i"
	until_true "the node n$i got no GPUs" gpus_of "n$i"
done
echo "export KUBECONFIG=$dir/admin.kubeconfig"
