package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	openPages = 10
	// busyTrials are the trials of a run, with 27 results each.
	busyTrials = 8000
)

const busySource = `version: 1
objective: {metric: score, mode: max}
space: {x: {uniform: [0, 1]}}
trials: %d
concurrency: 16
scheduler: {plugin: median, grace: 1000000000}
trainable: {plugin: chaos, options: {iterations: %d, shared: true, saves: false, any_params: true}}
`

// pages measures what open pages cost a host that runs: runs with and without them take turns.
func pages(out io.Writer, binary, dir string, rounds int) error {
	folder := filepath.Join(dir, "results")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	file := filepath.Join(dir, "busy.yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, busySource, busyTrials, iterations), 0o600); err != nil {
		return err
	}
	s, err := start(binary, filepath.Join(dir, "pages"), folder)
	if err != nil {
		return err
	}
	defer s.end()
	var rates, costs, shares []float64
	for i := range rounds {
		alone, err := busy(binary, file, folder, fmt.Sprint("alone", i), nil)
		if err != nil {
			return err
		}
		watched, err := busy(binary, file, folder, fmt.Sprint("watched", i), s)
		if err != nil {
			return err
		}
		rates, costs = append(rates, watched.rate/alone.rate), append(costs, watched.cpu/alone.cpu)
		shares = append(shares, watched.server)
		fmt.Fprintf(out, "round %d: alone %v, with %d pages %v\n", i+1, alone, openPages, watched)
	}
	fmt.Fprintf(out, "with %d pages: %.3f times the results/s, %.3f times the host's processor time, "+
		"and the server takes %.1f %% of a processor (medians)\n",
		openPages, middle(rates), middle(costs), 100*middle(shares))
	return nil
}

func middle(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}

// outcome is what a host did.
type outcome struct {
	rate  float64 // results a second
	cpu   float64 // microseconds a result, of the host and its plugins
	reads int64   // answers to the pages
	// server is the processor time of the pages' server, as a part of a processor.
	server float64
}

func (r outcome) String() string {
	return fmt.Sprintf("%.0f results/s at %.1f µs (%d reads, %.1f %% of a processor for the server)",
		r.rate, r.cpu, r.reads, 100*r.server)
}

// busy runs a host. s is the server of the pages that are open; nil: there are none.
func busy(binary, file, folder, name string, s *server) (r outcome, err error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, "run", file, "--name", name, "--storage", folder, "-v", "0")
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return r, err
	}
	var reads atomic.Int64
	var open sync.WaitGroup
	var before time.Duration
	if s != nil {
		before = cpu(s.cmd.Process.Pid)
		for range openPages {
			open.Go(func() { look(ctx, s, name, &reads) })
		}
	}
	err = cmd.Wait()
	took := time.Since(began).Seconds()
	cancel()
	open.Wait()
	const results = busyTrials * iterations
	used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	r = outcome{rate: results / took, cpu: float64(used.Microseconds()) / results, reads: reads.Load()}
	if s != nil {
		r.server = (cpu(s.cmd.Process.Pid) - before).Seconds() / took
	}
	return r, err
}

// shown are the requests of the page of an experiment, each time that something has changed.
var shown = []string{"", "/history?points=500", "/curves"}

// looks is how often the dashboard reads the status of an experiment.
const looks = time.Second

// look reads what the page of an experiment shows, as often as the dashboard does: when something has changed, and
// then not for ten times as long as it took.
func look(ctx context.Context, s *server, name string, reads *atomic.Int64) {
	url := "/api/v1/experiments/" + name
	for last := ""; ctx.Err() == nil; {
		wait := looks
		if entries := recorded(ctx, s, url); entries != last {
			last = entries
			wait = max(wait, read(s, url, reads))
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}

// recorded returns the number of the last entry of the record; "" before the experiment has one.
func recorded(ctx context.Context, s *server, url string) string {
	var status struct{ Entries json.Number }
	a, err := s.request(ctx, url)
	if err != nil {
		return ""
	}
	defer a.Body.Close()
	if json.NewDecoder(a.Body).Decode(&status) != nil {
		return ""
	}
	return status.Entries.String()
}

// read reads what the page shows, and returns how long it then reads nothing.
func read(s *server, url string, reads *atomic.Int64) time.Duration {
	began := time.Now()
	for _, path := range shown {
		if _, _, err := s.get(url + path); err == nil {
			reads.Add(1)
		}
	}
	return min(max(10*time.Since(began), 300*time.Millisecond), 15*time.Second)
}
