package view

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/view/importance"
)

// leastTrials is how many trials importance needs, and eachTrials how many for each parameter: of many parameters some
// differ among few trials by chance.
const leastTrials, eachTrials = 10, 2

// NeededForImportance is how many trials with a finite value importance needs.
func (e *Experiment) NeededForImportance() int {
	return max(leastTrials, eachTrials*len(e.Config.Space.Params))
}

// Share is how much a parameter matters; all shares add up to 1.
type Share struct {
	Param      string `json:"param"`
	Importance Float  `json:"importance"`
	// Without is how many of the trials do not have the parameter.
	Without int `json:"without,omitempty"`
}

// Importance returns how much each parameter of the space matters for the metric of a query, the most
// important first, and the number of trials that this is based on, of suggestions if they have several runs. There are
// none if fewer than [Experiment.NeededForImportance] have a value. top is the share of the trials that
// count as the best, in (0, 1).
func (e *Experiment) Importance(q Query, top float64) (shares []Share, trials int, err error) {
	if q.Scope == "" {
		q.Scope = Last
	}
	if !(top > 0 && top < 1) {
		return nil, 0, fmt.Errorf("--top is %s; it must be between 0 and 1, for example 0.1", digits(top))
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
	if len(list) < e.NeededForImportance() {
		return nil, len(list), nil
	}
	for i, x := range importance.Shares(e.Config.Space, list, top) {
		shares = append(shares, Share{e.Config.Space.Params[i].Name, Float(x), lacking(list, i)})
	}
	slices.SortStableFunc(shares, func(a, b Share) int { return cmp.Compare(b.Importance, a.Importance) })
	return shares, len(list), nil
}

// lacking returns how many trials do not have a parameter.
func lacking(list []importance.Trial, param int) (n int) {
	for _, t := range list {
		if math.IsNaN(t.Point[param]) {
			n++
		}
	}
	return n
}

// fewBest is how many best trials are too few for shares that a few more trials would not change much.
const fewBest = 10

// Cautions say why the shares of the same query are to be taken with caution, a line each.
func (e *Experiment) Cautions(q Query, top float64, shares []Share) (list []string, err error) {
	o, err := e.objective(q.settled())
	if err != nil {
		return nil, err
	}
	all, err := e.candidates([]core.Objective{o}, q.settled().Scope)
	if err != nil {
		return nil, err
	}
	if best := importance.Best(len(all), top); best < fewBest {
		list = append(list, fmt.Sprintf("only %d of %s count as the best: a few more can change the shares",
			best, e.Compared(len(all))))
	}
	stopped := 0
	err = e.source.Look(func(s *State) {
		for _, c := range all {
			if first, runs := s.Machine.Runs(c.no); earlyOf(s.Machine, first, runs) > 0 {
				stopped++
			}
		}
	})
	if 2*stopped > len(all) {
		list = append(list, fmt.Sprintf("%d of %d values are of trials that were stopped early", stopped, len(all)))
	}
	for _, x := range shares {
		if x.Without > 0 {
			list = append(list, fmt.Sprintf("%d of %s do not have %s, which is judged among the others",
				x.Without, e.Compared(len(all)), x.Param))
		}
	}
	return list, err
}

// digits tells a number back in the form in which people write it: 100000000, not 1e+08.
func digits(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
