package main

import (
	"fmt"
)

const trialsFile = `version: 1
seed: 1
objective: {metric: score, mode: max}
trainable: {plugin: chaos, options: {iterations: 1, sleep: 1, any_params: true, saves: false}}
space: {x: {uniform: [0, 1]}}
strict_metrics: false
trials: %d
concurrency: 64
resources: {cpu: 1}
executor: {plugin: fake, nodes: 16, cpu: 4, agents: true}
`

// trials measures trials of one second on 64 slots of 16 nodes, over the ideal time.
func trials(b *bench) (row, error) {
	const slots = 64
	n := b.times(10_000)
	e, err := b.start(fmt.Sprintf(trialsFile, n))
	if err == nil {
		err = e.wait()
	}
	if err != nil {
		return row{}, err
	}
	ends, err := e.events("attempt_ended")
	if err != nil {
		return row{}, err
	}
	begun, err := e.events("attempt_started")
	if err != nil {
		return row{}, err
	}
	ideal := float64(n) / slots
	last := ends[len(ends)-1].At
	return row{fmt.Sprintf("%d trials of one second on %d slots of 16 nodes", n, slots),
		fmt.Sprintf("%.3f over ideal; %.3f from the start of the first one, which took %.1f s", last/ideal,
			(last-begun[0].At)/ideal, begun[0].At), "Ray Tune's published 1.144 on 16 slots"}, nil
}

const resultsFile = `version: 1
seed: 1
objective: {metric: score, mode: max}
trainable: {plugin: chaos, options: {iterations: %d, any_params: true, saves: false}}
space: {x: {uniform: [0, 1]}}
scheduler: {plugin: median, grace: 1000000000}
strict_metrics: false
trials: 16
concurrency: 16
resources: {cpu: 1}
%s`

// results measures results of 16 trials, each on an agent of its own, decided and recorded, beside the same trials as
// processes of this machine.
func results(b *bench) (row, error) {
	n := b.times(10_000)
	remote, err := b.rate(fmt.Sprintf(resultsFile, n, "executor: {plugin: fake, nodes: 16, cpu: 1, agents: true}\n"))
	if err != nil {
		return row{}, err
	}
	local, err := b.rate(fmt.Sprintf(resultsFile, n, "executor: {plugin: fake, nodes: 16, cpu: 1}\n"))
	return row{"results from 16 agents, each decided and recorded", fmt.Sprintf("%.0f/s", remote),
		fmt.Sprintf("Ray 520–550/s; here without agents %.0f/s", local)}, err
}

// rate is the number of results a second between the start of the last trial and the first end of one.
func (b *bench) rate(text string) (float64, error) {
	e, err := b.start(text)
	if err == nil {
		err = e.wait()
	}
	if err != nil {
		return 0, err
	}
	all, err := e.events("attempt_started", "attempt_ended", "result_reported")
	if err != nil {
		return 0, err
	}
	from, to := 0, len(all)
	for i, ev := range all {
		if ev.Event == "attempt_started" {
			from = i
		}
		if ev.Event == "attempt_ended" {
			to = i
			break
		}
	}
	if from >= to-1 {
		return 0, fmt.Errorf("a trial ended before the last one started; use a larger -scale")
	}
	return float64(to-from-1) / (all[to-1].At - all[from].At), nil
}
