package torture

// kind is a kind of experiment. In its texts @LOGS@ is the folder of the
// trainables' own logs; @LEDGER@, @CLIMBER@ and @TUNEHOST@ are programs.
type kind struct {
	name    string
	yaml    string
	scripts map[string]string
	trials  int
	logs    bool // its trainables write separate logs
}

const header = `
version: 1
objective: {metric: score, mode: max}
failures: {retries: 1000}
stop_grace: 2s
`

const quality = "space: {quality: {uniform: [0, 1]}}\n"

const keeping = header + quality + `
trainable: {plugin: @LEDGER@, options: {log: @LOGS@}}
checkpoint: {every: 2, keep: 2}
`

// printing reports by printing, saves each third iteration, and leaves a process
// behind that has left its group.
const printing = `
#!/bin/sh
log="@LOGS@/$TUNEHOST_TRIAL_ID"
setsid sleep 600 &
i=0
if [ -n "$TUNEHOST_CHECKPOINT" ]; then
	i=$(cat "$TUNEHOST_CHECKPOINT/state") || exit 1
	[ -n "$i" ] || { echo "broken $$ empty" >> "$log"; exit 1; }
fi
echo "begin $$ 0 $i" >> "$log"
while [ "$i" -lt 9 ]; do
	i=$((i + 1))
	sleep 0.03
	save=
	if [ $((i % 3)) = 0 ]; then
		dir="$TUNEHOST_CHECKPOINT_DIR/$$-$i"
		if mkdir "$dir" && echo "$i" > "$dir/state"; then
			echo "saved $$ $i" >> "$log"
			save=", \"checkpoint\": \"$dir\""
		fi
	fi
	echo "report $$ $i" >> "$log"
	echo "{\"score\": $i, \"quality\": $TUNEHOST_PARAM_QUALITY, \"nonce\": $$, \"iteration\": $i$save}"
done
echo "end $$" >> "$log"
`

// asking reports with the command tunehost report, which prints an answer.
const asking = `
#!/bin/sh
log="@LOGS@/$TUNEHOST_TRIAL_ID"
i=0
if [ -n "$TUNEHOST_CHECKPOINT" ]; then
	i=$(cat "$TUNEHOST_CHECKPOINT/state") || exit 1
	[ -n "$i" ] || { echo "broken $$ empty" >> "$log"; exit 1; }
fi
from=$i
echo "begin $$ 0 $i" >> "$log"
while [ "$i" -lt 6 ]; do
	i=$((i + 1))
	dir="$TUNEHOST_CHECKPOINT_DIR/$$-$i"
	mkdir "$dir" && echo "$i" > "$dir/state" || exit 1
	echo "saved $$ $i" >> "$log"
	echo "report $$ $i" >> "$log"
	answer=$(@TUNEHOST@ report score=$i nonce=$$ --iteration $i --checkpoint "$dir") || exit 1
	[ "$answer" = continue ] || exit 0
	# It may run ahead of the decisions by one, which is not the first.
	[ "$i" -le $((from + 1)) ] || echo "answered $$ $((i - 1))" >> "$log"
done
echo "end $$" >> "$log"
`

// kinds are the tested experiments: programs and plugins that train, several searchers
// and schedulers, bundled, from a folder and as a module.
var kinds = []kind{
	{name: "printing", trials: 12, logs: true, yaml: header + quality + `
trainable: {command: ["./train.sh"]}
searcher: random
scheduler: {plugin: asha, max: 9}
trials: 12
`, scripts: map[string]string{"train.sh": printing}},
	{name: "folder", trials: 14, logs: true, yaml: keeping + `
searcher: sobol
scheduler: {plugin: hyperband, max: 9}
trials: 14
`},
	{name: "module", trials: 12, logs: true, yaml: keeping + `
searcher: {plugin: @CLIMBER@, start: 4}
scheduler: {plugin: asha, type: promotion, max: 9}
trials: 12
`},
	{name: "asking", trials: 8, logs: true, yaml: header + quality + `
trainable: {command: ["./train.sh"]}
searcher: {plugin: tpe, startup: 3}
scheduler: {plugin: asha, max: 6}
trials: 8
`, scripts: map[string]string{"train.sh": asking}},
	{name: "digits", trials: 9, yaml: `
version: 1
objective: {metric: accuracy, mode: max}
failures: {retries: 1000}
trainable: {plugin: digits}
space: {lr: {loguniform: [0.01, 1]}, units: {int: [8, 16]}, epochs: 8}
checkpoint: {every: 2}
searcher: {plugin: tpe, startup: 3}
scheduler: {plugin: asha, max: 8}
trials: 9
`},
	{name: "population", trials: 10, yaml: header + quality + `
trainable: {plugin: chaos, options: {iterations: 9, sleep: 0.03, any_params: true, fork_children: 1, ` +
		`detach_children: true}}
checkpoint: {every: 2, keep: 2, score: score}
searcher: random
scheduler: {plugin: pbt, interval: 2}
concurrency: 3
trials: 10
`},
	{name: "repeated", trials: 12, yaml: header + quality + `
trainable: {plugin: chaos, options: {iterations: 9, sleep: 0.03, any_params: true, shared: true}}
checkpoint: {every: 3}
searcher: {plugin: tpe, startup: 2}
scheduler: {plugin: median, grace: 2}
repeat: 2
points: [{quality: 0.5}]
trials: 6
`},
}
