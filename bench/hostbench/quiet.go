package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

const stampFile = `version: 1
seed: 1
objective: {metric: score, mode: max}
trainable: {command: [date, "+%s.%N"]}
strict_metrics: false
`

// start measures the time from the command to the first line of the first trial's program.
func start(b *bench) (row, error) {
	var waits []time.Duration
	for range b.times(10) {
		wait, err := b.startOnce()
		if err != nil {
			return row{}, err
		}
		waits = append(waits, wait)
	}
	slices.Sort(waits)
	median := waits[len(waits)/2].Round(time.Millisecond)
	return row{"from the command to the first trial", median.String(),
		fmt.Sprintf("%v to %v", waits[0].Round(time.Millisecond), waits[len(waits)-1].Round(time.Millisecond))}, nil
}

func (b *bench) startOnce() (time.Duration, error) {
	cmd, dir, err := b.command(stampFile)
	if err != nil {
		return 0, err
	}
	began := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%w: %s", err, out)
	}
	found, err := filepath.Glob(filepath.Join(dir, "trials", "*", "stdout"))
	if err != nil || len(found) != 1 {
		return 0, fmt.Errorf("the trial's output is not there: %v, %v", found, err)
	}
	text, err := os.ReadFile(found[0])
	if err != nil {
		return 0, err
	}
	at, err := strconv.ParseFloat(strings.TrimSpace(string(text)), 64)
	if err != nil {
		return 0, err
	}
	return time.UnixMicro(int64(at * 1e6)).Sub(began), nil
}

const idleFile = `version: 1
seed: 1
objective: {metric: score, mode: max}
trainable: {plugin: chaos, options: {iterations: 1, sleep: 1000, any_params: true}}
stop_grace: 1s
`

const idleTime = 10 * time.Second

// idle measures the CPU time and memory of a host whose trial is silent.
func idle(b *bench) (row, error) {
	cmd, _, err := b.command(idleFile)
	if err != nil {
		return row{}, err
	}
	if err := cmd.Start(); err != nil {
		return row{}, err
	}
	defer func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	}()
	time.Sleep(2 * time.Second) // it starts
	before, _, err := usage(cmd.Process.Pid)
	if err != nil {
		return row{}, err
	}
	time.Sleep(idleTime)
	after, memory, err := usage(cmd.Process.Pid)
	share := float64(after-before) / float64(idleTime) * 100
	return row{"idle host", fmt.Sprintf("%.2f %% of a core", share), fmt.Sprintf("%d MiB resident", memory>>20)}, err
}

// tick is the unit of CPU times in /proc: 1/100 s on Linux.
const tick = 10 * time.Millisecond

// usage returns a process's CPU time and resident bytes.
func usage(pid int) (cpu time.Duration, memory int64, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0, err
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	user, err1 := strconv.ParseInt(fields[11], 10, 64)
	system, err2 := strconv.ParseInt(fields[12], 10, 64)
	pages, err3 := strconv.ParseInt(fields[21], 10, 64)
	for _, err := range []error{err1, err2, err3} {
		if err != nil {
			return 0, 0, err
		}
	}
	return time.Duration(user+system) * tick, pages * int64(os.Getpagesize()), nil
}
