package inproc_test

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/plugin/inproc"
	"github.com/tunehost/tunehost/host/plugin/internal/suite"
	"github.com/tunehost/tunehost/plugins/sdk"
)

func start(t testing.TB, kind sdk.Kind) plugin.Plugin {
	values := map[sdk.Kind]any{sdk.KindSearcher: suite.Searcher, sdk.KindScheduler: suite.Scheduler,
		sdk.KindTrainable: suite.Trainable, sdk.KindReporter: suite.Reporter,
		sdk.KindExecutor: suite.Executor}
	p, err := inproc.New(values[kind])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

func TestSuite(t *testing.T) {
	suite.Run(t, func(t *testing.T, kind sdk.Kind) plugin.Plugin { return start(t, kind) })
}

func TestNoPlugin(t *testing.T) {
	if _, err := inproc.New(3); err == nil {
		t.Fatal("3 is not a plugin")
	}
}

// An executor that continues after its end would cancel jobs of the next one.
func TestClosedAfterItsPlugin(t *testing.T) {
	for kind, open := range map[sdk.Kind]func(plugin.Plugin, string) (io.Closer, error){
		sdk.KindExecutor: func(p plugin.Plugin, dir string) (io.Closer, error) {
			return p.OpenExecutor(t.Context(), sdk.Execution{Experiment: "x", Dir: dir}, nil)
		},
		sdk.KindReporter: func(p plugin.Plugin, dir string) (io.Closer, error) {
			return p.OpenReporter(t.Context(), sdk.Experiment{Name: "x", Dir: dir}, nil)
		},
	} {
		p, dir := start(t, kind), t.TempDir()
		opened, err := open(p, dir)
		if err != nil {
			t.Fatal(kind, err)
		}
		for _, c := range []io.Closer{p, opened, opened} {
			if err := c.Close(); err != nil {
				t.Error(kind, err)
			}
		}
		if _, err := os.Stat(filepath.Join(dir, "closed")); err != nil {
			t.Error(kind, "was not closed")
		}
	}
}

func BenchmarkSuggest(b *testing.B) {
	s, err := start(b, sdk.KindSearcher).OpenSearcher(b.Context(), suite.Problem(), nil, nil)
	if err != nil {
		b.Fatal(err)
	}
	suite.BenchmarkSuggest(b, s)
}

func BenchmarkTrain(b *testing.B) {
	t, err := start(b, sdk.KindTrainable).OpenTrainable(b.Context(), suite.Do("shared"))
	if err != nil {
		b.Fatal(err)
	}
	suite.BenchmarkTrain(b, t)
}
