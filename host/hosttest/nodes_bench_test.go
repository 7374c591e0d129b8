package hosttest_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/tunehost/tunehost/host/agent/link"
	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/exec/remote"
	"github.com/tunehost/tunehost/host/hostlog"
	"github.com/tunehost/tunehost/host/hosttest"
	"github.com/tunehost/tunehost/host/plugin"
	pluginprocess "github.com/tunehost/tunehost/host/plugin/process"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

// agentOf starts an agent as an engine would, and returns the connection to it, which is TLS over TCP.
func agentOf(b *testing.B) link.Session {
	b.Helper()
	hub, err := link.Open(link.Options{Dir: b.TempDir(), Experiment: "bench", Grace: time.Minute,
		Notify: func(link.Event) {}, Log: hostlog.New(hclog.NewNullLogger()), Clock: clock.System{}})
	if err != nil {
		b.Fatal(err)
	}
	ticket, err := hub.Expect("bench-1", 1)
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe", "agent")
	cmd.Env = append(os.Environ(), sdk.AgentVariable+"="+ticket, sdk.AgentBundleVariable+"=0")
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = cmd.Process.Kill()
		_, _ = cmd.Wait(), hub.Close()
	})
	s, err := hub.Wait(b.Context(), "bench-1", 0)
	if err != nil {
		b.Fatal(err)
	}
	return s
}

// BenchmarkStart is the time from the order to start a trial to the word that its program runs, in a
// process of the command trainable that is there already; and the time to start such a process.
func BenchmarkStart(b *testing.B) {
	for _, where := range []string{"here", "agent"} {
		b.Run(where, func(b *testing.B) {
			var on pluginprocess.Machine
			if where == "agent" {
				on = remote.Machine(context.Background(), agentOf(b))
			}
			began := time.Now()
			t := commandOn(b, on)
			cold := time.Since(began)
			root := b.TempDir()
			var times []time.Duration
			for run := uint64(1); b.Loop(); run++ {
				dir := filepath.Join(root, fmt.Sprint(run))
				if err := os.Mkdir(dir, 0o700); err != nil {
					b.Fatal(err)
				}
				times = append(times, startOf(b, t, run, dir))
			}
			b.ReportMetric(float64(cold.Microseconds())/1000, "process-ms")
			slices.SortFunc(times, func(x, y time.Duration) int { return cmp.Compare(x, y) })
			b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(times[len(times)*99/100].Microseconds())/1000, "p99-ms")
		})
	}
}

// commandOn starts the command trainable on a machine.
func commandOn(b *testing.B, on pluginprocess.Machine) plugin.Trainer {
	b.Helper()
	c, _ := plugged.Config(sdk.KindTrainable, "command")
	c.On = on
	p, err := pluginprocess.Start(b.Context(), c)
	if err != nil {
		b.Fatal(err)
	}
	options, err := json.Marshal(map[string]any{"command": []string{"true"}, "objectives": []string{"loss"},
		"base_dir": b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	t, err := p.OpenTrainable(b.Context(), options)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = t.Close() })
	return t
}

// startOf starts a trial, waits for its end, and returns how long its start took.
func startOf(b *testing.B, t plugin.Trainer, run uint64, dir string) (took time.Duration) {
	b.Helper()
	began := time.Now()
	trial := &sdk.Trial{ID: fmt.Sprint(run), Attempt: 1, Params: []byte("{}"), Dir: dir}
	if err := t.Send([]train.Command{{Kind: train.Start, Run: run, Trial: trial}}); err != nil {
		b.Fatal(err)
	}
	for {
		events, err := t.Recv()
		if err != nil {
			b.Fatal(err)
		}
		for _, e := range events {
			switch e.Kind {
			case train.Started:
				took = time.Since(began)
			case train.Ended:
				return took
			}
		}
	}
}

// BenchmarkResults is how many results a host decides and records in a second that come from 16 processes,
// on this machine or through 16 agents.
func BenchmarkResults(b *testing.B) {
	const trials, iterations = 16, 10_000
	yaml := strings.NewReplacer("iterations: 30, sleep: 0.08", fmt.Sprintf("iterations: %d", iterations),
		"checkpoint: {every: 10}\n", "", "{plugin: asha, max: 30}", "median",
		"quality: {uniform: [0, 1]}", "quality: 0.5, n: {uniform: [0, 1]}", "trials: 5",
		fmt.Sprintf("trials: %d\nconcurrency: %[1]d", trials)).Replace(long)
	for _, where := range []string{"here", "agents"} {
		b.Run(where, func(b *testing.B) {
			for b.Loop() {
				x := write(b, yaml, nil)
				x.Resources = "cpu=16"
				if where == "agents" {
					x = write(b, yaml+"executor: {plugin: nodes, engine: "+newEngine(b).socket+"}\n", nil)
					x.Resources = ""
				}
				began := time.Now()
				x.run(b, 0)
				took := time.Since(began).Seconds()
				results := 0
				for _, dir := range x.trials(b) {
					results += len(hosttest.Lines(b, filepath.Join(dir, "result.jsonl")))
				}
				b.ReportMetric(float64(results)/took, "results/s")
			}
		})
	}
}
