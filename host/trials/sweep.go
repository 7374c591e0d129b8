package trials

import (
	"errors"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/hostlog"
	"github.com/tunehost/tunehost/host/storage"
)

// sweepTrial looks through all directories that a trial has had.
func (t *Trials) sweepTrial(no core.TrialNo, needed, owed func(id uint32) bool) (err error) {
	for moved := range t.machine.Dirs(no) + 1 {
		err = errors.Join(err, t.dir.SweepTrial(t.DirAt(no, moved), t.machine.View(no).Attempt, needed, owed))
	}
	return err
}

// sweepUnfinished removes what the trial's program was saving when it was killed, which may be all
// that the trial has.
func (t *Trials) sweepUnfinished(no core.TrialNo, log *hostlog.Log) {
	var err error
	for moved := range t.machine.Dirs(no) + 1 {
		err = errors.Join(err, storage.SweepUnfinished(t.DirAt(no, moved)))
	}
	if err != nil {
		log.Warn(t.Name(no) + ": checkpoints that its program had not finished could not be removed: " +
			err.Error())
	}
}

// sweepTemporaries removes files that were being written when the trial's host was killed.
func (t *Trials) sweepTemporaries(no core.TrialNo, log *hostlog.Log) {
	for moved := range t.machine.Dirs(no) + 1 {
		if err := storage.SweepTemporaries(t.DirAt(no, moved)); err != nil {
			log.Warn(t.Name(no) + ": files that were not finished could not be removed: " + err.Error())
		}
	}
}

// nameOf leaves of a checkpoint's reference what its folder is named after.
func nameOf(x core.CheckpointRef) core.CheckpointRef {
	return core.CheckpointRef{Trial: x.Trial, ID: x.ID}
}

// Sweep removes what earlier hosts left among the checkpoints: those that the record does not
// name, unfinished ones, and copies. It is called before any trial runs.
func (t *Trials) Sweep(log *hostlog.Log) {
	needed := map[core.CheckpointRef]bool{}
	t.machine.EachCheckpoint(func(x core.CheckpointRef) { needed[nameOf(x)] = true })
	owed := map[core.CheckpointRef]bool{}
	t.machine.EachUnfinished(func(x core.CheckpointRef) { owed[nameOf(x)] = true })
	owing := map[core.TrialNo]bool{}
	for x := range owed {
		owing[x.Trial] = true
	}
	for no := range core.TrialNo(t.machine.Trials()) {
		if !owing[no] {
			t.sweepUnfinished(no, log)
		}
		if !t.machine.View(no).State.Final() {
			t.sweepTemporaries(no, log)
		}
		if !t.machine.HadCheckpoint(no) {
			continue
		}
		in := func(set map[core.CheckpointRef]bool) func(uint32) bool {
			return func(id uint32) bool { return set[core.CheckpointRef{Trial: no, ID: id}] }
		}
		if err := t.sweepTrial(no, in(needed), in(owed)); err != nil {
			log.Warn(t.Name(no) + ": the rest of its checkpoints could not be removed: " + err.Error())
		}
	}
	if err := t.dir.SweepBlobs(); err != nil {
		log.Warn("files of checkpoints that are gone could not be removed: " + err.Error())
	}
}
