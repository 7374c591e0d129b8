package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
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
var shown = []string{"/history", "/curves?metric=score&points=100&trials=2000"}

// looks is how often the dashboard reads the status of an experiment, again and late how soon and how late an
// answer that was made for another page.
const (
	looks = 750 * time.Millisecond
	again = 700 * time.Millisecond
	late  = 2500 * time.Millisecond
)

// reader is a page that is open.
type reader struct {
	s     *server
	reads *atomic.Int64
	tags  map[string]string
}

// look reads what the page of an experiment shows, as the dashboard does: each part when something has changed, and
// then not for ten times as long as it took.
func look(ctx context.Context, s *server, name string, reads *atomic.Int64) {
	p := reader{s, reads, map[string]string{}}
	url := "/api/v1/experiments/" + name
	due := make([]time.Time, len(shown))
	done := make([]string, len(shown))
	for ctx.Err() == nil {
		now, _ := p.read(ctx, url)
		for i, path := range shown {
			if now == "" || done[i] == now || time.Now().Before(due[i]) {
				continue
			}
			began := time.Now()
			_, next := p.read(ctx, url+path)
			pause := min(max(10*time.Since(began), 300*time.Millisecond), 15*time.Second)
			if done[i] = now; next >= 0 {
				done[i], pause = "", max(pause, again, min(next, late))
			}
			due[i] = time.Now().Add(pause)
		}
		select {
		case <-ctx.Done():
		case <-time.After(looks):
		}
	}
}

// read reads an answer that may have been made for another page. It returns what tells it from others, and when there
// may be a newer one if it was; negative: it was not.
func (p *reader) read(ctx context.Context, path string) (tag string, next time.Duration) {
	a, err := p.s.request(ctx, path, "Cache-Control", "max-age=30", "If-None-Match", p.tags[path])
	if err != nil {
		return "", -1
	}
	defer a.Body.Close()
	if _, err := io.Copy(io.Discard, a.Body); err != nil || a.StatusCode >= http.StatusBadRequest {
		return "", -1
	}
	p.reads.Add(1)
	p.tags[path] = a.Header.Get("ETag")
	if a.Header.Get("Age") == "" {
		return p.tags[path], -1
	}
	ms, _ := strconv.Atoi(a.Header.Get("Tunehost-Next")) // an older server has none
	return p.tags[path], time.Duration(ms) * time.Millisecond
}
