#!/usr/bin/env bash
# slurm-packages.sh installs the Debian packages that slurm-up.sh needs, as root, if one of their
# programs is missing. Their services are not started.
#
#   slurm-packages.sh --missing     prints the missing programs, and installs nothing
set -euo pipefail
packages="slurmctld slurmd slurm-client munge iproute2 util-linux"
missing=""
for program in slurmctld slurmd munged sbatch ip nsenter; do
  command -v $program >/dev/null || missing+=" $program"
done
[ "${1:-}" != --missing ] || { echo $missing; exit; }
[ -n "$missing" ] || exit 0

install_packages() { apt-get install -y -qq --no-install-recommends $packages >/dev/null; }

echo "installing $packages, since these programs are missing:$missing"
export DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 # RUNLEVEL: the packages' own services are not started
install_packages || { apt-get update -qq && install_packages; } || {
  echo "slurm-packages.sh: cannot install $packages: run it as root, or install them yourself" >&2
  exit 1
}
