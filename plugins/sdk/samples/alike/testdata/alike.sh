#!/bin/sh
# The trainable of plugins/sdk/samples/alike, as a shell script.
clean_up() {
	echo "cleaned up"
	printf 'model %s' "$i" >"$TUNEHOST_EXPORT_DIR/text"
}
trap clean_up EXIT
for i in 1 2 3 4 5 6 7 8 9; do
	echo "epoch $i"
	echo "warning $i" >&2
	set --
	if [ "$i" = 2 ]; then
		mkdir "$TUNEHOST_CHECKPOINT_DIR/two"
		printf 'state %s' "$i" >"$TUNEHOST_CHECKPOINT_DIR/two/state"
		set -- --checkpoint "$TUNEHOST_CHECKPOINT_DIR/two"
	fi
	decision=$("$TUNEHOST" report "loss=$(awk "BEGIN {print 1 / $i}")" "whole=$((2 * i))" "note=epoch \"$i\"" ok=true 'sizes=[1, 2.5]' "$@")
	[ "$decision" = continue ] || exit 0
done
