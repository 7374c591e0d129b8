#!/usr/bin/env bash
# Builds the programs of a real Kubernetes from the Go module proxy: kube-apiserver, kube-scheduler,
# kube-controller-manager, kubelet, etcd and kwok (simulated nodes). It prints the folder that has
# them. About 20 minutes and 2 GB of memory on two cores; a program that is there already is kept.
#
#   KUBERNETES_VERSION   v1.34.1
#   KUBERNETES_CACHE     the folder of the programs and images (~/.cache/tunehost/kubernetes)
#   KUBERNETES_BUILD_P   how many packages go compiles at once (2)
set -euo pipefail
version=${KUBERNETES_VERSION:-v1.34.1} etcd_version=v3.6.4 kwok_version=v0.7.0
cache=${KUBERNETES_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/tunehost/kubernetes}
bin=$cache/$version; mkdir -p "$bin"
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
export GOFLAGS="-mod=mod -trimpath -buildvcs=false -p=${KUBERNETES_BUILD_P:-2}" CGO_ENABLED=0

# Programs of a module with replace directives cannot be installed by their path. A module around it
# that repeats the directives, with the published versions of the same packages, builds them.
wrap_kubernetes() {
	local upstream=v0.${version#v1.}
	cd "$work"
	sed -E -e 's#^module .*#module wrapper#' \
		-e "s#^([[:space:]]*)(k8s.io/[a-z0-9-]+) => \./staging/.*#\1\2 => \2 $upstream#" \
		"$(go mod download -json "k8s.io/kubernetes@$version" | sed -n 's/.*"GoMod": "\(.*\)",/\1/p')" > go.mod
	echo "require k8s.io/kubernetes $version" >> go.mod
}

build_kubernetes() { # NAME
	local x=k8s.io/component-base/version minor
	minor=$(echo "$version" | cut -d. -f2)
	go build -ldflags "-s -w -X $x.gitVersion=$version -X $x.gitMajor=1 -X $x.gitMinor=$minor -X $x.gitTreeState=clean" \
		-o "$bin/$1.new" "k8s.io/kubernetes/cmd/$1"
	mv "$bin/$1.new" "$bin/$1"
}

build_etcd() {
	mkdir -p "$work/etcd" && cd "$work/etcd"
	printf 'module wrapper\ngo 1.24\nrequire go.etcd.io/etcd/server/v3 %s\n' $etcd_version > go.mod
	printf 'package main\n\nimport (\n\t"os"\n\n\t"go.etcd.io/etcd/server/v3/etcdmain"\n)\n\nfunc main() { etcdmain.Main(os.Args) }\n' > main.go
	go mod tidy
	go build -ldflags '-s -w' -o "$bin/etcd.new" .
	mv "$bin/etcd.new" "$bin/etcd"
}

build_kwok() {
	mkdir -p "$work/kwok"
	GOFLAGS="-trimpath -p=${KUBERNETES_BUILD_P:-2}" GOBIN=$work/kwok go install -ldflags '-s -w' "sigs.k8s.io/kwok/cmd/kwok@$kwok_version"
	mv "$work/kwok/kwok" "$bin/kwok"
}

missing() { [ ! -x "$bin/$1" ]; }

missing etcd && build_etcd >&2
for name in kube-apiserver kube-scheduler kube-controller-manager kubelet; do
	missing $name || continue
	[ -f "$work/go.mod" ] || wrap_kubernetes >&2
	echo "building $name $version" >&2
	(cd "$work" && build_kubernetes $name >&2)
done
missing kwok && build_kwok >&2
echo "$bin"
