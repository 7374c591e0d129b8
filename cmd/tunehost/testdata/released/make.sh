#!/bin/bash
# Makes experiments as this version of tunehost leaves them: finished, interrupted,
# killed, extended, failed, steered and asked. README.md says when. Run it in an
# empty folder of a neutral name, since the record names it:
#
#   .../testdata/released/make.sh TUNEHOST
#
# What it makes differs in times and process ids, not in kind.
set -euo pipefail
tunehost=$1
umask 077

# write NAME: the experiment file, with what all of them have.
write() {
  { echo 'version: 1'; echo 'objective: {metric: score, mode: max}'; cat; } >"$1.yaml"
}

# until_results NAME N: waits until so many results are in its files.
until_results() {
  while [ "$(cat results/"$1"/trials/*/result.jsonl 2>/dev/null | wc -l)" -lt "$2" ]; do
    kill -0 $! || { echo "$1 has ended early" >&2; exit 1; }
    sleep 0.05
  done
}

# ends WANT COMMAND...: the command's exit status is WANT.
ends() {
  local want=$1 got=0
  shift
  "$@" >>make.log 2>&1 || got=$?
  [ "$got" = "$want" ] || { echo "exit status $got, not $want: $*" >&2; exit 1; }
}

# leaves NAME SIGNAL N: a host that is sent the signal after N results.
leaves() {
  "$tunehost" run "$1.yaml" -v 0 --resources cpu=3 >>make.log 2>&1 &
  until_results "$1" "$3"
  kill "-$2" $!
  wait $! || true
}

# Finished at the first go, by a program that prints.
write simple <<'E'
trainable: {command: [sh, -c, 'echo "{{\"score\": {x}}}"']}
space: {x: {uniform: [0, 1]}, kind: {choice: [a, b]}, layer: {width: {int: [1, 64], log: true}}}
searcher: random
trials: 4
seed: 1
E
ends 0 "$tunehost" run simple.yaml -v 0

# Interrupted: trials were running and have checkpoints.
write asha <<'E'
trainable: {plugin: chaos, options: {iterations: 9, sleep: 0.02, reusable: false}}
space: {quality: {uniform: [0, 1]}}
searcher: {plugin: tpe, startup: 3}
scheduler: {plugin: asha, max: 9}
checkpoint: {every: 3, keep: 2, score: score}
trials: 14
seed: 2
E
leaves asha INT 30

# Killed, with trials that are paused.
write hyperband <<'E'
trainable: {plugin: chaos, options: {iterations: 9, sleep: 0.02}}
space: {quality: {uniform: [0, 1]}}
searcher: sobol
scheduler: {plugin: hyperband, max: 9}
trials: 12
seed: 3
E
leaves hyperband KILL 30

# A population, whose members go on from each other's checkpoints.
write pbt <<'E'
trainable: {plugin: chaos, options: {iterations: 24, sleep: 0.02}}
space: {quality: {uniform: [0, 1]}, noise: {uniform: [0, 0.1]}}
searcher: random
scheduler: {plugin: pbt, interval: 3}
checkpoint: {every: 3}
resources: {cpu: 0.5}
trials: 4
seed: 4
E
leaves pbt INT 40

# Trials that fail and go on, report NaN, cannot save, and are run again at the end.
write failures <<'E'
trainable: {plugin: chaos, options: {iterations: 6, fail_times: 2}}
space:
  fail_at: {grid: [0, 4]}
  nan_at: {grid: [0, 2]}
  save_fails: {grid: [false, true]}
searcher: grid
scheduler: {plugin: median, grace: 2}
failures: {retries: 1}
checkpoint: {every: 2}
seed: 5
E
ends 1 "$tunehost" run failures.yaml -v 0 --resources cpu=1
ends 1 "$tunehost" run failures.yaml -v 0 --resources cpu=1 --resume errored_only

# One that knows another, was ended, and went on with another searcher.
write extended <<'E'
trainable: {plugin: chaos, options: {iterations: 2, any_params: true}}
space: {x: {uniform: [0, 1]}, kind: {choice: [a, b]}, layer: {width: {int: [1, 64], log: true}}}
learn_from: [results/simple]
points: [{x: 0.5}]
trials: 4
seed: 6
E
ends 0 "$tunehost" run extended.yaml -v 0
ends 0 "$tunehost" run extended.yaml -v 0 --extend --set 'searcher={plugin: tpe, startup: 3}' --set trials=8

# Each trial twice, steered by the user while it ran, with groups of resources.
write steered <<'E'
trainable: {plugin: chaos, options: {iterations: 30, sleep: 0.05}}
space: {quality: {uniform: [0, 1]}, noise: 0.01}
searcher: random
repeat: 2
placement: {bundles: [{cpu: 0.5}, {cpu: 0.25}], strategy: pack}
trials: 4
checkpoint: {every: 5}
budget: {time: 1h}
seed: 7
E
"$tunehost" run steered.yaml -v 0 --resources cpu=2 >>make.log 2>&1 &
until_results steered 6
for what in "pause results/steered 0" "add results/steered quality=0.75" "stop results/steered 1" "unpause results/steered 0"; do
  ends 0 "$tunehost" $what
done
until_results steered 30
ends 0 "$tunehost" pause results/steered
ends 0 "$tunehost" unpause results/steered
kill -INT $!
wait $! || true

# Paused in memory, and the models exported; one format is not known.
cat >exported.yaml <<'E'
version: 1
objective: {metric: accuracy, mode: max}
trainable: {plugin: digits}
space: {lr: {loguniform: [0.01, 1]}, units: 2, epochs: 4}
scheduler: {plugin: asha, type: promotion, max: 4}
checkpoint: {every: 4, pauses: memory}
export: [json, onnx]
trials: 15
seed: 9
E
ends 0 "$tunehost" run exported.yaml -v 0 --resources cpu=2

# Trained by the caller, who left in the middle.
write asktell <<'E'
space: {x: {uniform: [0, 1]}}
searcher: {plugin: tpe, startup: 2}
scheduler: {plugin: asha, max: 3}
concurrency: 1
trials: 5
seed: 8
E
coproc ASK { "$tunehost" asktell asktell.yaml 2>>make.log; }
say() { echo "$1" >&"${ASK[1]}"; read -r answer <&"${ASK[0]}"; echo "$1 $answer" >>make.log; }
for metric in 0.1 0.9 0.5; do
  say '{"ask":true}'
  id=$(sed 's/.*"trial":"\([^"]*\)".*/\1/' <<<"$answer")
  say "{\"report\":\"$id\",\"metrics\":{\"score\":$metric},\"iteration\":1}"
  case $answer in *continue*) say "{\"tell\":\"$id\",\"metrics\":{\"score\":$metric}}" ;; esac
done
say '{"ask":true}'
say '{"ask":true}' # and is told to wait
eval "exec ${ASK[1]}>&-"
wait

# Ended by its budget with trials that never ran, which are run later; values that are no
# numbers; a trial that failed and was run again in a directory of its own.
write later <<'E'
trainable: {command: [sh, -c, 'echo "{\"score\": {x}, \"note\": \"tried\", \"tags\": [1, \"a\"]}"; [ {x} != 3 ] || [ -e ../tried ] || { touch ../tried; exit 3; }']}
space: {x: {grid: [1, 2, 3, 4, 5, 6]}}
searcher: grid
scheduler: {plugin: median, grace: 1}
stop: {plugin: patience}
budget: {trials_failed: 1}
overcommit: true
concurrency: 1
seed: 10
E
ends 1 "$tunehost" run later.yaml -v 0 --resources cpu=1
ends 0 "$tunehost" resume results/later -v 0 --retry 2 --fresh --unstarted
rm -f results/later/trials/tried

# On leases of a cluster that queues, refuses, ends leases in time and loses nodes.
write leases <<'E'
trainable: {plugin: chaos, options: {iterations: 20, sleep: 0.05}}
space: {quality: {uniform: [0, 1]}}
searcher: random
executor: {plugin: fake, nodes: 2, cpu: 1, queue: 0.1, time: 1.5, notice: 0.5, lose_node: 1.2, repair: 0.2, refuse: 0.2, seed: 3}
checkpoint: {every: 5}
wait_for_resources: true
trials: 4
seed: 11
E
ends 0 "$tunehost" run leases.yaml -v 0

# One that knows another whose trials were stopped early, with what they reported on the way.
write taught <<'E'
trainable: {plugin: chaos, options: {iterations: 2, any_params: true}}
space: {quality: {uniform: [0, 1]}}
searcher: {plugin: tpe, startup: 3}
learn_from: [results/asha]
trials: 2
seed: 12
E
ends 0 "$tunehost" run taught.yaml -v 0

# Trained by a caller who tells the time, which has an influence on what the searcher suggests.
write timed <<'E'
space: {x: {uniform: [0, 1]}, y: {uniform: [0, 1]}}
searcher: auto
scheduler: {plugin: asha, max: 3}
trials: 40
seed: 13
E
coproc ASK { "$tunehost" asktell timed.yaml 2>>make.log; }
now=0
while say "{\"ask\":true,\"time\":$now}"; [[ $answer == *params* ]]; do
  id=$(sed 's/.*"trial":"\([^"]*\)".*/\1/' <<<"$answer")
  x=$(sed 's/.*"x":\([^,}]*\).*/\1/' <<<"$answer") y=$(sed 's/.*"y":\([^,}]*\).*/\1/' <<<"$answer")
  for i in 1 2 3; do
    now=$(awk "BEGIN {printf \"%.3f\", $now + exp(4 * $x)}")
    score=$(awk "BEGIN {printf \"%.6f\", -($y - 0.4) ^ 2 - sin(20 * $x) / 9 - 1 / $i}")
    say "{\"report\":\"$id\",\"metrics\":{\"score\":$score},\"time\":$now}"
    [[ $answer == *continue* ]] || break
  done
done
eval "exec ${ASK[1]}>&-"
wait

# Ended by an expression of the budget, between results.
write judged <<'E'
trainable: {command: [sh, -c, 'echo "{{\"score\": {x}}}"']}
space: {x: {uniform: [0, 1]}}
searcher: random
concurrency: 1
trials: 6
budget: {when: trials >= 2}
seed: 15
E
ends 0 "$tunehost" run judged.yaml -v 0

# What is no part of the record.
find results \( -name host.log -o -name LOCK -o -name control -o -name stdout -o -name stderr -o -name progress.csv -o -name .room -o -name '.fake-cluster*' \) -delete
find results -type d \( -name blobs -o -name restored -o -name snapshots -o -name '*.tmp' \) -prune -exec rm -rf {} +
chmod -R u+rwX results
