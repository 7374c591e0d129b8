#!/bin/sh
# Builds the samples as WebAssembly modules: guests.sh OUTPUT_FOLDER
#
# It takes the rustc on PATH if that has the target (rustup target add
# wasm32-unknown-unknown), else Debian's rustc 1.63, unpacked beside the output. On a
# machine of CI's that is not Debian, rustup fetches the target. RUSTC names another rustc.
set -eu
cd "$(dirname "$0")"
out=$1
mkdir -p "$out"
target=wasm32-unknown-unknown
rustc=${RUSTC:-rustc}
flags=

has_target() { [ -d "$("$rustc" --print sysroot 2>/dev/null)/lib/rustlib/$target" ]; }

# Debian's compiler is used where it was unpacked: nothing is installed.
debian() {
	root=$out/debian
	command -v dpkg-deb >/dev/null || return 1
	if [ ! -x "$root/usr/bin/rustc" ]; then
		echo "fetching Debian's rustc for $target"
		mkdir -p "$root/debs"
		(cd "$root/debs" && apt-get download -qq -o Acquire::Retries=5 rustc libstd-rust-1.63 libstd-rust-dev-wasm32 \
			libllvm14 lld-14 libz3-4 libedit2 libxml2) 2>&1 | grep -v unsandboxed || true
		[ -e "$(echo "$root"/debs/rustc_*.deb)" ] || return 1
		for deb in "$root"/debs/*.deb; do dpkg-deb -x "$deb" "$root"; done
		rm -r "$root/debs"
	fi
	rustc=$root/usr/bin/rustc
	flags="--sysroot $root/usr -C linker=$root/usr/bin/wasm-ld-14"
	LD_LIBRARY_PATH=$root/usr/lib/x86_64-linux-gnu:$root/usr/lib
	export LD_LIBRARY_PATH
	"$rustc" --version >/dev/null
}

has_target || debian || { [ -n "${CI:-}" ] && rustup target add $target && has_target; } || {
	echo "no Rust for $target: rustup target add $target" >&2
	exit 1
}

compile() {
	# shellcheck disable=SC2086 # flags are words
	nice -n 10 "$rustc" $flags --target $target --edition 2021 -C opt-level=s -C panic=abort "$@"
}

compile -C embed-bitcode=yes --crate-type rlib --crate-name tunehost src/lib.rs --out-dir "$out"
for sample in searcher scheduler trainable resumable; do
	compile -C lto -C strip=symbols --extern "tunehost=$out/libtunehost.rlib" "examples/$sample.rs" -o "$out/$sample.wasm"
done
rm "$out/libtunehost.rlib"
