// Package evolvetest is a slow and simple second implementation of population based training, for
// the property tests of the schedulers that use package evolve.
package evolvetest

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// A World examines all trials at each event and checks the scheduler's answers. The donor within a
// trial's own best is random, so it only checks that the donor is possible; Explored does so for
// the parameters.
type World struct {
	Interval, BurnIn uint64
	Quantile         float64
	Periods          []uint64 // of the subpopulations; [1] without any
	Max              uint64   // 0: none
	Sync             bool
	Planned          int // trials, for Sync
	// Compared receives the state of a trial when it was compared; nil: unused.
	Compared func(Standing)
	// Explored checks the parameters of a trial that continues from one of its own subpopulation's
	// best, which are all passed.
	Explored func(donors []Standing, c sdk.Command) error

	// Local, Slower and Faster count the exploits by their source, and Meetings the meetings of all
	// trials.
	Local, Slower, Faster, Meetings int

	trials            map[uint32]*one
	barrier, furthest uint64
	longest           uint64 // highest iteration of a completed trial
}

// A Standing is the state of a trial when it was compared; for a donor, Iteration is that of its
// checkpoint.
type Standing struct {
	Trial     uint32
	Iteration uint64
	Loss      float64
	Point     space.Point
}

type one struct {
	number      uint32
	phase       string // "", clone, migrate, save, pausing, waiting, ended
	told        bool
	ranked      bool
	loss        float64
	next, saved uint64
	turn        uint64 // comparisons since it was judged
	point       space.Point
}

func (w *World) part(t *one) int { return int(t.number) % len(w.Periods) }

// ranking returns the members of the part, the best first.
func (w *World) ranking(part int) (all []*one) {
	for _, t := range w.trials {
		if w.part(t) == part && t.ranked && t.phase != "ended" {
			all = append(all, t)
		}
	}
	slices.SortFunc(all, byLoss)
	return all
}

func byLoss(a, b *one) int {
	return cmp.Or(cmp.Compare(a.loss, b.loss), cmp.Compare(a.number, b.number))
}

// brackets returns the part's best trials, those that stay, those open to migrants and the worst.
func (w *World) brackets(part int) (best, stay, open, worst []*one) {
	all, k := w.ranking(part), 0
	for float64(k)+1e-9 < float64(len(all))*w.Quantile {
		k++
	}
	k = min(k, len(all)/2)
	for i, t := range all {
		switch {
		case i >= len(all)-k || math.IsInf(t.loss, 1):
			worst = append(worst, t)
		case i < k:
			best = append(best, t)
		case i >= len(all)-2*k:
			open = append(open, t)
		default:
			stay = append(stay, t)
		}
	}
	return best, stay, open, worst
}

func (w *World) givers(part int) (all []*one) {
	best, _, _, _ := w.brackets(part)
	for _, t := range best {
		if t.saved > 0 && t.saved != w.longest && (w.Max == 0 || t.saved < w.Max) {
			all = append(all, t)
		}
	}
	return all
}

// sources returns the trials from which this one may continue at this moment: its own best, its one
// migrant, or any.
func (w *World) sources(t *one) []*one {
	_, _, open, worst := w.brackets(w.part(t))
	own := w.givers(w.part(t))
	if slices.Contains(worst, t) && len(own) > 0 {
		return own
	}
	var migrants []*one
	for part := range w.Periods {
		if part != w.part(t) {
			migrants = append(migrants, w.givers(part)...)
		}
	}
	slices.SortFunc(migrants, byLoss)
	if slices.Contains(worst, t) {
		return slices.DeleteFunc(migrants, func(m *one) bool { return m.loss >= t.loss })
	}
	for _, o := range open {
		if len(migrants) == 0 || migrants[0].loss >= o.loss {
			continue
		}
		if o == t {
			return migrants[:1]
		}
		migrants = migrants[1:]
	}
	return nil
}

// Check processes one event and the scheduler's answer.
func (w *World) Check(e sdk.Event, got sdk.Decisions) error {
	t := w.trial(e.Trial)
	if want := w.verdict(e, t); !slices.Equal(want, bare(got.Decisions)) {
		return fmt.Errorf("decided %+v, want %+v", got.Decisions, want)
	}
	switch e.Kind {
	case sdk.TrialAdded:
		t.point = e.Point
	case sdk.CheckpointSaved:
		t.saved = e.Iteration
	case sdk.TrialCompleted, sdk.TrialFailed:
		if e.Kind == sdk.TrialCompleted && e.Iteration > w.longest {
			w.longest = e.Iteration
		}
		t.phase = "ended"
	case sdk.TrialPaused:
		if !w.Sync {
			return w.paused(t, got.Commands)
		}
		t.phase = "waiting"
	}
	if w.Sync && w.complete() {
		return w.checkContinue(got.Commands)
	}
	if len(got.Commands) > 0 {
		return fmt.Errorf("commands %+v", got.Commands)
	}
	return nil
}

func (w *World) trial(number uint32) *one {
	first := max(w.Interval, w.BurnIn)
	if w.trials == nil {
		w.trials, w.barrier = map[uint32]*one{}, first
	}
	if w.trials[number] == nil {
		w.trials[number] = &one{number: number, next: first}
	}
	return w.trials[number]
}

func bare(all []sdk.Decision) []sdk.Decision {
	all = slices.Clone(all)
	for i := range all {
		all[i].Reason = ""
	}
	return all
}

func (w *World) verdict(e sdk.Event, t *one) []sdk.Decision {
	if e.Kind != sdk.ResultReported || t.phase != "" {
		return nil
	}
	d, due := sdk.Decision{Event: e.Number}, t.next
	if w.Sync {
		due = w.barrier
	}
	switch {
	case w.Max > 0 && e.Iteration >= w.Max:
		d.Verdict, t.phase = sdk.Stop, "ended"
		return []sdk.Decision{d}
	case e.Iteration >= due:
		t.ranked, t.loss, t.next = true, e.Losses[0], e.Iteration+w.Interval
		w.furthest = max(w.furthest, e.Iteration)
		if w.Compared != nil {
			w.Compared(Standing{t.number, e.Iteration, t.loss, t.point})
		}
		due, t.phase = t.next, w.judge(e, t)
	case t.told:
		return nil
	}
	if t.told = t.phase == ""; !t.told {
		d.Verdict = sdk.Pause
		return []sdk.Decision{d}
	}
	if d.Until = due; w.Max > 0 {
		d.Until = min(due, w.Max)
	}
	return []sdk.Decision{d}
}

func (w *World) judge(e sdk.Event, t *one) string {
	if w.Sync {
		return "pausing"
	}
	t.turn++
	best, _, _, worst := w.brackets(w.part(t))
	if t.turn >= w.Periods[w.part(t)] || math.IsInf(t.loss, 1) {
		t.turn = 0
		switch sources := w.sources(t); {
		case len(sources) > 0 && slices.Contains(worst, t) && w.part(sources[0]) == w.part(t):
			return "clone"
		case len(sources) > 0:
			return "migrate"
		}
	}
	if slices.Contains(best, t) && (t.saved == 0 || e.Iteration > t.saved+w.Interval) {
		return "save"
	}
	return ""
}

// paused checks that a trial never waits.
func (w *World) paused(t *one, got []sdk.Command) error {
	if len(got) != 1 || got[0].Trial != t.number || got[0].Reason == "" {
		return fmt.Errorf("commands to the paused trial %d: %+v", t.number, got)
	}
	var sources []*one
	switch t.phase {
	case "clone": // though it may no longer be among the worst
		for _, s := range w.givers(w.part(t)) {
			if s != t {
				sources = append(sources, s)
			}
		}
	case "migrate": // unless a place of its own part has become free
		if sources = w.sources(t); len(sources) > 0 && w.part(sources[0]) == w.part(t) {
			sources = nil
		}
	}
	if err := w.goesOn(t, sources, got[0]); err != nil {
		return err
	}
	w.gone(t, got[0])
	return nil
}

func (w *World) goesOn(t *one, sources []*one, c sdk.Command) error {
	if c.Trial != t.number || c.Reason == "" {
		return fmt.Errorf("%+v, want trial %d and a reason", c, t.number)
	}
	if len(sources) == 0 {
		if c.Kind != sdk.Resume {
			return fmt.Errorf("%+v, want it resumed", c)
		}
		return nil
	}
	i := slices.IndexFunc(sources, func(s *one) bool { return s.number == c.Donor })
	if c.Kind != sdk.Exploit || i < 0 || sources[i].saved != c.Iteration {
		return fmt.Errorf("%+v, want one of %d sources", c, len(sources))
	}
	if w.part(sources[i]) == w.part(t) {
		w.Local++
		return w.Explored(standings(sources), c)
	}
	return w.migrates(t, sources[i], c.Point)
}

func standings(all []*one) (s []Standing) {
	for _, t := range all {
		s = append(s, Standing{t.number, t.saved, t.loss, t.point})
	}
	return s
}

// migrates checks the parameters with which the trial continues from another subpopulation.
func (w *World) migrates(t, source *one, got space.Point) error {
	best := w.ranking(w.part(t))[0]
	switch {
	case w.part(source) > w.part(t):
		w.Slower++
		return same(got, source.point)
	case math.IsInf(best.loss, 1):
		return same(got, source.point)
	}
	w.Faster++
	return same(got, best.point)
}

func same(a, b space.Point) error {
	if fmt.Sprint(a) != fmt.Sprint(b) { // as text, because of NaN
		return fmt.Errorf("goes on with %v, want %v", a, b)
	}
	return nil
}

// Changed checks a point without resampling: numbers and ordinals that always exist have moved, if they could in both
// directions, and choices have not.
func Changed(s *space.Space, donors []Standing, c sdk.Command) error {
	if err := s.Check(c.Point); err != nil {
		return err
	}
	from := donors[slices.IndexFunc(donors, func(d Standing) bool { return d.Trial == c.Donor })].Point
	for i, p := range s.Params {
		if p.When == nil && !mayStay(&p, from[i]) && (from[i] == c.Point[i]) != (p.Kind == space.Choice) {
			return fmt.Errorf("%s is %v after %v", p.Name, c.Point[i], from[i])
		}
	}
	return nil
}

// mayStay reports whether a value with steps is at a bound.
func mayStay(p *space.Param, v float64) bool {
	switch {
	case p.Kind == space.Ordinal:
		return v == 0 || int(v) == len(p.Choices)-1
	case p.Kind == space.Int || p.Step > 0:
		return v == p.Low || v == p.High
	}
	return false
}

func (w *World) gone(t *one, c sdk.Command) {
	if t.phase = ""; c.Kind == sdk.Exploit {
		t.point, t.next, t.saved, t.turn = c.Point, c.Iteration+w.Interval, 0, 0
		t.told, t.ranked = false, len(w.Periods) > 1 && t.ranked
	}
}

// complete reports whether all live trials wait and no others will come.
func (w *World) complete() bool {
	waiting := 0
	for _, t := range w.trials {
		switch t.phase {
		case "waiting":
			waiting++
		case "ended":
		default:
			return false
		}
	}
	return waiting > 0 && len(w.trials) >= w.Planned
}

// checkContinue checks that each trial is told to continue, part by part, in the order of their ranks.
func (w *World) checkContinue(got []sdk.Command) error {
	var all []*one
	for part := range w.Periods {
		all = append(all, w.ranking(part)...)
	}
	if len(got) != len(all) {
		return fmt.Errorf("%d commands for %d trials", len(got), len(all))
	}
	w.Meetings++
	for i, t := range all {
		var sources []*one
		if uint64(w.Meetings)%w.Periods[w.part(t)] == 0 || math.IsInf(t.loss, 1) {
			sources = w.sources(t)
		}
		if err := w.goesOn(t, sources, got[i]); err != nil {
			return err
		}
	}
	for i, t := range all {
		w.gone(t, got[i])
		t.told = false
	}
	w.barrier = max(w.barrier, w.furthest) + w.Interval
	return nil
}
