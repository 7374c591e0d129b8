package mfpbt

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tunehost/tunehost/plugins/schedulers/schedtest"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// world is mf-pbt a second time, slowly: it looks through all trials at each event and
// checks what the scheduler answers. Which of its own best a trial goes on from, and how
// the parameters are changed then, it only checks to be possible: these are drawn.
type world struct {
	interval uint64
	quantile float64
	periods  []uint64
	most     uint64 // max; 0: none
	trials   map[uint32]*one

	// For sync.
	sync              bool
	planned           int
	barrier, furthest uint64
	meetings          uint64

	local, slower, faster int // how often trials went on from which
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

func (w *world) part(t *one) int { return int(t.number) % len(w.periods) }

// ranking are those of the part that take part, the best first.
func (w *world) ranking(part int) (all []*one) {
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

// brackets are the part's best, those that stay, those open to migrants and the worst.
func (w *world) brackets(part int) (best, stay, open, worst []*one) {
	all, k := w.ranking(part), 0
	for float64(k)+1e-9 < float64(len(all))*w.quantile {
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

func (w *world) givers(part int) (all []*one) {
	best, _, _, _ := w.brackets(part)
	for _, t := range best {
		if t.saved > 0 {
			all = append(all, t)
		}
	}
	return all
}

// sources are the trials that this one may go on from, at this moment: its own best, the
// one migrant that is its, or any.
func (w *world) sources(t *one) []*one {
	_, _, open, worst := w.brackets(w.part(t))
	own := w.givers(w.part(t))
	if slices.Contains(worst, t) && len(own) > 0 {
		return own
	}
	var migrants []*one
	for part := range w.periods {
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

// check is told one event and what the scheduler answered.
func (w *world) check(e sdk.Event, got sdk.Decisions) error {
	t := w.trials[e.Trial]
	if t == nil {
		t = &one{number: e.Trial, next: w.interval}
		w.trials[e.Trial] = t
	}
	if want := w.verdict(e, t); !slices.Equal(want, bare(got.Decisions)) {
		return fmt.Errorf("decided %+v, want %+v", got.Decisions, want)
	}
	switch e.Kind {
	case sdk.TrialAdded:
		t.point = e.Point
	case sdk.CheckpointSaved:
		t.saved = e.Iteration
	case sdk.TrialCompleted, sdk.TrialFailed:
		t.phase = "ended"
	case sdk.TrialPaused:
		if !w.sync {
			return w.paused(t, got.Commands)
		}
		t.phase = "waiting"
	}
	if w.sync && w.complete() {
		return w.meet(got.Commands)
	}
	if len(got.Commands) > 0 {
		return fmt.Errorf("commands %+v", got.Commands)
	}
	return nil
}

func bare(all []sdk.Decision) []sdk.Decision {
	all = slices.Clone(all)
	for i := range all {
		all[i].Reason = ""
	}
	return all
}

func (w *world) verdict(e sdk.Event, t *one) []sdk.Decision {
	if e.Kind != sdk.ResultReported || t.phase != "" {
		return nil
	}
	d, due := sdk.Decision{Event: e.Number}, t.next
	if w.sync {
		due = w.barrier
	}
	switch {
	case w.most > 0 && e.Iteration >= w.most:
		d.Verdict, t.phase = sdk.Stop, "ended"
		return []sdk.Decision{d}
	case e.Iteration >= due:
		t.ranked, t.loss, t.next = true, e.Losses[0], e.Iteration+w.interval
		w.furthest = max(w.furthest, e.Iteration)
		due, t.phase = t.next, w.judge(e, t)
	case t.told:
		return nil
	}
	if t.told = t.phase == ""; !t.told {
		d.Verdict = sdk.Pause
		return []sdk.Decision{d}
	}
	if d.Until = due; w.most > 0 {
		d.Until = min(due, w.most)
	}
	return []sdk.Decision{d}
}

func (w *world) judge(e sdk.Event, t *one) string {
	if w.sync {
		return "pausing"
	}
	t.turn++
	best, _, _, worst := w.brackets(w.part(t))
	if t.turn >= w.periods[w.part(t)] || math.IsInf(t.loss, 1) {
		t.turn = 0
		switch sources := w.sources(t); {
		case len(sources) > 0 && slices.Contains(worst, t) && w.part(sources[0]) == w.part(t):
			return "clone"
		case len(sources) > 0:
			return "migrate"
		}
	}
	if slices.Contains(best, t) && (t.saved == 0 || e.Iteration > t.saved+w.interval) {
		return "save"
	}
	return ""
}

// paused: a trial never waits, neither for another's checkpoint nor for anything else.
func (w *world) paused(t *one, got []sdk.Command) error {
	if len(got) != 1 || got[0].Trial != t.number || got[0].Reason == "" {
		return fmt.Errorf("commands to the paused trial %d: %+v", t.number, got)
	}
	var sources []*one
	switch t.phase {
	case "clone": // though it may not be among the worst any more
		for _, s := range w.givers(w.part(t)) {
			if s != t {
				sources = append(sources, s)
			}
		}
	case "migrate": // unless a place of its own part has come free
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

func (w *world) goesOn(t *one, sources []*one, c sdk.Command) error {
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
	return w.inherits(t, sources[i], c.Point)
}

// inherits checks the parameters with which the trial goes on.
func (w *world) inherits(t, source *one, got space.Point) error {
	best := w.ranking(w.part(t))[0]
	switch {
	case w.part(source) == w.part(t):
		w.local++
		return changed(source.point, got)
	case w.part(source) > w.part(t):
		w.slower++
		return same(got, source.point)
	case math.IsInf(best.loss, 1):
		return same(got, source.point)
	}
	w.faster++
	return same(got, best.point)
}

func same(a, b space.Point) error {
	if fmt.Sprint(a) != fmt.Sprint(b) { // as text, because of NaN
		return fmt.Errorf("goes on with %v, want %v", a, b)
	}
	return nil
}

// changed checks a point that nothing was resampled in: numbers and ordinals have
// moved, and choices have not.
func changed(from, to space.Point) error {
	if err := schedtest.Mixed.Check(to); err != nil {
		return err
	}
	for i, p := range schedtest.Mixed.Params {
		if p.When == nil && (from[i] == to[i]) != (p.Kind == space.Choice) {
			return fmt.Errorf("%s is %v after %v", p.Name, to[i], from[i])
		}
	}
	return nil
}

func (w *world) gone(t *one, c sdk.Command) {
	if t.phase = ""; c.Kind == sdk.Exploit {
		t.point, t.next, t.saved, t.turn = c.Point, c.Iteration+w.interval, 0, 0
		t.told, t.ranked = false, len(w.periods) > 1 && t.ranked
	}
}

// complete: all that live wait, and no others will come.
func (w *world) complete() bool {
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
	return waiting > 0 && len(w.trials) >= w.planned
}

// meet checks that each is told to go on, part after part, in the order of their ranks.
func (w *world) meet(got []sdk.Command) error {
	var all []*one
	for part := range w.periods {
		all = append(all, w.ranking(part)...)
	}
	if len(got) != len(all) {
		return fmt.Errorf("%d commands for %d trials", len(got), len(all))
	}
	w.meetings++
	for i, t := range all {
		var sources []*one
		if w.meetings%w.periods[w.part(t)] == 0 || math.IsInf(t.loss, 1) {
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
	w.barrier = max(w.barrier, w.furthest) + w.interval
	return nil
}

func drawWorld(t *rapid.T) *world {
	w := &world{
		interval: rapid.Uint64Range(1, 3).Draw(t, "interval"),
		quantile: rapid.SampledFrom([]float64{0.1, 0.25, 0.3, 0.3, 0.5}).Draw(t, "quantile"),
		periods:  rapid.SampledFrom([][]uint64{{1}, {1, 2}, {1, 3}, {2, 3}, {1, 2}, {1, 2, 4}}).Draw(t, "periods"),
		most:     rapid.SampledFrom([]uint64{0, 0, 12, 30}).Draw(t, "max"),
		sync:     rapid.Bool().Draw(t, "sync"),
		trials:   map[uint32]*one{},
	}
	w.barrier = w.interval
	return w
}

func TestAgainstLookingThroughAll(t *testing.T) {
	var sum [2]world // without sync, with it
	rapid.Check(t, func(t *rapid.T) {
		sim, w := drawSim(t), drawWorld(t)
		sim.Trials = max(sim.Trials, 8)
		sim.Workers, w.planned = rapid.IntRange(2, sim.Trials).Draw(t, "workers"), sim.Trials
		options := fmt.Sprintf(`{"interval": %d, "quantile": %v, "periods": %s, "max": %d, "sync": %v, "resample": 0}`,
			w.interval, w.quantile, list(w.periods), w.most, w.sync)
		if _, err := sim.Run(schedtest.Checked(opened(t, sim.Trials, options), w.check)); err != nil {
			t.Fatal(err)
		}
		s := &sum[0]
		if w.sync {
			s = &sum[1]
		}
		s.local, s.slower, s.faster = s.local+w.local, s.slower+w.slower, s.faster+w.faster
	})
	for i, s := range sum {
		t.Logf("sync %v: %d went on from their own, %d from slower, %d from faster ones", i == 1, s.local, s.slower, s.faster)
		if s.local == 0 || s.slower+s.faster == 0 {
			t.Error("some of these must happen")
		}
	}
	if sum[0].slower+sum[1].slower == 0 || sum[0].faster+sum[1].faster == 0 {
		t.Error("both must happen")
	}
}

func list(periods []uint64) string {
	text := ""
	for _, p := range periods {
		text += fmt.Sprintf(", %d", p)
	}
	return "[" + text[2:] + "]"
}
