#!/usr/bin/env bash
# Ends the Kubernetes of kubernetes-up.sh, with everything on its nodes, and removes its files.
dir=${KUBERNETES_T_DIR:-/tmp/tunehost-kubernetes} net=${KUBERNETES_T_NET:-79}
for signal in TERM KILL; do
	for file in "$dir"/*.pid; do
		pid=$(cat "$file" 2>/dev/null) || continue
		[ "$(readlink "/proc/$pid/cwd" 2>/dev/null)" = "$dir" ] || continue
		case $file in */n[0-9]*.pid) kill -KILL "$pid" ;; *) kill -$signal "$pid" ;; esac
	done
	for _ in $(seq 50); do
		alive=
		for file in "$dir"/*.pid; do
			[ "$(readlink "/proc/$(cat "$file" 2>/dev/null)/cwd" 2>/dev/null)" != "$dir" ] || alive=1
		done
		[ -n "$alive" ] || break
		sleep 0.1
	done
done
for name in $(ip netns list 2>/dev/null | grep -o "^tk8$net-n[0-9]*"); do ip netns del "$name"; done
ip link del "tk8$net" 2>/dev/null
for c in /sys/fs/cgroup/*/ /sys/fs/cgroup/; do
	for d in "$c"tunehost-"$net"-n*; do
		[ ! -d "$d" ] || find "$d" -depth -type d -exec rmdir {} + 2>/dev/null
	done
done
for _ in $(seq 20); do rm -rf "$dir" 2>/dev/null && break; sleep 0.2; done
exit 0
