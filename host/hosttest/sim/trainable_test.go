package sim

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// proc is a trial's process and its driver. It posts the same events that the host's
// own driver of trainables would post for such a process.
type proc struct {
	trial     core.TrialNo
	attempt   uint32
	nodes     []uint32
	lease     core.LeaseID // 0: it runs on the host's nodes
	from      core.CheckpointRef
	iteration uint64
	length    uint64 // it ends by itself there
	credits   int
	advanced  int      // of them, given before the decision
	saves     []saving // requested, not started
	busy      bool     // an epoch is under way
	waiting   bool     // for a credit
	stopping  bool     // it was told to
	done      bool     // it has said so
	hung      bool
	nonsense  string // why its events are ignored
}

// saving is a requested checkpoint.
type saving struct {
	id   uint32
	stop bool // requested together with a stop
}

// start runs an attempt.
func (w *world) start(a core.StartAttempt) {
	p := &proc{trial: a.Trial, attempt: a.Attempt, from: a.Restore, iteration: a.Restore.Iteration, credits: 1,
		lease: a.Lease}
	for _, s := range a.Placement.Slots {
		p.nodes = append(p.nodes, s.Node)
	}
	p.length = max(p.iteration+1, 1+mix(w.seed, 7, uint64(a.Trial))%w.plan.iterations)
	if w.lacks(p) {
		return // the process is gone, and the host will be told
	}
	w.books.started(p)
	w.procs[a.Trial] = p
	w.of(p, between(w.r, time.Millisecond, 200*time.Millisecond), func() { w.begin(p) })
}

// lacks reports whether the place of a process does not exist any more.
func (w *world) lacks(p *proc) bool {
	if c := w.cluster; c != nil {
		c.silenced[attempt{p.trial, p.attempt}] = !c.stands(p.lease)
		return !c.stands(p.lease)
	}
	return slices.ContainsFunc(p.nodes, func(id uint32) bool { return !w.nodes[id-1] })
}

// lostTouch reports whether an attempt's process is lost with its lease: the host gets no answer
// from it, and is told of the loss instead.
func (w *world) lostTouch(no core.TrialNo, number uint32) bool {
	return w.cluster != nil && w.cluster.silenced[attempt{no, number}]
}

// of plans an action of a process, if the process is alive then.
func (w *world) of(p *proc, in int64, do func()) {
	w.later(w.number, in, func() {
		if w.procs[p.trial] == p {
			do()
		}
	})
}

// begin loads the checkpoint, and reports the start.
func (w *world) begin(p *proc) {
	if p.stopping {
		return // stopNow ends it
	}
	if p.from.ID != 0 && !w.loads(p.from) {
		w.end(p, core.AttemptEnded{Cause: core.Cause{Kind: core.CauseDamaged, Text: "its checkpoint is damaged"},
			Damaged: true})
		return
	}
	switch {
	case w.one(w.faults.badStart):
		w.end(p, core.AttemptEnded{Cause: core.TrainableFailure("it cannot load the checkpoint"),
			RestoreFailed: p.from.ID != 0})
		return
	case w.one(w.faults.badStart / 10):
		w.end(p, core.AttemptEnded{Cause: core.TrainableFailure("there is no such program"), NeverStarted: true})
		return
	}
	w.post(&core.AttemptStarted{Trial: p.trial, Attempt: p.attempt, PID: uint32(p.trial)<<8 + p.attempt})
	w.epoch(p)
}

// loads reads a checkpoint, which must exist unless it was damaged.
func (w *world) loads(ref core.CheckpointRef) bool {
	k := ckpt{ref.Trial, ref.ID}
	if w.damaged[k] {
		return false
	}
	got := w.disks.checkpoints.ReadBytes(checkpointName(ref.Trial, ref.ID))
	if want := checkpointText(ref.Trial, ref.ID, ref.Iteration); string(got) != string(want) {
		w.books.fail("trial continues from checkpoint %+v, which is %q", ref, got)
		return false
	}
	return true
}

// epoch starts an epoch.
func (w *world) epoch(p *proc) {
	if p.busy || p.hung || p.done || p.stopping && w.r.IntN(2) == 0 {
		return
	}
	if p.credits == 0 {
		p.waiting = true
		return
	}
	p.busy, p.waiting = true, false
	p.credits--
	w.of(p, between(w.r, 10*time.Millisecond, 3*time.Second), func() {
		p.busy = false
		w.trained(p)
	})
}

// trained ends an epoch.
func (w *world) trained(p *proc) {
	switch f := &w.faults; {
	case w.one(f.crash):
		w.log("trial %d crashes", p.trial)
		w.end(p, core.AttemptEnded{Cause: core.TrainableFailure("exit status 1")})
	case w.one(f.hang), w.one(f.silent):
		w.log("trial %d hangs", p.trial)
		p.hung = true
		w.of(p, int64(time.Minute), func() {
			w.end(p, core.AttemptEnded{Cause: core.Cause{Kind: core.CauseSilent, NS: int64(time.Minute)}})
		})
	case w.one(f.nonsense):
		w.talk(p)
	default:
		p.iteration++
		w.report(p, w.result(p))
		w.afterReport(p)
	}
}

func (w *world) afterReport(p *proc) {
	if p.iteration < p.length {
		w.epoch(p)
		return
	}
	p.done = true
	w.of(p, between(w.r, time.Millisecond, 300*time.Millisecond), func() { w.finish(p) })
}

// finish ends a process that has finished its training, once no save is requested.
func (w *world) finish(p *proc) {
	switch {
	case len(p.saves) > 0:
		w.of(p, int64(50*time.Millisecond), func() { w.finish(p) })
	default:
		w.end(p, core.AttemptEnded{})
	}
}

// score is the reported value: a curve that depends only on the trial and
// the iteration.
func (w *world) score(no core.TrialNo, iteration uint64) float64 {
	h := mix(w.seed, 11, uint64(no))
	noise := float64(mix(h, iteration)%1000) / 1e4
	return float64(h%1000)/1000*(1-math.Exp(-float64(iteration)/3)) + noise
}

func (w *world) result(p *proc) sdk.Result {
	value := w.score(p.trial, p.iteration)
	if w.one(w.faults.notFinite) {
		value = pick(w.r, []float64{math.NaN(), math.Inf(1), math.Inf(-1)})
	}
	x := sdk.Result{Iteration: p.iteration, Metrics: []sdk.Metric{{Name: "score", Value: value}},
		Done: p.iteration == p.length && w.r.IntN(2) == 0}
	if w.r.IntN(4) == 0 {
		x.Metrics = append(x.Metrics, sdk.Metric{Name: fmt.Sprint("m", w.r.IntN(3)), Value: value + 1})
	}
	if w.r.IntN(10) == 0 {
		x.Checkpoint = "own"
	}
	if w.one(w.faults.nonsense) {
		x.Metrics = x.Metrics[1:]
	}
	return x
}

// report sends a result to the host. A process that sends invalid events is
// stopped.
func (w *world) report(p *proc, x sdk.Result) {
	if p.nonsense != "" {
		return
	}
	err := w.host.Report(p.trial, p.attempt, x)
	if err != nil {
		p.nonsense = err.Error()
		w.of(p, between(w.r, time.Millisecond, 500*time.Millisecond), func() { w.end(p, core.AttemptEnded{}) })
		return
	}
	w.books.reported(p, x)
	w.turnSoon()
}

// talk sends invalid results: repeated ones, old ones, more than allowed,
// without a name, or with a duplicate name.
func (w *world) talk(p *proc) {
	w.log("trial %d talks nonsense", p.trial)
	bad := w.result(p)
	switch w.r.IntN(5) {
	case 0:
		bad.Iteration = max(p.iteration, 1) // again
	case 1:
		bad.Iteration = max(p.iteration, 2) - 1
	case 2:
		bad.Metrics = append(bad.Metrics, sdk.Metric{})
	case 3:
		bad.Metrics = append(bad.Metrics, sdk.Metric{Name: "twice"}, sdk.Metric{Name: "twice"})
	case 4:
		for range 20 {
			p.iteration++
			w.report(p, w.result(p))
		}
		w.epoch(p)
		return
	}
	first := p.iteration == p.from.Iteration
	w.report(p, bad)
	if first && bad.Iteration > 0 {
		p.iteration = bad.Iteration // an attempt's first may be any
	}
	w.epoch(p)
}

// heard handles a command of the host to a process.
func (w *world) heard(no core.TrialNo, attempt uint32, f func(*proc)) bool {
	p := w.procs[no]
	if p == nil || p.attempt != attempt {
		return false
	}
	f(p)
	return true
}

func (w *world) continueAttempt(a core.ContinueAttempt) {
	w.heard(a.Trial, a.Attempt, func(p *proc) {
		early := min(p.advanced, int(a.Credits))
		p.advanced -= early
		p.credits += int(a.Credits) - early
		if p.waiting {
			w.epoch(p)
		}
	})
}

// runAhead lets a process continue before the decision on its last result.
func (w *world) runAhead(a core.RunAhead) {
	w.heard(a.Trial, a.Attempt, func(p *proc) {
		if p.credits > 0 {
			return
		}
		p.credits++
		p.advanced++
		if p.waiting {
			w.epoch(p)
		}
	})
}

func (w *world) save(a core.SaveAttempt) {
	there := w.heard(a.Trial, a.Attempt, func(p *proc) {
		p.saves = append(p.saves, saving{id: a.ID})
		w.saveSoon(p)
	})
	if !there && !w.lostTouch(a.Trial, a.Attempt) {
		w.later(w.number, 0, func() { w.unsaved(a.Trial, a.Attempt, a.ID) })
	}
}

func (w *world) saveSoon(p *proc) {
	w.of(p, between(w.r, time.Millisecond, 200*time.Millisecond), func() {
		if p.hung || p.nonsense != "" || len(p.saves) == 0 {
			return
		}
		s := p.saves[0]
		p.saves = p.saves[1:]
		w.commit(p, s.id, p.iteration)
		if s.stop {
			w.end(p, core.AttemptEnded{})
		}
	})
}

// take stores a checkpoint that the process has made itself.
func (w *world) take(a core.TakeCheckpoint) {
	p := &proc{trial: a.Trial, attempt: a.Attempt}
	_, whole := w.present[ckpt{a.Trial, a.ID}]
	if a.Again && !whole && (a.Rebooted || w.r.IntN(4) == 0) { // its files are gone
		w.later(w.number, between(w.r, 0, 20*time.Millisecond), func() { w.unsaved(a.Trial, a.Attempt, a.ID) })
		return
	}
	w.later(w.number, between(w.r, 0, 20*time.Millisecond), func() { w.commit(p, a.ID, a.Iteration) })
}

// commit completes a checkpoint in the background, even after the
// process has ended.
func (w *world) commit(p *proc, id uint32, iteration uint64) {
	in := between(w.r, time.Millisecond, 100*time.Millisecond)
	w.later(w.number, in, func() {
		err := keep(w.disks.checkpoints, checkpointName(p.trial, id), checkpointText(p.trial, id, iteration))
		switch {
		case w.disks.dead():
		case noSpace(err):
			w.freeSoon()
			w.later(w.number, int64(time.Second), func() { w.commit(p, id, iteration) })
		case err != nil:
			w.unsaved(p.trial, p.attempt, id)
		default:
			w.present[ckpt{p.trial, id}] = iteration
			delete(w.damaged, ckpt{p.trial, id})
			w.tell(&core.CheckpointSaved{Trial: p.trial, Attempt: p.attempt, ID: id, Iteration: iteration,
				Bytes: int64(len(checkpointText(p.trial, id, iteration)))})
		}
	})
}

func (w *world) unsaved(no core.TrialNo, attempt uint32, id uint32) {
	w.tell(&core.SaveFailed{Trial: no, Attempt: attempt, ID: id, Error: "the trainable had ended"})
}

// tell posts an event of an attempt; it may be repeated later.
func (w *world) tell(events ...core.Event) {
	w.old = append(w.old, events...)
	if n := len(w.old); n > 50 {
		w.old = w.old[n-50:]
	}
	w.post(events...)
}

// stop tells a process to end.
func (w *world) stop(a core.StopAttempt) {
	there := w.heard(a.Trial, a.Attempt, func(p *proc) {
		p.stopping = true
		if a.SaveID != 0 {
			p.saves = append(p.saves, saving{id: a.SaveID, stop: true})
			for range p.saves {
				w.saveSoon(p)
			}
		} else {
			w.of(p, between(w.r, time.Millisecond, time.Second), func() {
				if !p.hung {
					w.end(p, core.AttemptEnded{})
				}
			})
		}
		w.of(p, int64(30*time.Second), func() { w.end(p, core.AttemptEnded{}) }) // the grace is over
	})
	if !there && a.SaveID != 0 && !w.lostTouch(a.Trial, a.Attempt) {
		w.later(w.number, 0, func() { w.unsaved(a.Trial, a.Attempt, a.SaveID) })
	}
}

// end reports a process's end, when all its processes are gone, and the saves that
// will not happen any more.
func (w *world) end(p *proc, e core.AttemptEnded) {
	e.Trial, e.Attempt = p.trial, p.attempt
	if p.stopping {
		e.Cause = core.Cause{}
	}
	if p.nonsense != "" {
		e = core.AttemptEnded{Trial: p.trial, Attempt: p.attempt, Cause: core.Cause{Kind: core.CauseInvalidReport,
			Text: p.nonsense}}
	}
	delete(w.procs, p.trial)
	events := []core.Event{&e}
	for _, s := range p.saves {
		events = append(events, &core.SaveFailed{Trial: p.trial, Attempt: p.attempt, ID: s.id,
			Error: "the trainable had ended"})
	}
	w.tell(events...)
}

// sweep removes incomplete checkpoints of earlier hosts, as the host's own
// does.
func (w *world) sweep() {
	needed := map[string]bool{}
	w.host.Machine().EachCheckpoint(func(x core.CheckpointRef) { needed[checkpointName(x.Trial, x.ID)] = true })
	w.host.Machine().EachUnfinished(func(x core.CheckpointRef) { needed[checkpointName(x.Trial, x.ID)] = true })
	fs := w.disks.checkpoints
	clear(w.present)
	for _, name := range fs.Names() {
		if !needed[name] {
			_ = fs.Remove(name)
			continue
		}
		var k ckpt
		var iteration uint64
		if n, _ := fmt.Sscanf(string(fs.ReadBytes(name)), "trial %d checkpoint %d iteration %d whole", &k.trial, &k.id,
			&iteration); n == 3 {
			w.present[k] = iteration
		}
	}
}

// on says whether the process is on a node.
func (p *proc) on(node uint32) bool { return slices.Contains(p.nodes, node) }
