package torture

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// chaosHeader has no retries: a trial that is charged with the loss of its lease fails.
const chaosHeader = `
version: 1
objective: {metric: score, mode: max}
failures: {retries: @RETRIES@}
stop_grace: 5s
executor: {plugin: slurm, command_timeout: 5, host_grace: @GRACE@, idle: @IDLE@@MORE@}
`

const chaosLedger = chaosHeader + quality + `
trainable: {plugin: @LEDGER@, options: {log: @LOGS@, iterations: @N@, sleep: @SLEEP@}}
checkpoint: {every: 2, keep: 2}
resources: {cpu: 1, memory: 100MiB}
`

// plain prints, and saves nothing.
const plain = `
#!/bin/sh
log="@LOGS@/$TUNEHOST_TRIAL_ID"
nonce=$$$(date +%N)
echo "begin $nonce 0 0" >> "$log"
i=0
while [ "$i" -lt 12 ]; do
	i=$((i + 1))
	sleep 0.3
	echo "report $nonce $i" >> "$log"
	echo "{\"score\": $i, \"quality\": $TUNEHOST_PARAM_QUALITY, \"nonce\": $nonce, \"iteration\": $i}"
done
echo "end $nonce" >> "$log"
`

// gang is a worker of two: the first reports and saves.
const gang = `
#!/bin/sh
log="@LOGS@/$TUNEHOST_TRIAL_ID"
i=0
if [ -n "$TUNEHOST_CHECKPOINT" ]; then
	i=$(cat "$TUNEHOST_CHECKPOINT/state") || exit 1
	[ -n "$i" ] || { echo "broken $$ empty" >> "$log"; exit 1; }
fi
nonce=$$$(date +%N)
[ "$RANK" != 0 ] || echo "begin $nonce 0 $i" >> "$log"
while [ "$i" -lt 16 ]; do
	i=$((i + 1))
	sleep 0.3
	[ "$RANK" = 0 ] || continue
	save=
	if [ $((i % 3)) = 0 ]; then
		dir="$TUNEHOST_CHECKPOINT_DIR/$nonce-$i"
		if mkdir "$dir" && echo "$i" > "$dir/state"; then
			echo "saved $nonce $i" >> "$log"
			save=", \"checkpoint\": \"$dir\""
		fi
	fi
	echo "report $nonce $i" >> "$log"
	echo "{\"score\": $i, \"quality\": $TUNEHOST_PARAM_QUALITY, \"nonce\": $nonce, \"iteration\": $i$save}"
done
[ "$RANK" != 0 ] || echo "end $nonce" >> "$log"
`

// chaosKind is a kind of experiment on a cluster.
type chaosKind struct {
	kind
	more string // of the executor
}

// on fills in what is drawn. Only where the disk may be full may trials fail.
func (k chaosKind) on(rng *rand.Rand, small bool) kind {
	retries := 0
	if small {
		retries = 1000
	}
	out := k.kind
	out.yaml = strings.NewReplacer("@RETRIES@", fmt.Sprint(retries), "@MORE@", k.more,
		"@GRACE@", []string{"10s", "60s"}[rng.IntN(2)], "@IDLE@", []string{"0s", "5s"}[rng.IntN(2)],
		"@N@", fmt.Sprint(12+rng.IntN(12)), "@SLEEP@", "0.4").Replace(k.yaml)
	return out
}

// chaosKinds are the experiments: trials on one slot with checkpoints, without, gangs of two nodes, schedulers that
// pause, jobs that are shorter than trials, and jobs that others preempt.
var chaosKinds = []chaosKind{
	{kind: kind{name: "slots", trials: 12, logs: true, yaml: chaosLedger + `
searcher: random
scheduler: {plugin: asha, max: 24}
concurrency: 5
trials: 12
`}},
	{kind: kind{name: "no checkpoints", trials: 8, logs: true, yaml: chaosHeader + quality + `
trainable: {command: ["./train.sh"]}
resources: {cpu: 2, gpu: 1}
searcher: {plugin: tpe, startup: 3}
concurrency: 4
trials: 8
`, scripts: map[string]string{"train.sh": plain}}},
	{kind: kind{name: "gangs", trials: 6, logs: true, yaml: chaosHeader + quality + `
trainable: {command: ["./train.sh"]}
placement: {bundles: [{cpu: 1, memory: 100MiB}, {cpu: 2, memory: 200MiB}], strategy: strict_spread, workers: true}
searcher: random
concurrency: 3
trials: 6
`, scripts: map[string]string{"train.sh": gang}}},
	{kind: kind{name: "population", trials: 6, yaml: chaosHeader + quality + `
trainable: {plugin: chaos, options: {iterations: 16, sleep: 0.3, any_params: true, fork_children: 1, ` +
		`detach_children: true}}
checkpoint: {every: 2, keep: 2, score: score}
resources: {cpu: 1, memory: 100MiB}
searcher: random
scheduler: {plugin: pbt, interval: 2}
concurrency: 4
trials: 6
`}},
	{kind: kind{name: "short jobs", trials: 4, logs: true, yaml: strings.NewReplacer("@N@", "90", "@SLEEP@", "1").
		Replace(chaosLedger) + `
searcher: random
concurrency: 4
trials: 4
`}, more: ", time: 1m, notice: 20"},
	{kind: kind{name: "preempted", trials: 8, logs: true, yaml: chaosLedger + `
searcher: random
scheduler: {plugin: asha, type: promotion, max: 24}
concurrency: 4
trials: 8
`}, more: ", partition: low"},
}
