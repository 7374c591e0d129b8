package main

import (
	"fmt"
	"os/exec"
	"time"
)

// measures are what there is to measure, in order.
var measures = []struct {
	name string
	run  func(*bench) (row, error)
}{
	{"nothing", nothing},
	{"programs", programs},
	{"results", results},
	{"results-quiet", quietResults},
	{"start", start},
	{"idle", idle},
}

const nothingFile = `version: 1
seed: 1
objective: {metric: score, mode: max}
trainable: {plugin: chaos, options: {iterations: 0, any_params: true}}
space: {x: {uniform: [0, 1]}}
strict_metrics: false
trials: %d
`

// nothing: trials that do nothing, in processes that are used again.
func nothing(b *bench) (row, error) {
	n := b.times(4000)
	took, err := b.experiment(fmt.Sprintf(nothingFile, n), "--resources", "cpu=16")
	return row{"trials that do nothing, cpu=16", each(n, took, "trials"), took.Round(time.Millisecond).String()}, err
}

const programsFile = `version: 1
seed: 1
objective: {metric: score, mode: max}
trainable: {command: [/bin/true]}
space: {x: {uniform: [0, 1]}}
strict_metrics: false
trials: %d
`

// programs: a program for each trial, beside a bare loop that starts it.
func programs(b *bench) (row, error) {
	n := b.times(1000)
	before := bareLoop(n / 2)
	took, err := b.experiment(fmt.Sprintf(programsFile, n), "--resources", "cpu=2")
	bare := before + bareLoop(n/2)
	return row{"trials that are /bin/true, cpu=2", each(n, took, "trials"),
		fmt.Sprintf("%s bare: %.2f of it", each(n, bare, "starts"), bare.Seconds()/took.Seconds())}, err
}

// bareLoop starts a program again and again, two at a time as the trials are.
func bareLoop(n int) time.Duration {
	began := time.Now()
	done := make(chan struct{})
	for range 2 {
		go func() {
			for range n / 2 {
				_ = exec.Command("/bin/true").Run()
			}
			done <- struct{}{}
		}()
	}
	<-done
	<-done
	return time.Since(began)
}

const resultsFile = `version: 1
seed: 1
objective: {metric: score, mode: max}
trainable: {plugin: chaos, options: {iterations: %d, shared: true, saves: false, any_params: true}}
space: {quality: {uniform: [0, 1]}}
scheduler: %s
trials: 16
`

// results: sixteen trials of one process report as fast as they are let, and a
// scheduler's process decides each result: median, which compares at each.
func results(b *bench) (row, error) {
	return report(b, "results, each decided by median", "{plugin: median, grace: 1000000000}", 2000)
}

// quietResults: the same without a scheduler that decides.
func quietResults(b *bench) (row, error) {
	return report(b, "results, none decided (fifo)", "fifo", 10000)
}

func report(b *bench, what, scheduler string, iterations int) (row, error) {
	n := b.times(iterations)
	took, err := b.experiment(fmt.Sprintf(resultsFile, n, scheduler), "--resources", "cpu=16")
	return row{what + ", 16 trials", each(16*n, took, "results"), took.Round(time.Millisecond).String()}, err
}
