#!/usr/bin/env bash
# chromium.sh installs Debian's Chromium, as root, if there is no Chromium on the PATH.
set -euo pipefail
packages="chromium fonts-dejavu-core"
! command -v chromium >/dev/null || exit 0

install_packages() { apt-get install -y -qq --no-install-recommends $packages >/dev/null; }

echo "installing $packages"
export DEBIAN_FRONTEND=noninteractive
install_packages || { apt-get update -qq && install_packages; } || {
  echo "chromium.sh: cannot install $packages: run it as root, or install them yourself" >&2
  exit 1
}
