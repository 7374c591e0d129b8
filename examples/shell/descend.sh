#!/bin/sh
# Minimises Rosenbrock's function, (1-x)² + 100·(y-x²)², from (-1.5, 2) by gradient
# descent with momentum: 27 rounds of 200 steps. The minimum is 0, at (1, 1).
set -eu

# Each parameter is an environment variable.
lr=$TUNEHOST_PARAM_LR
momentum=$TUNEHOST_PARAM_MOMENTUM

# Position and speed; after a restart, those of the last checkpoint.
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

  # Every ninth round saves a checkpoint: a complete directory.
	set --
	if [ $((round % 9)) -eq 0 ]; then
		checkpoint=$TUNEHOST_CHECKPOINT_DIR/round-$round
		mkdir -p "$checkpoint"
		echo "$round $state" >"$checkpoint/state"
		set -- --checkpoint "$checkpoint"
	fi

  # Report one result; the answer is continue, pause or stop.
	decision=$(tunehost report loss="$loss" "$@")
	[ "$decision" = continue ] || exit 0
done
