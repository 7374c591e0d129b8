package files

import (
	"slices"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/view"
)

// BenchmarkReport measures one result of 8 metrics: a batch of 256 results, of as many trials as can
// have their files open, or of many more.
func BenchmarkReport(b *testing.B) {
	for _, c := range []struct {
		name    string
		trials  int
		formats []Format
	}{{"jsonl", 64, []Format{JSONL}}, {"csv", 64, []Format{CSV}}, {"both", 64, []Format{JSONL, CSV}},
		{"both of 1000 trials", 1000, []Format{JSONL, CSV}}} {
		b.Run(c.name, func(b *testing.B) { benchmark(b, c.trials, c.formats) })
	}
}

func benchmark(b *testing.B, trials int, formats []Format) {
	const batch = 256
	s := &story{dir: newDir(b, trials)}
	var metrics []view.Metric
	for _, name := range []string{"acc", "loss", "val/acc", "val/loss", "lr", "grad_norm", "steps", "throughput"} {
		metrics = append(metrics, view.Metric{Name: name, Value: 0.123456789 * float64(len(name))})
	}
	for range batch {
		s.result(0, 1, 1, slices.Clone(metrics)...)
	}
	var dirs []string
	for i := range trials {
		dirs = append(dirs, trialDir(s.dir, core.TrialNo(i)))
	}
	r := newReporter(s.dir)
	r.open.formats = formats
	number := uint64(0)
	b.ReportAllocs()
	for b.Loop() {
		for i := range s.events {
			number++
			s.events[i].Number = number
			no := core.TrialNo(number) % core.TrialNo(trials)
			s.events[i].Trial.Number, s.events[i].Trial.Dir = no, dirs[no]
			for j := range s.events[i].Result.Metrics {
				s.events[i].Result.Metrics[j].Value = float64(number) / float64(7+j)
			}
		}
		if err := r.Report(s.events); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(number), "ns/result")
	if err := r.Close(); err != nil {
		b.Fatal(err)
	}
}
