package course

import (
	"cmp"
	"slices"

	"github.com/tunehost/tunehost/core"
)

// Open are results on which the scheduler owes a decision. There are few at a time, in the order of their numbers, so
// that a list is faster than a map.
type Open struct {
	list []undecided // and decided ones, until there is no room for another
	n    int         // how many are undecided
}

// undecided is a result by its number.
type undecided struct {
	number, iteration uint64
	trial             core.TrialNo
	decided           bool
}

// Put adds a result, with a higher number than all before.
func (o *Open) Put(number uint64, trial core.TrialNo, iteration uint64) {
	if len(o.list) == cap(o.list) {
		o.tidy()
	}
	o.list = append(o.list, undecided{number: number, trial: trial, iteration: iteration})
	o.n++
}

// Take removes a result, and returns what it is; ok is false if it is not open.
func (o *Open) Take(number uint64) (trial core.TrialNo, iteration uint64, ok bool) {
	i, found := slices.BinarySearchFunc(o.list, number, func(x undecided, number uint64) int {
		return cmp.Compare(x.number, number)
	})
	if !found || o.list[i].decided {
		return 0, 0, false
	}
	x := o.list[i]
	o.decide(i)
	return x.trial, x.iteration, true
}

// Drop removes the results up to a number: those that are still open are of trials that have ended.
func (o *Open) Drop(through uint64) {
	for i := range o.list {
		if o.list[i].number <= through && !o.list[i].decided {
			o.decide(i)
		}
	}
}

// Len is how many results are open.
func (o *Open) Len() int { return o.n }

func (o *Open) decide(i int) {
	o.list[i].decided = true
	o.n--
}

// tidy makes room: for as many as are open, so that it is seldom called.
func (o *Open) tidy() {
	o.list = slices.DeleteFunc(o.list, func(x undecided) bool { return x.decided })
	o.list = slices.Grow(o.list, max(len(o.list), 8))
}
