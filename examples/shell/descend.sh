#!/bin/sh
# Walks down Rosenbrock's valley, (1-x)² + 100·(y-x²)², from (-1.5, 2) by gradient
# descent with momentum: 200 steps a round, 27 rounds. Its floor is 0, at (1, 1).
set -eu

# Each parameter is a variable.
lr=$TUNEHOST_PARAM_LR
momentum=$TUNEHOST_PARAM_MOMENTUM

# Place and speed; on a restart they are where the last checkpoint left them.
round=0
state="-1.5 2 0 0"
if [ -n "${TUNEHOST_CHECKPOINT:-}" ]; then
	read -r round state <"$TUNEHOST_CHECKPOINT/state"
fi

while [ "$round" -lt 27 ]; do
	round=$((round + 1))
	state=$(echo "$state" | awk -v lr="$lr" -v m="$momentum" '{
		x = $1; y = $2; vx = $3; vy = $4
		for (i = 0; i < 200 && x * x < 1e6 && y * y < 1e6; i++) {
			vx = m * vx + lr * (2 * (1 - x) + 400 * x * (y - x * x))
			vy = m * vy - lr * 200 * (y - x * x)
			x += vx
			y += vy
		}
		printf "%.17g %.17g %.17g %.17g", x, y, vx, vy
	}')
	loss=$(echo "$state" | awk '{ printf "%.17g", (1 - $1) ^ 2 + 100 * ($2 - $1 * $1) ^ 2 }')

	# Every ninth round brings a checkpoint: a directory that is whole.
	set --
	if [ $((round % 9)) -eq 0 ]; then
		checkpoint=$TUNEHOST_CHECKPOINT_DIR/round-$round
		mkdir -p "$checkpoint"
		echo "$round $state" >"$checkpoint/state"
		set -- --checkpoint "$checkpoint"
	fi

	# One result; the answer is continue, pause or stop.
	decision=$(tunehost report loss="$loss" "$@")
	[ "$decision" = continue ] || exit 0
done
