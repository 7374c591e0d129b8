#!/usr/bin/env bash
# Makes the images of the nodes by hand, from programs of this machine: no registry is needed.
# docker.io/tunehost/pause:1 only waits; docker.io/tunehost/python:1 has a shell and Python.
set -euo pipefail
images=$1
[ ! -e "$images/python.tar" ] || exit 0
mkdir -p "$images"; work=$(mktemp -d); trap 'rm -rf "$work"' EXIT; cd "$work"

# pack NAME COMMAND: an image of the folder root.
pack() {
	local layer config
	tar -C root --numeric-owner --owner=0 --group=0 -cf layer.tar .
	layer=$(sha256sum layer.tar | cut -d' ' -f1)
	printf '{"architecture": "%s", "os": "linux", "config": {"Cmd": %s, "Env": ["PATH=/usr/bin:/bin"]}, "rootfs": {"type": "layers", "diff_ids": ["sha256:%s"]}}' \
		"$(dpkg --print-architecture)" "$2" "$layer" > config.json
	config=$(sha256sum config.json | cut -d' ' -f1); mv config.json "$config.json"
	printf '[{"Config": "%s.json", "RepoTags": ["docker.io/tunehost/%s:1"], "Layers": ["layer.tar"]}]' "$config" "$1" > manifest.json
	tar -cf "$images/$1.tar.new" manifest.json "$config.json" layer.tar
	mv "$images/$1.tar.new" "$images/$1.tar"
}

mkdir -p root/bin root/tmp root/usr/bin root/etc; chmod 1777 root/tmp
cp "$(command -v busybox)" root/bin/busybox
for name in $(busybox --list); do [ "$name" = busybox ] || ln -s busybox "root/bin/$name"; done
printf 'root:x:0:0::/tmp:/bin/sh\n' > root/etc/passwd
pack pause '["/bin/sleep", "infinity"]'

python=$(readlink -f /usr/bin/python3)
library=$("$python" -I -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')
cp "$python" root/usr/bin/python3
mkdir -p "root$library"
tar -C "$library" --exclude=__pycache__ --exclude=test --exclude=dist-packages -cf - . | tar -C "root$library" -xf -
for file in $(ldd "$python" "$library"/lib-dynload/*.so | grep -o '/[^ ]*\.so[^ ]*' | grep -v ':$' | sort -u); do
	mkdir -p "root$(dirname "$file")"; cp -L "$file" "root$file"
done
pack python '["/bin/sh"]'
