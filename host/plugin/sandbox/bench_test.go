package sandbox_test

import (
	"fmt"
	"testing"

	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/plugin/inproc"
	"github.com/tunehost/tunehost/host/plugin/process"
	"github.com/tunehost/tunehost/host/plugin/sandbox"
	"github.com/tunehost/tunehost/host/plugin/sandbox/sandboxtest"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
	"github.com/tunehost/tunehost/plugins/searchers/random"
)

// BenchmarkSuggest compares the ways to call a searcher: the bundled random, four parameters, one
// suggestion or 64 in a call.
func BenchmarkSuggest(b *testing.B) {
	m := twins{sandboxtest.Build(b, "./testdata/twin")}
	for _, way := range []struct {
		name  string
		start func(b *testing.B) plugin.Plugin
	}{
		{"inproc", func(b *testing.B) plugin.Plugin {
			p, err := inproc.New(random.Plugin)
			if err != nil {
				b.Fatal(err)
			}
			return p
		}},
		{"process", func(b *testing.B) plugin.Plugin {
			c, _ := registry.Config(sdk.KindSearcher, "random")
			return sandboxtest.Run(b, c)
		}},
		{"wasm", func(b *testing.B) plugin.Plugin { return m.start(b, sdk.KindSearcher, "random") }},
	} {
		for _, n := range []int{1, 64} {
			b.Run(fmt.Sprintf("%s/%d", way.name, n), func(b *testing.B) { suggest(b, way.start(b), n) })
		}
	}
}

func suggest(b *testing.B, p plugin.Plugin, n int) {
	s := &space.Space{}
	for i := range 4 {
		s.Params = append(s.Params, space.Param{Name: fmt.Sprint("x", i), Kind: space.Real, High: 1})
	}
	searcher, err := p.OpenSearcher(b.Context(), twinProblem(s), nil, nil)
	if err != nil {
		b.Fatal(err)
	}
	requests := make([]sdk.Request, n)
	for i := range requests {
		requests[i].Seed = uint64(i)
	}
	for b.Loop() {
		if _, err := searcher.Suggest(b.Context(), requests); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "suggestions/s")
}

// BenchmarkStart measures the time to the first answer: of a program, of a Go module that must be
// compiled, of one in the cache, and of a small module.
func BenchmarkStart(b *testing.B) {
	m := twins{sandboxtest.Build(b, "./testdata/twin")}
	module := func(b *testing.B, cache string) process.Config {
		c := sandboxtest.Process(b, sandbox.Config{Kind: sdk.KindSearcher, Name: "random", Path: m.path, Cache: cache,
			Grants: sandbox.Grants{Env: []string{"SEARCHER"}}})
		c.Env = append(c.Env, "SEARCHER=random")
		return c
	}
	for name, config := range map[string]func(b *testing.B) process.Config{
		"process": func(*testing.B) process.Config {
			c, _ := registry.Config(sdk.KindSearcher, "random")
			return c
		},
		"cold":   func(b *testing.B) process.Config { return module(b, b.TempDir()) },
		"cached": func(b *testing.B) process.Config { return module(b, sandboxtest.Cache(b)) },
		"small": func(b *testing.B) process.Config {
			return sandboxtest.Process(b,
				broken(b, sdk.KindSearcher, "trap"))
		},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				c := config(b)
				b.StartTimer()
				p, err := process.Start(b.Context(), c)
				if err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				_ = p.Close()
				b.StartTimer()
			}
		})
	}
}
