package sim

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/core/journal/journaltest"
	"github.com/tunehost/tunehost/host/plugin"
)

// takeUp starts a host.
func (w *world) takeUp() {
	w.number++
	w.starts++
	w.undisturbed = w.calm
	w.lived.Hosts++
	w.turning, w.deciding, w.suggesting, w.left, w.wake = false, false, false, false, 0
	w.publishing = w.number == 1 && w.options.Torn != nil // for ever
	w.rig.PID, w.rig.Resume, w.rig.Boot = uint32(w.number), "", fmt.Sprint(w.lived.Power)
	if w.one(200) {
		w.rig.Resume = pick(w.r, []string{"errored_only", "errored_restart", "errored_resume"})
	}
	w.rig.Reported = w.books.lastTold
	if w.one(w.faults.retell) {
		w.rig.Reported = 0
	} else if w.might(w.width.behind) {
		w.rig.Reported = w.width.r.Uint64N(w.books.lastTold + 1)
	}
	undo := w.changeSettings()
	w.rig.Nodes = w.rig.Nodes[:0]
	for i, there := range w.nodes {
		if there {
			w.rig.Nodes = append(w.rig.Nodes, w.plan.nodes[i])
		}
	}
	w.arm()
	w.books.taking()
	w.rig.Record = watchedFS{w.disks.journal, w.books.syncing, w.books.safe, w.books.lost}
	t, err := w.rig.Start()
	w.log("starts: %v", err)
	if w.disks.dead() {
		undo()
		w.die("while starting")
		return
	}
	if err != nil {
		undo()
		w.refused(err)
		return
	}
	w.host = t
	w.books.taken(t)
	w.sweep()
	w.turnSoon()
	if w.calm {
		w.unpause()
	}
}

// refused handles a host that could not start, because of a temporary fault.
func (w *world) refused(err error) {
	if w.options.Torn != nil && errors.Is(err, journal.ErrCorrupt) {
		w.done, w.lived.Refused = true, true
		return
	}
	passes := noSpace(err) || errors.Is(err, journal.ErrNoSpace) || errors.Is(err, syscall.EIO) ||
		errors.Is(err, plugin.ErrGaveUp)
	if !passes || w.starts > calmHosts && w.calm {
		w.books.fail("a host does not start: %v", err)
	}
	if noSpace(err) || errors.Is(err, journal.ErrNoSpace) {
		w.disks.setRoom(-1)
	}
	w.disks.die(journaltest.Kill)
	w.die("because it could not start")
}

// die ends a host, and everything that it started.
func (w *world) die(how string) {
	death := w.disks.death()
	w.disks.die(death)
	w.log("dies %s (%v)", how, death)
	w.lived.Deaths++
	if death == journaltest.Power {
		w.lived.Power++
	}
	w.countOps()
	w.books.died(death == journaltest.Power)
	if w.books.powerOff {
		w.old = nil // attempts that the record has lost free their numbers
	}
	w.host = nil
	clear(w.procs)
	if w.cluster != nil {
		w.cluster.hangUp()
	}
	w.restart()
	w.rot()
	w.now += between(w.r, time.Millisecond, 10*time.Second)
}

// restart changes the disks as the death does.
func (w *world) restart() {
	name := w.disks.journal.Names()
	if w.number > 1 || w.options.Torn == nil || len(name) != 1 {
		w.disks.restart()
		return
	}
	whole := w.disks.journal.ReadBytes(name[0])
	w.disks.restart()
	w.disks.journal.WriteBytes(name[0], w.options.Torn(whole))
}

func (w *world) countOps() {
	if w.number == 1 {
		for i, fs := range w.disks.all() {
			w.lived.Ops[i] = fs.Ops()
		}
	}
}

// rot damages a snapshot, which is never needed.
func (w *world) rot() {
	fs := w.disks.snapshots
	for _, name := range fs.Names() {
		if b := fs.ReadBytes(name); len(b) > 0 && w.one(w.faults.rot) {
			b[w.r.IntN(len(b))] ^= 1 << w.r.IntN(8)
			fs.WriteBytes(name, b)
		} else if len(b) > 0 && w.might(w.width.torn) {
			fs.WriteBytes(name, w.tear(b))
		}
	}
	if w.might(w.width.torn / 4) {
		w.otherSnapshot(fs.Names())
	}
}

// arm plans deaths of this host.
func (w *world) arm() {
	all := w.disks.all()
	for _, d := range w.options.Deaths {
		if d.Host == w.number {
			all[d.Disk].DieAt(d.Op, d.Death, d.Phase)
		}
	}
	if w.one(w.faults.deathAgain) {
		fs := all[w.r.IntN(3)]
		fs.DieAt(fs.Ops()+1+w.r.IntN(20), w.death(), journaltest.Phase(w.r.IntN(3)))
	}
}

func (w *world) death() journaltest.Death {
	if w.r.IntN(1000) < w.faults.power {
		return journaltest.Power
	}
	return journaltest.Kill
}

// fails ends a host because of an error that it does not survive.
func (w *world) fails(err error) {
	w.log("fails: %v", err)
	if w.calm && !errors.Is(err, journal.ErrFailed) {
		w.books.fail("the host fails: %v", err)
	}
	w.disks.die(journaltest.Kill)
	w.die("by itself")
}

// leaves ends a host that has nothing more to do.
func (w *world) leaves() {
	m := w.host.Machine()
	outcome, why := m.Outcome()
	w.log("leaves: %v %s", outcome, why)
	if w.number == 1 && w.options.Torn != nil {
		w.disks.die(journaltest.Power)
		w.die("in the end")
		return
	}
	if w.cluster != nil {
		w.cluster.drain()
	}
	err := w.host.Leave()
	if w.disks.dead() {
		return
	}
	if err != nil {
		w.fails(err)
		return
	}
	w.books.left(m)
	w.countOps()
	w.host = nil
	again := w.one(300) && m.Count(core.Errored) > 0 || w.might(w.width.change)
	w.done = (outcome == core.Finished || outcome == core.StoppedByUser) && !again
	w.lived.Outcome = outcome
	w.disks.die(journaltest.Kill) // nothing of the process is left
	if w.one(w.faults.power) {
		w.disks.die(journaltest.Power)
	}
	w.disks.restart()
	w.now += between(w.r, time.Second, time.Hour)
}
