package inproc_test

import (
	"testing"

	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/plugin/inproc"
	"github.com/tunehost/tunehost/host/plugin/internal/suite"
	"github.com/tunehost/tunehost/plugins/sdk"
)

func start(t testing.TB, kind sdk.Kind) plugin.Plugin {
	values := map[sdk.Kind]any{sdk.KindSearcher: suite.Searcher, sdk.KindScheduler: suite.Scheduler, sdk.KindTrainable: suite.Trainable, sdk.KindReporter: suite.Reporter}
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
