package host

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/tunehost/tunehost/host/compose"
	"github.com/tunehost/tunehost/host/engine"
	"github.com/tunehost/tunehost/host/prepare"
	"github.com/tunehost/tunehost/host/report/publish"
)

// paced is an experiment of 16 trials in one process that together report so many
// results a second.
func paced(t testing.TB, perSecond, iterations int, record func(engine.Recorder) engine.Recorder) *compose.Session {
	dir := t.TempDir()
	file := filepath.Join(dir, "paced.yaml")
	text := fmt.Sprintf(`
version: 1
objective: {metric: score, mode: max}
trainable: {plugin: chaos, options: {iterations: %d, sleep: %g, shared: true, saves: false, any_params: true}}
space: {x: {uniform: [0, 1]}}
trials: 16
`, iterations, 16/float64(perSecond))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	o := Options{File: file, Storage: dir, Plugins: testPlugins, Output: Output{Stdout: io.Discard, Stderr: os.Stderr},
		Resources: "cpu=16"}
	p, err := prepare.FromFile(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	s, err := compose.Begin(t.Context(), p, o, compose.How{Record: record})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// tally counts what a Recorder is asked for.
type tally struct {
	engine.Recorder
	records, syncs atomic.Int64
}

func (c *tally) Append(records [][]byte) (uint64, error) {
	c.records.Add(int64(len(records)))
	return c.Recorder.Append(records)
}

func (c *tally) Sync() error {
	c.syncs.Add(1)
	return c.Recorder.Sync()
}

// B-081: what recording costs is bounded by time, not by what happens: however
// many results there are, the disk is waited for once in a linger, and by nobody
// who decides. BenchmarkRecording measures the rest.
func TestFewSyncs(t *testing.T) {
	var c *tally
	s := paced(t, 1_000_000, 200, func(r engine.Recorder) engine.Recorder {
		c = &tally{Recorder: r}
		return c
	})
	began := time.Now()
	if ended, err := s.Run(t.Context()); err != nil || ended.Errored > 0 {
		t.Fatal(ended, err)
	}
	most := int64(time.Since(began)/publish.Linger) + 3 // at the start, and twice at the end
	if n := c.records.Load(); n < 16*200 {
		t.Errorf("there are %d records of %d results", n, 16*200)
	}
	if n := c.syncs.Load(); n > most {
		t.Errorf("%d syncs in %v, want at most one in %v", n, time.Since(began), publish.Linger)
	}
}

// unkept keeps nothing on disk.
func unkept(r engine.Recorder) engine.Recorder {
	_ = r.Close()
	return &engine.Memory{}
}

// BenchmarkRecording: the same experiment with its record on disk and without
// one, again and again in turn: at 1,000 results/s, at 20,000/s, and as fast as it
// goes. The host's own processor time is what recording can cost.
func BenchmarkRecording(b *testing.B) {
	for _, rate := range []int{1000, 20_000, 1_000_000} {
		b.Run(fmt.Sprintf("%d-a-second", rate), func(b *testing.B) {
			var with, without spent
			for range b.N {
				iterations := max(min(rate, 100_000)/16*2, 10)
				with.add(spend(b, paced(b, rate, iterations, nil)))
				without.add(spend(b, paced(b, rate, iterations, unkept)))
			}
			b.ReportMetric(with.wall.Seconds()/without.wall.Seconds(), "wall-ratio")
			b.ReportMetric(with.cpu.Seconds()/without.cpu.Seconds(), "cpu-ratio")
			b.ReportMetric(100*(with.cpu-without.cpu).Seconds()/with.wall.Seconds(), "%-of-a-core")
		})
	}
}

type spent struct{ wall, cpu time.Duration }

func (s *spent) add(x spent) { s.wall, s.cpu = s.wall+x.wall, s.cpu+x.cpu }

func spend(b *testing.B, s *compose.Session) spent {
	var before, after syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &before)
	began := time.Now()
	if ended, err := s.Run(b.Context()); err != nil || ended.Errored > 0 {
		b.Fatal(ended, err)
	}
	wall := time.Since(began)
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &after)
	cpu := after.Utime.Nano() + after.Stime.Nano() - before.Utime.Nano() - before.Stime.Nano()
	return spent{wall, time.Duration(cpu)}
}
