package tpe

import (
	"context"
	"fmt"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
	. "github.com/tunehost/tunehost/plugins/searchers/internal/searchtest"
)

// record returns the events of n trials at random points; the loss is the distance from a corner.
func record(s *space.Space, n int) (events []sdk.Event) {
	rng := space.NewRand(7)
	for i := range n {
		p, err := s.Sample(rng)
		if err != nil {
			panic(err)
		}
		loss := 0.0
		for k := range p {
			loss += s.ToUnit(k, p[k])
		}
		events = append(events,
			sdk.Event{Kind: sdk.TrialAdded, Trial: uint32(i), Point: p},
			sdk.Event{Kind: sdk.TrialStarted, Trial: uint32(i), Attempt: 1},
			sdk.Event{Kind: sdk.TrialCompleted, Trial: uint32(i), Losses: []float64{loss}})
	}
	for i := range events {
		events[i].Number = uint64(i + 1)
	}
	return events
}

func BenchmarkSuggest(b *testing.B) {
	for _, c := range []struct{ trials, params int }{{100, 10}, {1000, 10}, {1000, 40}, {100_000, 40}, {1000, 500}} {
		b.Run(fmt.Sprintf("trials=%d/params=%d", c.trials, c.params), func(b *testing.B) {
			space := Mixed(c.params)
			s := mustOpen(b, space, "{}")
			Observe(b, s, record(space, c.trials)...)
			for i := 0; b.Loop(); i++ {
				_, err := s.Suggest(context.Background(), []sdk.Request{{Trial: uint32(c.trials), Seed: uint64(i)}})
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRestore measures the restore of 100,000 trials.
func BenchmarkRestore(b *testing.B) {
	space := Mixed(40)
	events := record(space, 100_000)
	for b.Loop() {
		Observe(b, mustOpen(b, space, "{}"), events...)
	}
}

// BenchmarkObjectives measures several objectives with their fronts.
func BenchmarkObjectives(b *testing.B) {
	for _, n := range []int{2, 3, 4, 6} {
		space := Mixed(10)
		events := record(space, 10_000)
		for i := range events {
			if len(events[i].Losses) > 0 {
				events[i].Losses = events[i-2].Point[:n]
			}
		}
		s := mustOpenN(b, space, "{}", n)
		b.Run(fmt.Sprint("restore/", n), func(b *testing.B) {
			for b.Loop() {
				Observe(b, mustOpenN(b, space, "{}", n), events...)
			}
		})
		Observe(b, s, events...)
		b.Run(fmt.Sprint("suggest/", n), func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				Suggest(b, s, Request(i, 10_000))
			}
		})
	}
}
