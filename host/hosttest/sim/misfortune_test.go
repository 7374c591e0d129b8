package sim

import (
	"slices"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/journal/journaltest"
)

// misfortune lets faults and users act before each step.
func (w *world) misfortune() {
	f := &w.faults
	if w.calm {
		return
	}
	switch {
	case w.one(f.death) && w.one(f.deathIO):
		fs := pick(w.r, []*journaltest.FS{w.disks.journal, w.disks.journal, w.disks.checkpoints, w.disks.snapshots})
		fs.DieAt(fs.Ops()+1+w.r.IntN(12), w.death(), journaltest.Phase(w.r.IntN(3)))
	case w.one(f.death):
		w.disks.die(w.death())
		w.die("between two steps")
		return
	case w.one(f.io):
		fs := pick(w.r, []*journaltest.FS{w.disks.journal, w.disks.checkpoints, w.disks.snapshots})
		fs.FailAt(fs.Ops()+1+w.r.IntN(10), journaltest.IO)
	case w.one(f.full):
		w.log("the disk is filling up")
		w.disks.setRoom(w.r.Int64N(2000))
		w.freeSoon()
	}
	if w.one(f.node) && w.cluster == nil {
		w.nodeTrouble()
	}
	if w.cluster != nil {
		w.cluster.misfortune()
	}
	if w.one(f.stale) && len(w.old) > 0 {
		w.stale()
	}
	if w.one(f.damage) {
		w.damage()
	}
	if w.one(f.jump) {
		w.clock.jump(w.clock.zones[w.clock.zone] +
			between(w.r, -100*time.Second, 100*time.Second)*pick(w.r, []int64{1, 1, 1_000_000}))
	}
	if w.might(w.width.era) {
		w.era()
	}
	if w.one(f.user) {
		w.user()
	}
	if w.one(f.leave) && !w.left {
		w.log("the user interrupts")
		w.left = true
		w.post(&core.Interrupted{})
	}
}

// freeSoon plans that a user frees space on the disk.
func (w *world) freeSoon() {
	w.later(0, between(w.r, time.Second, time.Minute), func() { w.disks.setRoom(-1) })
}

// nodeTrouble removes a node, or restores it.
func (w *world) nodeTrouble() {
	i := w.r.IntN(len(w.nodes))
	if !w.nodes[i] {
		w.nodeBack(i)
		return
	}
	w.log("node %d is lost", i+1)
	w.nodes[i] = false
	id := w.plan.nodes[i].ID
	w.vanish(id)
	w.post(&core.NodeLeft{ID: id})
}

// vanish ends all processes on a node.
func (w *world) vanish(node uint32) {
	for no, p := range w.procs {
		if p.on(node) {
			delete(w.procs, no)
		}
	}
}

func (w *world) nodeBack(i int) {
	if !w.nodes[i] {
		w.log("node %d is back", i+1)
		w.nodes[i] = true
		w.post(&core.NodeJoined{Node: w.plan.nodes[i]})
	}
}

// stale posts old events again, of attempts that have ended or are about to end.
func (w *world) stale() {
	e := pick(w.r, w.old)
	var no core.TrialNo
	var attempt uint32
	switch e := e.(type) {
	case *core.AttemptEnded:
		no, attempt = e.Trial, e.Attempt
	case *core.CheckpointSaved:
		no, attempt = e.Trial, e.Attempt
	case *core.SaveFailed:
		no, attempt = e.Trial, e.Attempt
	}
	if m := w.host.Machine(); m.State(no) == core.Running && m.View(no).Attempt == attempt {
		return // not old: each event of a running attempt is sent once
	}
	w.log("late news: %T %+v", e, e)
	w.post(e)
}

// damage removes or changes the file of a checkpoint, as a user might.
func (w *world) damage() {
	names := w.disks.checkpoints.Names()
	if len(names) == 0 {
		return
	}
	name := pick(w.r, names)
	for k := range w.present {
		if checkpointName(k.trial, k.id) == name {
			w.log("checkpoint %s is damaged", name)
			w.damaged[k] = true
			w.disks.checkpoints.WriteBytes(name, []byte("damaged"))
		}
	}
}

// user sends a random command of a user to the running experiment.
func (w *world) user() {
	m := w.host.Machine()
	n := m.Trials()
	if n == 0 {
		return
	}
	no := core.TrialNo(w.r.IntN(n))
	switch k := w.r.IntN(40); {
	case k < 8:
		w.post(&core.PauseRequested{Trial: no})
	case k < 18:
		w.post(&core.UnpauseRequested{Trial: no})
	case k < 21:
		w.post(&core.PauseRequested{All: true})
		w.later(0, between(w.r, time.Second, 20*time.Second), func() { w.post(&core.UnpauseRequested{All: true}) })
	case k < 27:
		w.post(&core.StopRequested{Trial: no})
	case k < 28 && w.r.IntN(6) == 0:
		w.post(&core.StopRequested{All: true})
	case n < 40:
		g := core.TrialGiven{Suggestion: core.Suggestion{Params: slices.Clone(m.Params(no))}, Extra: true}
		if g.Clone = w.r.IntN(2) == 0 && len(m.Checkpoints(no)) > 0; g.Clone {
			g.Donor = no
		}
		w.post(&g)
	}
}
