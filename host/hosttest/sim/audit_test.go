package sim

import (
	"fmt"
	"math"
	"slices"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/coretest"
	"github.com/tunehost/tunehost/core/history"
	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/core/stat"
	"github.com/tunehost/tunehost/host/view"
)

// moves checks that trials changed state only as the table allows. One event can cause several
// changes.
func (b *books) moves(e core.Event) {
	reset, _ := e.(*core.TrialReset)
	for no, was := range b.states {
		now := b.machine.State(core.TrialNo(no))
		if was.Final() && now != was && (reset == nil || was != core.Errored || reset.Trial != core.TrialNo(no)) {
			b.fail("trial %d was %s, and is %s after %T", no, was, now, e)
		}
		attempt := b.machine.View(core.TrialNo(no)).Attempt
		if attempt != b.attempts[no] && attempt != b.attempts[no]+1 {
			b.fail("attempt %d of trial %d follows attempt %d", attempt, no, b.attempts[no])
		}
		b.states[no], b.attempts[no] = now, attempt
	}
}

// stepped checks what must hold after each step of the loop.
func (b *books) stepped() {
	m := b.machine
	b.marks[b.applied] = stateOf(m)
	if p := m.Spec().Trials; p >= 0 && m.Planned() > max(p, int64(len(b.w.plan.experiment.Points))) {
		b.fail("%d trials are made, and %d were planned", m.Planned(), p)
	}
	if s := m.Spec(); s.Trials != int64(b.w.plan.trials) || s.Extended != b.w.plan.extended {
		b.fail("the file has %d trials and was extended %d times; what holds is %+v", b.w.plan.trials,
			b.w.plan.extended, s)
	}
	m.EachCheckpoint(func(x core.CheckpointRef) {
		k := ckpt{x.Trial, x.ID}
		if iteration, ok := b.w.present[k]; !b.w.damaged[k] && (!ok || iteration != x.Iteration) {
			b.fail("checkpoint %d of trial %d, iteration %d, is needed, and is not on the disk", x.ID, x.Trial,
				x.Iteration)
		}
	})
	if b.keep = max(b.keep, int(m.Spec().Checkpoint.Keep)); m.Spec().Checkpoint.Keep == 0 {
		b.keep = math.MaxInt // a new limit counts from the next checkpoint on
	}
	b.keepsFew(b.keep)
	b.belongs()
	b.leased()
	for no, p := range b.w.procs {
		if m.State(no) != core.Running || m.View(no).Attempt != p.attempt {
			b.fail("attempt %d of trial %d runs, which is %s at attempt %d", p.attempt, no, m.State(no),
				m.View(no).Attempt)
		}
	}
}

// keepsFew checks that no trial has more checkpoints of its own than allowed: the newest may be one
// more than the best (B-053).
func (b *books) keepsFew(most int) {
	if b.machine.Spec().Checkpoint.Score != "" && most < math.MaxInt {
		most++
	}
	for no := range core.TrialNo(b.machine.Trials()) {
		own := 0
		for _, ref := range b.machine.Checkpoints(no) {
			if ref.Trial == no {
				own++
			}
		}
		if own > most {
			b.fail("trial %d has %d checkpoints, and must keep %d", no, own, most)
		}
	}
}

// stateOf returns a digest of the visible state.
func stateOf(m *core.Machine) uint64 {
	h := mix(uint64(m.Trials()), uint64(m.Planned()), m.Observations(), m.Decided())
	for no := range core.TrialNo(m.Trials()) {
		v := m.View(no)
		h = mix(h, uint64(v.State), uint64(v.Attempt), uint64(v.Failures), uint64(v.Results), v.Iteration,
			uint64(v.Checkpoint.ID), uint64(v.Ended), truth(v.Saving), truth(v.Stopping),
			uint64(v.TrainNS), uint64(len(v.Reason())), uint64(len(v.Params)))
		if s, ok := m.Summary(no, m.Metric("score")); ok {
			h = mix(h, math.Float64bits(s.Last), math.Float64bits(s.Mean), uint64(s.Finite))
		}
	}
	m.EachCheckpoint(func(x core.CheckpointRef) { h = mix(h, uint64(x.Trial), uint64(x.ID), x.Iteration) })
	return h
}

func truth(x bool) uint64 {
	if x {
		return 1
	}
	return 0
}

// left checks a host that has ended in order: everything was published, and nothing runs.
func (b *books) left(m *core.Machine) {
	if n := len(b.w.procs); n > 0 {
		b.fail("%d processes run, and the host has left", n)
	}
	for _, t := range b.tells {
		if _, ok := b.reports[t.number]; !ok {
			b.fail("the host has left, and reporters were not told of event %d", t.number)
		}
	}
	if b.safeTo != len(b.records) {
		b.fail("the host has left, and %d of %d events are safe", b.safeTo, len(b.records))
	}
	b.vacant()
	if b.w.undisturbed {
		b.tidy(m)
	}
}

// tidy checks that exactly the needed checkpoints are on the disk.
func (b *books) tidy(m *core.Machine) {
	needed := map[string]bool{}
	m.EachCheckpoint(func(x core.CheckpointRef) { needed[checkpointName(x.Trial, x.ID)] = true })
	m.EachUnfinished(func(x core.CheckpointRef) { needed[checkpointName(x.Trial, x.ID)] = true })
	for _, name := range b.w.disks.checkpoints.Names() { // the next host sweeps incomplete ones
		if !needed[name] && !temporary(name) {
			b.fail("the host has left, and checkpoint %s is there, which nobody needs", name)
		}
	}
}

// atEnd checks the life of an experiment that has ended for good, from its record alone.
func (w *world) atEnd() error {
	b := w.books
	if err := b.leftovers(); err != nil {
		return err
	}
	halves := newHalving(w.plan, w.schedulerSeed)
	i := 0
	m, err := coretest.Audit(b.records, func(e core.Event, actions []core.Action) error {
		var h uint64
		for _, a := range actions {
			h = mix(h, hashAction(a))
			if t, ok := a.(*core.Tell); ok {
				halves.hear(t.Observation, b.produced)
			}
		}
		if d, ok := e.(*core.SchedulerDecided); ok {
			if err := halves.compare(d); err != nil {
				return err
			}
		}
		if i++; h != b.actions[i-1] {
			return fmt.Errorf("it causes other actions when it is replayed")
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("the record, from its beginning: %w", err)
	}
	if err := w.planned(m); err != nil {
		return err
	}
	if err := newRulebook(w.plan).read(b.records); err != nil {
		return err
	}
	if err := b.standing(); err != nil {
		return err
	}
	return b.best(m)
}

// standing checks that who looks for the best trial after each event finds the same as who looks at all trials.
func (b *books) standing() error {
	var k view.Standing
	return history.From(history.Records(1, b.records)).Each(func(x *history.Step) error {
		if len(x.Machine.Spec().Objectives) == 0 {
			return nil
		}
		o := x.Machine.Spec().Objectives[0]
		no, value, ok := k.Best(x.Machine, o)
		if want, best, any := view.Best(x.Machine, o, view.Last); no != want || value != best || ok != any {
			return fmt.Errorf("after event %d the best trial is %d with %v (%v), and by a look at all %d with %v (%v)",
				x.Number, no, value, ok, want, best, any)
		}
		return nil
	})
}

// planned checks that every planned trial ran.
func (w *world) planned(m *core.Machine) error {
	for no := range core.TrialNo(m.Trials()) {
		if s := m.State(no); !s.Final() {
			return fmt.Errorf("trial %d is %s at the end", no, s)
		}
	}
	outcome, why := m.Outcome()
	if outcome == core.Finished && why.Is(core.CauseNone) && m.Planned() != int64(w.plan.trials) && (!w.plan.grids ||
		m.Planned() < leastGrid) {
		return fmt.Errorf("%d trials were made; %d were planned", m.Planned(), w.plan.trials)
	}
	return nil
}

// leastGrid is the least number of points of a grid; other searchers never end.
const leastGrid = 3

// best checks that the best trial has the best last value.
func (b *books) best(m *core.Machine) error {
	if m.Spec().Repeat > 1 {
		return nil
	}
	mode := m.Spec().Objectives[0].Mode
	no, value, ok := view.Best(m, m.Spec().Objectives[0], view.Last)
	for other := range core.TrialNo(m.Trials()) {
		s, reported := m.Summary(other, m.Metric("score"))
		if !reported || math.IsNaN(s.Last) || math.IsInf(s.Last, 0) {
			continue
		}
		if !ok || mode == stat.Max && s.Last > value || mode == stat.Min && s.Last < value {
			return fmt.Errorf("the best trial is %d with %v, but trial %d has %v", no, value, other, s.Last)
		}
	}
	return nil
}

// leftovers checks that no unneeded file is on the disks.
func (b *books) leftovers() error {
	if names := b.w.disks.journal.Names(); slices.ContainsFunc(names, temporary) {
		return fmt.Errorf("files are left over in the journal's folder: %v", names)
	}
	// two of each plugin; a loss of power brings back what was just removed
	if n := len(b.w.rig.Snapshots.List()); n > 8 {
		return fmt.Errorf("%d snapshots are kept", n)
	}
	return nil
}

func temporary(name string) bool { return !journal.IsSegment(name) }

// hashAction returns a digest of an action.
func hashAction(a core.Action) uint64 {
	switch a := a.(type) {
	case core.AskSearcher:
		return mix(1, a.Ask, a.First, uint64(a.Count))
	case *core.Tell:
		o := &a.Observation
		h := mix(2, o.Number, uint64(o.Kind), uint64(o.To), uint64(o.Trial), uint64(o.Attempt), o.Iteration,
			truth(o.Due), truth(o.Again), truth(o.Last), uint64(o.Runs))
		for _, x := range o.Metrics {
			h = mix(h, uint64(x.ID), math.Float64bits(x.Value))
		}
		return h
	case core.StartAttempt:
		h := mix(3, uint64(a.Trial), uint64(a.Attempt), uint64(a.Restore.Trial), uint64(a.Restore.ID),
			a.Restore.Iteration, uint64(a.Lease))
		for _, s := range a.Placement.Slots {
			h = mix(h, uint64(s.Node))
		}
		return h
	case core.ContinueAttempt:
		return mix(4, uint64(a.Trial), uint64(a.Attempt), uint64(a.Credits))
	case core.RunAhead:
		return mix(12, uint64(a.Trial), uint64(a.Attempt))
	case core.SaveAttempt:
		return mix(5, uint64(a.Trial), uint64(a.Attempt), uint64(a.ID), a.Iteration)
	case core.TakeCheckpoint:
		return mix(6, uint64(a.Trial), uint64(a.Attempt), uint64(a.ID), a.Iteration)
	case core.StopAttempt:
		return mix(7, uint64(a.Trial), uint64(a.Attempt), uint64(a.SaveID), truth(a.Paused))
	case core.KillAttempt:
		return mix(13, uint64(a.Trial), uint64(a.Attempt))
	case core.DeleteCheckpoint:
		return mix(8, uint64(a.Trial), uint64(a.ID))
	case core.RequestLease:
		return mix(14, uint64(a.Lease), uint64(a.For), uint64(len(a.Request.Key())))
	case core.ReleaseLease:
		return mix(15, uint64(a.Lease))
	case core.AdoptLeases:
		h := uint64(16)
		for _, id := range a.Leases {
			h = mix(h, uint64(id))
		}
		return h
	case core.JudgeBudget:
		return mix(17)
	case core.SetTimer:
		return mix(9, uint64(a.At))
	case core.Warn:
		return mix(10, uint64(a.Trial), uint64(len(a.Cause.String())))
	case core.Finish:
		return mix(11, uint64(a.Outcome), uint64(len(a.Cause.String())))
	}
	panic(fmt.Sprintf("%T is no action", a))
}
