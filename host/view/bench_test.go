package view_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/host/view/viewtest"
)

// BenchmarkOpen reads 100,000 trials with 2,700,000 results; the limit is 5 s.
// TUNEHOST_BENCH_TRIALS=small reads a hundredth.
func BenchmarkOpen(b *testing.B) {
	dir := large(b)
	b.ReportAllocs()
	before := processor(b)
	for b.Loop() {
		e, err := view.Open(dir)
		if err != nil {
			b.Fatal(err)
		}
		if err := e.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric((processor(b)-before).Seconds()/float64(b.N), "cpu-s/op")
}

// BenchmarkTrials makes the table of 100,000 trials.
func BenchmarkTrials(b *testing.B) {
	e, err := view.Open(large(b))
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	b.ReportAllocs()
	for b.Loop() {
		if list, err := e.Trials(view.Chosen{Sort: "accuracy"}); err != nil || len(list) != e.Now().Machine.Trials() {
			b.Fatal(len(list), err)
		}
	}
}

// BenchmarkBest finds the best of them.
func BenchmarkBest(b *testing.B) {
	e, err := view.Open(large(b))
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	for b.Loop() {
		if _, ok, err := e.Best(view.Query{}); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}

func large(b *testing.B) string {
	b.Helper()
	dir := filepath.Join(b.TempDir(), "large")
	trials := "100000"
	if os.Getenv("TUNEHOST_BENCH_TRIALS") == "small" {
		trials = "1000"
	}
	w := viewtest.New(dir, []byte("version: 1\nobjective: {metric: accuracy, mode: max}\nspace: {lr: {loguniform: "+
		"[1e-4, 1]}, layers: {int: [1, 3]}}\ntrials: "+trials+"\n"), 1)
	w.Iterations = 27
	w.Start(64)
	w.Run(-1)
	w.Close()
	return dir
}
