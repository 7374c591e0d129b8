package auto

import (
	"math"
	"slices"

	"github.com/tunehost/tunehost/plugins/sdk/space"
	"github.com/tunehost/tunehost/plugins/searchers/internal/conditions"
	"github.com/tunehost/tunehost/plugins/searchers/internal/outcomes"
)

// patience is how many trials in a row may end without a better loss before branches are compared.
const patience = 10

// branches has what is known of each branch of a space with conditions. A branch is a value of a
// choice that other parameters depend on.
type branches struct {
	space *space.Space
	// choices are in the order of the parameters, so a choice comes after those it depends on.
	choices []choice
	// roots are the choices that always exist, as indices of choices.
	roots []int
	best  float64
	// ended is the number of trials, since those of them after the last better one.
	ended, since int
}

// A choice is a parameter that others depend on.
type choice struct {
	param int
	// below are the parameters that depend on it.
	below  []int
	values []branch
}

type branch struct {
	trials int
	best   float64
	// params is the largest number of parameters that a trial had because of this branch.
	params int
}

// newBranches returns nil if no choice divides the space.
func newBranches(s *space.Space) *branches {
	b, divided := &branches{space: s, best: math.Inf(1)}, false
	for i := range s.Params {
		p := &s.Params[i]
		below := dependents(s, i)
		if len(below) == 0 || len(p.Choices) < 2 || p.Grid {
			continue
		}
		if p.When == nil {
			divided = divided || divides(s, i, below)
			b.roots = append(b.roots, len(b.choices))
		}
		untried := branch{best: math.Inf(-1)}
		b.choices = append(b.choices, choice{i, below, slices.Repeat([]branch{untried}, len(p.Choices))})
	}
	if !divided {
		return nil
	}
	return b
}

// divides reports whether choice i has two values, each with a parameter that the other lacks. A choice among
// models is like that. A value that has all parameters of another value and some more is not a branch of its own.
func divides(s *space.Space, i int, below []int) bool {
	var sets [][]bool
	for v := range s.Params[i].Choices {
		set := exist(s, i, float64(v), below)
		for _, other := range sets {
			if exceeds(set, other) && exceeds(other, set) {
				return true
			}
		}
		sets = append(sets, set)
	}
	return false
}

// exist tells which parameters may exist if parameter i has a value. Others may decide, too.
func exist(s *space.Space, i int, value float64, list []int) []bool {
	const draws = 16
	rng, may := space.NewRand(0), make([]bool, len(list))
	for range draws {
		p := s.Draw(rng)
		p[i] = value
		p = s.Complete(p)
		for k, j := range list {
			may[k] = may[k] || !math.IsNaN(p[j])
		}
	}
	return may
}

// exceeds reports whether a has an element that b lacks.
func exceeds(a, b []bool) bool {
	for k := range a {
		if a[k] && !b[k] {
			return true
		}
	}
	return false
}

// dependents returns the parameters whose conditions refer to parameter i.
func dependents(s *space.Space, i int) (list []int) {
	for k := range s.Params {
		if slices.Contains(conditions.References(s.Params[k].When, nil), i) {
			list = append(list, k)
		}
	}
	return list
}

// add adds a trial that has ended. One that had failed, and ran again, is one trial.
func (b *branches) add(o *outcomes.Outcome) {
	loss := o.Losses[0]
	if !o.Again {
		b.ended++
	}
	b.since++
	if loss < b.best {
		b.best, b.since = loss, 0
	}
	for k := range b.choices {
		c := &b.choices[k]
		if x := o.Point[c.param]; !math.IsNaN(x) {
			c.add(&c.values[int(x)], o)
		}
	}
}

func (c *choice) add(v *branch, o *outcomes.Outcome) {
	params := 0
	for _, i := range c.below {
		if !math.IsNaN(o.Point[i]) {
			params++
		}
	}
	v.params = max(v.params, params)
	if !o.Again {
		v.trials++
	}
	if v.trials == 1 || o.Losses[0] < v.best {
		v.best = o.Losses[0]
	}
}

// turn reports whether a trial is for a branch: while nothing better is found, two of four are.
func (b *branches) turn(trial uint32) bool {
	return b != nil && b.ended >= firstMix && b.since >= patience && (trial%4 == 1 || trial%4 == 2)
}

// given adds a branch to the given coordinates, and branches below it.
func (b *branches) given(trial uint32, given space.Point) space.Point {
	p := slices.Repeat(space.Point{math.NaN()}, len(b.space.Params))
	copy(p, given)
	root := b.roots[int(trial/4*2+trial%4/2)%len(b.roots)]
	for k := root; k < len(b.choices); k++ {
		c := &b.choices[k]
		exists := k == root || b.space.Params[c.param].When != nil && b.space.Active(p, c.param)
		if exists && math.IsNaN(p[c.param]) {
			p[c.param] = float64(c.pick())
		}
	}
	return p
}

// pick returns the value that lacks most trials. If two values have the same number of parameters, the one whose
// best loss has place k should have a k-th of the trials of the best one. A value that was never tried comes first.
func (c *choice) pick() (value int) {
	var order []float64
	for _, v := range c.values {
		order = append(order, v.best)
	}
	slices.Sort(order)
	least := math.Inf(1)
	for k, v := range c.values {
		better, _ := slices.BinarySearch(order, v.best)
		if score := float64(v.trials) * float64(better+1) / float64(v.params+1); score < least {
			value, least = k, score
		}
	}
	return value
}
