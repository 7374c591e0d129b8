package searchtest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// An ending is a way in which a point stays without a value.
type ending struct {
	name   string
	events func(trial int) []sdk.Event
}

var (
	fails = ending{"failed", func(trial int) []sdk.Event {
		return []sdk.Event{{Kind: sdk.TrialFailed, Trial: uint32(trial)}}
	}}
	diverges = ending{"infinite", func(trial int) []sdk.Event { return []sdk.Event{ended(trial, inf)} }}
	// A rule may end a trial before its first result.
	endsFirst = ending{"no result", func(trial int) []sdk.Event { return []sdk.Event{Completed(trial)} }}
	removed   = ending{"removed", func(trial int) []sdk.Event {
		return []sdk.Event{{Kind: sdk.TrialRemoved, Trial: uint32(trial)}}
	}}
	waits = ending{"pending", func(int) []sdk.Event { return nil }}
)

func ended(trial int, loss float64) sdk.Event {
	e := Completed(trial, loss)
	e.Iteration = 1
	return e
}

// ValuesMissing checks that the searcher looks everywhere while points stay without a value, in 1 and 5 dimensions:
// where none has one, where half of the range has none, and where only the tenth at its lower end has one.
func ValuesMissing(t *testing.T, p sdk.SearcherPlugin) {
	for _, dims := range []int{1, 5} {
		for _, other := range []ending{fails, diverges, endsFirst, removed, waits} {
			t.Run(fmt.Sprintf("all %s, %d dimensions", other.name, dims), func(t *testing.T) {
				allMissing(t, open1(t, p, Reals(dims, 0, 1), "{}"), dims, other)
			})
		}
		for _, other := range []ending{fails, diverges, endsFirst} {
			t.Run(fmt.Sprintf("most %s, %d dimensions", other.name, dims), func(t *testing.T) {
				if first, _ := someMissing(t, p, dims, 0.1, other); first > 25 {
					t.Errorf("the first value has trial %v on average; at random it is trial 9", first)
				}
			})
			t.Run(fmt.Sprintf("half %s, %d dimensions", other.name, dims), func(t *testing.T) {
				if _, late := someMissing(t, p, dims, 0.5, other); late < 0.6 {
					t.Errorf("of the later trials %.2f have a value", late)
				}
			})
		}
	}
}

// allMissing checks that every tenth of each range has a point.
func allMissing(t *testing.T, s sdk.Searcher, dims int, other ending) {
	const trials = 120
	tenths := make([][10]int, dims)
	for i := range trials {
		point := Suggest(t, s, Request(1, i)).Points[0]
		Observe(t, s, append([]sdk.Event{Added(i, point)}, other.events(i)...)...)
		for k, x := range point {
			tenths[k][int(min(9, 10*x))]++
		}
	}
	for k := range tenths {
		if least := slices.Min(tenths[k][:]); least < 3 {
			t.Errorf("parameter %d has in the tenths of its range %v of %d points", k, tenths[k], trials)
		}
	}
}

// someMissing runs a problem in which only trials below a value of the first parameter have a value. It returns the
// mean number of the first trial that has one, and how many of the second half have one.
func someMissing(t *testing.T, p sdk.SearcherPlugin, dims int, below float64, other ending) (first, late float64) {
	const runs, trials = 3, 60
	for run := range runs {
		found, s := trials, open1(t, p, Reals(dims, 0, 1), "{}")
		for i := range trials {
			point := Suggest(t, s, Request(run, i)).Points[0]
			Observe(t, s, Added(i, point))
			if point[0] > below {
				Observe(t, s, other.events(i)...)
				continue
			}
			Observe(t, s, ended(i, sum(point)))
			if found = min(found, i); i >= trials/2 {
				late += 1.0 / (runs * trials / 2)
			}
		}
		first += float64(found) / runs
	}
	return first, late
}

// sum returns the sum of a point's values.
func sum(p space.Point) (total float64) {
	for _, x := range p {
		total += x
	}
	return total
}
