package auto

import (
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
	. "github.com/tunehost/tunehost/plugins/searchers/internal/searchtest"
)

// BenchmarkSuggest measures a suggestion, and the events of its trial, after trials of which a scheduler
// stopped most, as asha does: a third goes on from the iterations 1, 3 and 9; and with half of them
// trained to their ends, where gp takes part. Told times make it take account of time.
func BenchmarkSuggest(b *testing.B) {
	for name, c := range map[string]struct {
		trials int
		until  func(i int) uint64
		told   bool
	}{
		"1000 of which most are stopped":             {1000, halved, false},
		"1000 of which most are stopped, times told": {1000, halved, true},
		"200 of which half are stopped":              {200, func(i int) uint64 { return []uint64{3, 27}[i%2] }, false},
	} {
		b.Run(name, func(b *testing.B) {
			sp := Reals(10, 0, 1)
			s, _, err := Plugin.Open(sdk.Problem{Space: sp}, nil)
			if err != nil {
				b.Fatal(err)
			}
			rng := space.NewRand(1)
			for i := range c.trials {
				train(b, s, i, sp.Draw(rng), c.until(i), c.told)
			}
			i := c.trials
			for b.Loop() {
				train(b, s, i, Suggest(b, s, Request(i, i)).Points[0], c.until(i), c.told)
				i++
			}
		})
	}
}

// halved is how far trial i is trained if each third one continues.
func halved(i int) uint64 {
	until := uint64(1)
	for ; until < 27 && i%3 == 0; i /= 3 {
		until *= 3
	}
	return until
}

// train sends the events of a trial; the ones that are trained longer are better.
func train(b *testing.B, s sdk.Searcher, i int, p space.Point, until uint64, told bool) {
	Observe(b, s, Added(i, p))
	for n := uint64(1); n <= until; n++ {
		Observe(b, s, sdk.Event{Kind: sdk.ResultReported, Trial: uint32(i), Iteration: n,
			Losses:  []float64{p[0]/float64(n) + 1/float64(until)},
			Seconds: float64(n) * (1 + p[1]), SecondsTold: told})
	}
	Observe(b, s, sdk.Event{Kind: sdk.TrialCompleted, Trial: uint32(i)})
}
