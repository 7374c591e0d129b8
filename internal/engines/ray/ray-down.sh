#!/usr/bin/env bash
# Ends the cluster of ray-up.sh in RAY_T_DIR: every process that has its variable, and no other.
dir=${RAY_T_DIR:?the folder of the cluster}
for _ in 1 2 3; do
	for p in /proc/[0-9]*; do
		if grep -qzx "CLUSTER_OF_RAY_T=$dir" "$p/environ" 2>/dev/null && [ "${p#/proc/}" != $$ ]; then
			kill -KILL "${p#/proc/}" 2>/dev/null
		fi
	done
	sleep 0.1
done
rm -rf "$dir"
