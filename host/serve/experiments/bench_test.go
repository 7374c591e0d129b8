package experiments

import (
	"path/filepath"
	"testing"

	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/host/view/journalview"
	"github.com/tunehost/tunehost/host/view/viewtest"
)

// BenchmarkFollowed reads what a host adds to its record, 1,600 results at a time, as a server does whose pages show
// the experiment.
func BenchmarkFollowed(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "followed")
	w := viewtest.New(dir, []byte("version: 1\nobjective: {metric: accuracy, mode: max}\n"+
		"space: {lr: {uniform: [0, 1]}}\ntrials: 1000000\n"), 1)
	w.Iterations = 216
	w.Start(16)
	w.Flush()
	tail := journalview.NewTail()
	r, err := view.OpenFollowed(dir, tail.After)
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	b.ReportAllocs()
	results := 0
	for b.Loop() {
		b.StopTimer()
		w.Run(100)
		results += 1600
		b.StartTimer()
		if _, err := r.Refresh(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(results), "ns/result")
}
