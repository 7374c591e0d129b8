package main

import (
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// measures are the available measurements, in order.
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

// nothing measures trials that do nothing, in reused processes.
func nothing(b *bench) (row, error) {
	n := b.times(4000)
	got, err := b.experiment(fmt.Sprintf(nothingFile, n), "--resources", "cpu=16")
	return row{"trials that do nothing, cpu=16", got.each(n, "trials"), fmt.Sprintf("%d trials", n)}, err
}

const programsFile = `version: 1
seed: 1
objective: {metric: score, mode: max}
trainable: {command: [/bin/true]}
space: {x: {uniform: [0, 1]}}
strict_metrics: false
trials: %d
`

// programs measures one program per trial, compared with a plain loop that starts it with the same
// two pipes and the same concurrency.
func programs(b *bench) (row, error) {
	n := b.times(1000)
	before := bareLoop(n / 2)
	got, err := b.experiment(fmt.Sprintf(programsFile, n), "--resources", fmt.Sprintf("cpu=%d", atATime))
	after := bareLoop(n / 2)
	bare := cost{before.wall + after.wall, before.cpu + after.cpu}
	return row{fmt.Sprintf("trials that are /bin/true, cpu=%d", atATime), got.each(n, "trials"),
		fmt.Sprintf("%s bare: %.2f of its speed", bare.each(n, "starts"), bare.wall.Seconds()/got.wall.Seconds())}, err
}

const atATime = 4

// bareLoop starts a program repeatedly.
func bareLoop(n int) cost {
	var before, after syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_CHILDREN, &before)
	own := ownTime()
	began := time.Now()
	var loops sync.WaitGroup
	for range atATime {
		loops.Go(func() {
			for range n / atATime {
				cmd := exec.Command("/bin/true")
				cmd.Stdout, cmd.Stderr = &strings.Builder{}, &strings.Builder{}
				_ = cmd.Run()
			}
		})
	}
	loops.Wait()
	wall := time.Since(began)
	_ = syscall.Getrusage(syscall.RUSAGE_CHILDREN, &after)
	return cost{wall, cpuOf(&after) - cpuOf(&before) + ownTime() - own}
}

func ownTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return cpuOf(&u)
}

func cpuOf(u *syscall.Rusage) time.Duration { return time.Duration(u.Utime.Nano() + u.Stime.Nano()) }

const resultsFile = `version: 1
seed: 1
objective: {metric: score, mode: max}
trainable: {plugin: chaos, options: {iterations: %d, shared: true, saves: false, any_params: true}}
space: {quality: {uniform: [0, 1]}}
scheduler: %s
trials: 16
`

// results measures sixteen trials of one process that report as fast as possible. The scheduler's
// process decides each result: median, which compares at each.
func results(b *bench) (row, error) {
	return report(b, "results, each decided by median", "{plugin: median, grace: 1000000000}", 2000)
}

// quietResults measures the same without a scheduler that decides.
func quietResults(b *bench) (row, error) {
	return report(b, "results, none decided (fifo)", "fifo", 10000)
}

func report(b *bench, what, scheduler string, iterations int) (row, error) {
	n := b.times(iterations)
	got, err := b.experiment(fmt.Sprintf(resultsFile, n, scheduler), "--resources", "cpu=16")
	return row{what + ", 16 trials", got.each(16*n, "results"), fmt.Sprintf("%d results", 16*n)}, err
}
