package course

import (
	"fmt"
	"slices"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/history"
	"github.com/tunehost/tunehost/core/resource"
)

// Phase is what a trial does in a segment of its time.
type Phase uint8

// Phases.
const (
	Queued Phase = iota + 1
	Running
	Paused
	Saving
	Ended
)

// Segment is a part of a trial's time. It ends where the next one begins.
type Segment struct {
	// From is its beginning as running time, in nanoseconds.
	From    int64
	Attempt uint32
	// Lane is the index of a lane; see [Runs.Lanes]. It is set while the trial runs.
	Lane uint32
	// why is the index of the reason plus one; 0: none.
	why   uint32
	Phase Phase
}

// Lane is a place where one trial runs at a time.
type Lane struct {
	// Node is the name of a machine, Slot the number of the lane there, from 0.
	Node string
	Slot int
	// Devices are the GPUs of the trial that runs there.
	Devices []string
}

// mostSaves is how many saves of checkpoints are kept as segments; later ones are not.
const mostSaves = 100_000

// mostReasons is how many reasons of pauses and ends are kept.
const mostReasons = 300_000

// Runs has the segments of all trials.
type Runs struct {
	segments [][]Segment // by trial
	lanes    []Lane
	used     []bool // by lane
	byNode   map[string][]uint32
	saves    int
	count    int
	reasons  []string
	texts    int64
}

// Segments returns those of a trial, in order. The last one of a trial that has ended is Ended.
func (r *Runs) Segments(no core.TrialNo) []Segment {
	if int(no) >= len(r.segments) {
		return nil
	}
	return r.segments[no]
}

// Lanes returns all lanes. They are read-only.
func (r *Runs) Lanes() []Lane { return r.lanes }

// Why returns why a segment began, for people; "" if there is no reason.
func (r *Runs) Why(x Segment) string {
	if x.why == 0 {
		return ""
	}
	return r.reasons[x.why-1]
}

func (r *Runs) reason(o *core.Observation) uint32 { return r.keep(o.Reason()) }

// origin says that a trial begins with the checkpoint of another; "" if it does not.
func origin(a core.StartAttempt) string {
	if a.Restore.ID == 0 || a.Restore.Trial == a.Trial || a.Restore.Trial == core.NoTrial {
		return ""
	}
	return fmt.Sprintf("continues from iteration %d of trial %d", a.Restore.Iteration, a.Restore.Trial)
}

// keep keeps a reason, and returns its index plus one. Of equal ones in a row, as at the end of an experiment,
// it keeps one.
func (r *Runs) keep(text string) uint32 {
	n := len(r.reasons)
	switch {
	case text == "" || n >= mostReasons:
		return 0
	case n > 0 && r.reasons[n-1] == text:
		return uint32(n)
	}
	r.reasons, r.texts = append(r.reasons, text), r.texts+int64(len(text))
	return uint32(n + 1)
}

// SavesLeftOut reports whether there were more saves than are kept.
func (r *Runs) SavesLeftOut() bool { return r.saves > mostSaves }

// did takes an action.
func (r *Runs) did(x *history.Step, a core.Action) {
	now := x.Machine.Now()
	switch a := a.(type) {
	case core.StartAttempt:
		r.leave(a.Trial)
		r.put(a.Trial, Segment{From: now, Attempt: a.Attempt, Lane: r.take(x.Machine, a.Placement), Phase: Running,
			why: r.keep(origin(a))})
	case core.SaveAttempt:
		r.save(a.Trial, now)
	case core.StopAttempt:
		if a.SaveID != 0 {
			r.save(a.Trial, now)
		}
	case *core.Tell:
		if !a.Observation.Learned && a.Observation.Runs == 0 {
			r.told(&a.Observation, now)
		}
	}
}

func (r *Runs) told(o *core.Observation, now int64) {
	switch o.Kind {
	case core.SawAdded, core.SawRequeued:
		r.become(o.Trial, Queued, now, r.reason(o))
	case core.SawPaused:
		r.become(o.Trial, Paused, now, r.reason(o))
	case core.SawCompleted, core.SawFailed, core.SawRemoved:
		r.become(o.Trial, Ended, now, r.reason(o))
	}
}

// event takes the event itself, after its actions.
func (r *Runs) event(x *history.Step) {
	switch e := x.Event.(type) {
	case *core.CheckpointSaved:
		r.saved(e.Trial, x.Machine.Now())
	case *core.StateHeld:
		r.saved(e.Trial, x.Machine.Now())
	case *core.SaveFailed:
		r.saved(e.Trial, x.Machine.Now())
	case *core.SchedulerDecided:
		for _, c := range e.Commands {
			r.compare(x, c.Trial)
		}
	case *core.UnpauseRequested:
		if !e.All {
			r.compare(x, e.Trial)
			return
		}
		for no := range r.segments {
			r.compare(x, core.TrialNo(no))
		}
	}
}

// compare notices that a trial waits again: nobody is told of that.
func (r *Runs) compare(x *history.Step, no core.TrialNo) {
	list := r.Segments(no)
	if n := len(list); n > 0 && list[n-1].Phase == Paused && x.Machine.State(no) == core.Pending {
		r.become(no, Queued, x.Machine.Now(), 0)
	}
}

// take finds a free lane on the node of a placement.
func (r *Runs) take(m *core.Machine, p resource.Placement) uint32 {
	var slot resource.Slot
	name := ""
	if len(p.Slots) > 0 {
		slot = p.Slots[0]
		name = m.NodeName(slot.Node)
	}
	if r.byNode == nil {
		r.byNode = map[string][]uint32{}
	}
	own := r.byNode[name]
	for _, i := range own {
		if !r.used[i] && slices.Equal(r.lanes[i].Devices, slot.Devices) {
			r.used[i] = true
			return i
		}
	}
	i := uint32(len(r.lanes))
	r.lanes = append(r.lanes, Lane{name, len(own), slices.Clone(slot.Devices)})
	r.used = append(r.used, true)
	r.byNode[name] = append(own, i)
	return i
}

// leave frees the lane of a trial that runs.
func (r *Runs) leave(no core.TrialNo) {
	if list := r.Segments(no); len(list) > 0 {
		if last := list[len(list)-1]; last.Phase == Running || last.Phase == Saving {
			r.used[last.Lane] = false
		}
	}
}

func (r *Runs) become(no core.TrialNo, p Phase, now int64, why uint32) {
	r.leave(no)
	attempt := uint32(0)
	if list := r.Segments(no); len(list) > 0 {
		attempt = list[len(list)-1].Attempt
	}
	r.put(no, Segment{From: now, Attempt: attempt, Phase: p, why: why})
}

// save begins a segment in which a checkpoint is saved.
func (r *Runs) save(no core.TrialNo, now int64) {
	list := r.Segments(no)
	if len(list) == 0 || list[len(list)-1].Phase != Running {
		return
	}
	if r.saves++; r.saves <= mostSaves {
		last := list[len(list)-1]
		r.put(no, Segment{From: now, Attempt: last.Attempt, Lane: last.Lane, Phase: Saving})
	}
}

func (r *Runs) saved(no core.TrialNo, now int64) {
	if list := r.Segments(no); len(list) > 0 && list[len(list)-1].Phase == Saving {
		last := list[len(list)-1]
		r.put(no, Segment{From: now, Attempt: last.Attempt, Lane: last.Lane, Phase: Running})
	}
}

func (r *Runs) put(no core.TrialNo, s Segment) {
	for int(no) >= len(r.segments) {
		r.segments = append(r.segments, nil)
	}
	r.segments[no] = append(r.segments[no], s)
	r.count++
}

func (r *Runs) bytes() int64 {
	return int64(r.count)*32 + int64(cap(r.segments))*24 + int64(len(r.lanes))*64 +
		int64(len(r.reasons))*16 + r.texts
}
