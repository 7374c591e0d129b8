package gp

import (
	"fmt"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
	. "github.com/tunehost/tunehost/plugins/searchers/internal/searchtest"
)

// known returns a searcher that knows n trials at random points; the loss is the distance from a
// corner.
func known(t testing.TB, s sdk.Searcher, sp *space.Space, from, n, objectives int) {
	rng := space.NewRand(uint64(7 + from))
	for i := range n {
		p, _ := sp.Sample(rng)
		losses := make([]float64, objectives)
		for k := range p {
			losses[k%objectives] += sp.ToUnit(k, p[k])
		}
		Observe(t, s, Added(from+i, p), Completed(from+i, losses...))
	}
}

// BenchmarkSuggest measures a suggestion and its result, including all fits.
func BenchmarkSuggest(b *testing.B) {
	for _, c := range []struct{ trials, params, objectives int }{{50, 10, 1}, {200, 10, 1}, {200, 10, 2}, {1000, 10, 1},
		{200, 40, 1}, {200, 500, 1}} {
		b.Run(fmt.Sprintf("trials=%d/params=%d/objectives=%d", c.trials, c.params, c.objectives), func(b *testing.B) {
			sp := Mixed(c.params)
			s := Open(b, Plugin, sp, "{}", c.objectives)
			known(b, s, sp, 0, c.trials, c.objectives)
			for i := c.trials; b.Loop(); i++ {
				Suggest(b, s, Request(1, i))
				known(b, s, sp, i, 1, c.objectives)
			}
		})
	}
}
