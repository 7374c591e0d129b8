package view

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/view/importance"
)

// leastTrials is how many trials importance needs.
const leastTrials = 10

// Share is how much a parameter matters; all shares add up to 1.
type Share struct {
	Param      string `json:"param"`
	Importance Float  `json:"importance"`
}

// Importance returns how much each parameter of the space matters for the metric of a query, the most
// important first, and the number of trials that this is based on. top is the share of the trials that
// count as the best, in (0, 1).
func (e *Experiment) Importance(q Query, top float64) (shares []Share, trials int, err error) {
	if q.Scope == "" {
		q.Scope = Last
	}
	if !(top > 0 && top < 1) {
		return nil, 0, fmt.Errorf("--top is %g; it must be between 0 and 1, for example 0.1", top)
	}
	o, err := e.objective(q)
	if err != nil {
		return nil, 0, err
	}
	var list []importance.Trial
	all, err := e.candidates([]core.Objective{o}, q.Scope)
	if err != nil {
		return nil, 0, err
	}
	for _, c := range all {
		p, err := config.PointOf(e.Config.Space, c.params)
		if err != nil {
			return nil, 0, fmt.Errorf("trial %d: %w", c.no, err)
		}
		list = append(list, importance.Trial{Point: p, Loss: c.losses[0]})
	}
	if len(list) < leastTrials {
		return nil, len(list), nil
	}
	for i, x := range importance.Shares(e.Config.Space, list, top) {
		shares = append(shares, Share{e.Config.Space.Params[i].Name, Float(x)})
	}
	slices.SortStableFunc(shares, func(a, b Share) int { return cmp.Compare(b.Importance, a.Importance) })
	return shares, len(list), nil
}
