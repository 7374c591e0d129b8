package view

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/config/expr"
)

// Chosen says which trials are wanted, in which order. The zero value is all of them, by number.
type Chosen struct {
	// Where is an expression over parameters, the last metrics and [config.TrialVars].
	Where string
	// States are the states of the wanted trials; none: any.
	States []core.State
	// Sort is an objective, one of [SortKeys], a parameter or another metric, the first of them that has the name. An
	// objective sorts from the best to the worst, all else from the least to the largest; a "-" before it reverses
	// the order. Trials without a value come last. NaN is the worst value of an objective, and comes after all other
	// values elsewhere.
	Sort string
	// Offset is how many of them are skipped at the beginning, Limit how many are returned at most; 0: no
	// limit.
	Offset, Limit int
}

// Page is a choice of trials, to be read in pieces.
type Page struct {
	// Total is how many trials there are, Fitting how many are wanted without Offset and Limit.
	Total, Fitting int
	// Numbers are the trials of the page, in order.
	Numbers []core.TrialNo

	of *Experiment
}

// pieceTrials is how many trials are examined while a host waits, for about a millisecond.
const pieceTrials = 256

// pieces calls f for all trials, a piece of them at a time.
func (e *Experiment) pieces(f func(s *State, from, to core.TrialNo)) error {
	return e.eachPiece(f, func() error { return nil })
}

// Choose finds the wanted trials. It keeps only the sort key of each.
func (e *Experiment) Choose(c Chosen) (*Page, error) {
	w, err := e.wanted(&c)
	if err != nil {
		return nil, err
	}
	if c.Where == "" && c.Sort == "" && len(c.States) == 0 {
		return e.byNumber(c)
	}
	var piece []Trial
	p := &Page{of: e}
	err = e.eachPiece(func(s *State, from, to core.TrialNo) {
		piece, p.Total = piece[:0], s.Machine.Trials()
		for no := from; no < to; no++ {
			piece = append(piece, s.Brief(no))
		}
	}, func() error { return w.take(piece) })
	if err != nil {
		return nil, err
	}
	if c.Sort != "" {
		slices.SortStableFunc(w.keys, w.order.compare)
	}
	p.Fitting = len(w.keys)
	for _, k := range cut(w.keys, c.Offset, c.Limit) {
		p.Numbers = append(p.Numbers, k.no)
	}
	return p, nil
}

// byNumber is Choose for all trials, which looks at none of them.
func (e *Experiment) byNumber(c Chosen) (*Page, error) {
	p := &Page{of: e}
	err := e.source.Look(func(s *State) { p.Total = s.Machine.Trials() })
	from := min(max(c.Offset, 0), p.Total)
	to := p.Total
	if c.Limit > 0 {
		to = min(to, from+c.Limit)
	}
	for no := from; no < to; no++ {
		p.Numbers = append(p.Numbers, core.TrialNo(no))
	}
	p.Fitting = p.Total
	return p, err
}

// Part returns a part of a page, as Offset and Limit of [Chosen] do.
func (p *Page) Part(offset, limit int) *Page {
	return &Page{Total: p.Total, Fitting: p.Fitting, Numbers: cut(p.Numbers, offset, limit), of: p.of}
}

// eachPiece is pieces with a second function after each piece, during which no host waits.
func (e *Experiment) eachPiece(look func(s *State, from, to core.TrialNo), then func() error) error {
	for next, more := core.TrialNo(0), true; more; {
		err := e.source.Look(func(s *State) {
			n := core.TrialNo(s.Machine.Trials())
			to := min(next+pieceTrials, n)
			look(s, next, to)
			next, more = to, to < n
		})
		if err == nil {
			err = then()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func cut[T any](list []T, offset, limit int) []T {
	list = list[min(max(offset, 0), len(list)):]
	if limit > 0 {
		list = list[:min(limit, len(list))]
	}
	return list
}

// Each makes the trials of the page, one after the other.
func (p *Page) Each(f func(*Trial) error) error {
	for rest := p.Numbers; len(rest) > 0; {
		piece := rest[:min(pieceTrials, len(rest))]
		rest = rest[len(piece):]
		trials := make([]Trial, 0, len(piece))
		err := p.of.source.Look(func(s *State) {
			for _, no := range piece {
				trials = append(trials, s.Trial(no))
			}
		})
		for i := range trials {
			if err == nil {
				err = f(&trials[i])
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Trials returns the trials of the page.
func (p *Page) Trials() (list []Trial, err error) {
	list = make([]Trial, 0, len(p.Numbers))
	return list, p.Each(func(t *Trial) error { list = append(list, *t); return nil })
}

// Trials returns the wanted trials, all at once.
func (e *Experiment) Trials(c Chosen) ([]Trial, error) {
	p, err := e.Choose(c)
	if err != nil {
		return nil, err
	}
	return p.Trials()
}

// wanted selects trials and remembers their keys.
type wanted struct {
	facts  *Facts
	states []core.State
	where  *expr.Program // nil: any
	params bool          // where has parameters
	keyOf  func(*Trial) key
	order  order
	keys   []key
}

func (e *Experiment) wanted(c *Chosen) (w *wanted, err error) {
	w = &wanted{facts: e.Facts, states: c.States, keyOf: func(*Trial) key { return key{} }}
	failed := e.source.Look(func(s *State) {
		if c.Where != "" {
			w.where, err = s.where(c.Where)
			w.params = w.where != nil && (len(w.where.Uses()) > 0 || strings.Contains(c.Where, "params"))
		}
		if err == nil && c.Sort != "" {
			err = s.sorting(w, c.Sort)
		}
	})
	return w, errors.Join(failed, err)
}

func (w *wanted) take(list []Trial) error {
	for i := range list {
		t := &list[i]
		fits, err := w.fits(t)
		if err != nil {
			return err
		}
		if fits {
			k := w.keyOf(t)
			k.no = t.Number
			w.keys = append(w.keys, k)
		}
	}
	return nil
}

func (w *wanted) fits(t *Trial) (bool, error) {
	if len(w.states) > 0 && !slices.Contains(w.states, t.State) {
		return false, nil
	}
	if w.where == nil {
		return true, nil
	}
	ok, err := w.where.Bool(w.facts.values(t, w.params))
	if err != nil && !errors.Is(err, expr.ErrUnknownValue) {
		return false, fmt.Errorf("--where: %w", err)
	}
	return ok, nil
}
