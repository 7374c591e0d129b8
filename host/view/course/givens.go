package course

import (
	"cmp"
	"slices"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/history"
)

// Given is a trial that the searcher has not suggested: the experiment file has it, or, if Added, the user has added
// it. Clone says that it starts from the checkpoint of Donor.
type Given struct {
	Trial, Donor core.TrialNo
	Added, Clone bool
}

// mostGiven is how many given trials are kept: the last ones.
const mostGiven = 100_000

// Givens has the trials that the searcher has not suggested.
type Givens struct {
	trials int
	list   []Given
}

func (g *Givens) event(x *history.Step) {
	first := g.trials
	g.trials = x.Machine.Trials()
	e, ok := x.Event.(*core.TrialGiven)
	for no := first; ok && no < g.trials; no++ {
		one := Given{Trial: core.TrialNo(no), Added: e.Extra, Clone: e.Clone}
		if e.Clone {
			one.Donor = e.Donor
		}
		g.list = append(g.list, one)
	}
	if n := len(g.list) - mostGiven; n > mostGiven/10 {
		g.list = slices.Delete(g.list, 0, n)
	}
}

// Given returns the trials that the searcher has not suggested, in order.
func (g *Givens) Given() []Given { return slices.Clone(g.list) }

// GivenOf returns a trial that the searcher has not suggested.
func (g *Givens) GivenOf(no core.TrialNo) (Given, bool) {
	i, found := slices.BinarySearchFunc(g.list, no, func(x Given, no core.TrialNo) int {
		return cmp.Compare(x.Trial, no)
	})
	if !found {
		return Given{}, false
	}
	return g.list[i], true
}

func (g *Givens) bytes() int64 { return int64(cap(g.list)) * 12 }
