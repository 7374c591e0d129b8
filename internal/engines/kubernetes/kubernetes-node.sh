#!/usr/bin/env bash
# A node of kubernetes-up.sh: containerd and kubelet, in namespaces that the caller has made. It is the first
# process of its namespace: if it is killed, everything on the node is.
set -euo pipefail
dir=$1 bin=$2 net=$3 i=$4
node=$dir/nodes/n$i; mkdir -p "$node"/{root,state,kubelet,lib,netns,run,cni}
mkdir -p /var/lib/kubelet /run/netns /run/containerd
mount --make-rprivate /
mount --bind "$node/lib" /var/lib/kubelet
mount --bind "$node/netns" /run/netns
mount -t tmpfs tmpfs /run/containerd

cat > "$node/containerd.toml" <<TOML
version = 2
root = "$node/root"
state = "$node/state"
disabled_plugins = ["io.containerd.internal.v1.opt", "io.containerd.snapshotter.v1.zfs", "io.containerd.snapshotter.v1.btrfs",
  "io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.devmapper"]
[grpc]
  address = "$node/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "docker.io/tunehost/pause:1"
  disable_apparmor = true
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "$node/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
TOML
cat > "$node/cni/10-bridge.conflist" <<JSON
{"cniVersion": "0.4.0", "name": "pods", "plugins": [
  {"type": "bridge", "bridge": "pods", "isGateway": true, "ipMasq": false, "ipam": {"type": "host-local", "dataDir": "$node/ipam",
   "ranges": [[{"subnet": "10.$net.$i.0/24"}]], "routes": [{"dst": "0.0.0.0/0"}]}},
  {"type": "loopback"}]}
JSON
cat > "$node/kubelet.yaml" <<YAML
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication: {anonymous: {enabled: false}, webhook: {enabled: false}, x509: {clientCAFile: $dir/pki/ca.crt}}
authorization: {mode: AlwaysAllow}
address: 10.$net.0.$((10 + i))
healthzPort: 0
readOnlyPort: 0
cgroupDriver: cgroupfs
cgroupRoot: /tunehost-$net-n$i
enforceNodeAllocatable: []
failSwapOn: false
failCgroupV1: false
containerRuntimeEndpoint: unix://$node/containerd.sock
podLogsDir: $node/logs
evictionHard: {memory.available: "100Mi", nodefs.available: "1%", imagefs.available: "1%"}
imageGCHighThresholdPercent: 100
resolvConf: ""
nodeStatusUpdateFrequency: 4s
nodeLeaseDurationSeconds: 10
makeIPTablesUtilChains: false
localStorageCapacityIsolation: false
YAML
# The kubelet wants the cgroup above its pods to exist, and cgroups of version 1 do not inherit CPUs.
for c in /sys/fs/cgroup/*/ /sys/fs/cgroup/; do
	[ -e "$c/cgroup.procs" ] || continue
	mkdir -p "$c/tunehost-$net-n$i"
	for f in cpuset.cpus cpuset.mems; do
		[ ! -e "$c/$f" ] || cat "$c/$f" > "$c/tunehost-$net-n$i/$f" || true
	done
done

containerd -c "$node/containerd.toml" > "$dir/log/n$i-containerd.log" 2>&1 &
for _ in $(seq 300); do ctr -a "$node/containerd.sock" version >/dev/null 2>&1 && break; sleep 0.2; done
for image in "$bin"/images/*.tar; do ctr -a "$node/containerd.sock" -n k8s.io images import "$image"; done
"$bin/kubelet" --config="$node/kubelet.yaml" --root-dir="$node/kubelet" --cert-dir="$node/pki" --kubeconfig="$dir/n$i.kubeconfig" \
	--hostname-override="n$i" --node-ip="10.$net.0.$((10 + i))" &
wait
