package python_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

// heavy is a trainable that only imports slow modules.
const heavy = `import sys
import sklearn.datasets, sklearn.linear_model
import tunehost

class Heavy(tunehost.Trainable):
    fork = "--unforked" not in sys.argv

    def train(self, run):
        run.report(loss=1.0, done=True)

tunehost.serve(Heavy)
`

// BenchmarkTrials measures trials that import scikit-learn and do nothing: forks of one process,
// one and four at a time, and one process per trial.
func BenchmarkTrials(b *testing.B) {
	script := filepath.Join(b.TempDir(), "heavy.py")
	if err := os.WriteFile(script, []byte(heavy), 0o600); err != nil {
		b.Fatal(err)
	}
	c := config(b, sdk.KindTrainable, script)
	for name, atOnce := range map[string]int{"forked": 1, "forked4": 4} {
		b.Run(name, func(b *testing.B) {
			d := newDriver(b, c, "")
			b.ResetTimer()
			trials(b, d, atOnce)
		})
	}
	b.Run("process", func(b *testing.B) {
		c.Args = append(c.Args, "--unforked")
		for b.Loop() {
			d := newDriver(b, c, "")
			trial(b, d, 0)
			_ = d.trainer.Close()
		}
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "trials/s")
	})
}

// trials runs b.N trials, atOnce in parallel.
func trials(b *testing.B, d *driver, atOnce int) {
	b.Helper()
	for run := range min(b.N, atOnce) {
		send(b, d, uint64(run))
	}
	for ended, next := 0, atOnce; ended < b.N; {
		if d.next().Kind == train.Ended {
			if ended++; next < b.N {
				send(b, d, uint64(next))
				next++
			}
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "trials/s")
}

func trial(b *testing.B, d *driver, run uint64) {
	b.Helper()
	send(b, d, run)
	for d.next().Kind != train.Ended {
	}
}

func send(b *testing.B, d *driver, run uint64) {
	b.Helper()
	d.send(train.Command{Kind: train.Start, Run: run, Trial: &sdk.Trial{Params: []byte("{}"), Dir: b.TempDir()}})
}

// BenchmarkSuggest measures a call of a searcher that answers immediately.
func BenchmarkSuggest(b *testing.B) {
	s := openSearcher(b, start(b, config(b, sdk.KindSearcher, probe)), two(), "", nil)
	requests := []sdk.Request{{Seed: 1}}
	for b.Loop() {
		if _, err := s.Suggest(b.Context(), requests); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkReport measures results of one forked trial, each answered before the next.
func BenchmarkReport(b *testing.B) {
	d := newDriver(b, config(b, sdk.KindTrainable, probe), "")
	d.start(1, do("swallow"), sdk.Trial{Dir: b.TempDir()})
	for b.Loop() {
		d.want(train.Result, "")
		d.continues(1)
	}
}
