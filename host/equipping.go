package host

import (
	"errors"
	"fmt"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/deadlines"
	"github.com/tunehost/tunehost/host/demand"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/training"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// makeTraining makes the driver of trials, with all that the session has for it.
func (s *session) makeTraining() *training.Driver {
	e, t := s.experiment, s.plugins.Trainer.Traits()
	o := s.opener()
	ref, _, err := o.TrainableRef()
	if err != nil {
		ref.Name = "trainable" // it was opened, so that this cannot be
	}
	begin := o.Limit(sdk.KindTrainable, ref, deadlines.Begin)
	x := training.Options{Name: ref.Name, Open: o.Trainable, Shared: t.Shared, Programs: e.Trainable.Plugin == nil, Reuse: t.Reusable && e.Reuse != "false", GPUs: e.Reuse == "true",
		Begin: begin, Grace: e.StopGrace, Inbox: s.inbox, Log: s.log, Clock: s.clock, Storage: s.dir,
		Disk: s.disk, Fail: s.fail, Saved: s.remote.saved, Memory: s.holdStates(t.Saves)}
	if e.Reuse == "true" && !t.Reusable {
		s.log.Warn("reuse: true: the trainable says that its processes cannot be reused; each trial gets one of its own")
	}
	if e.Trainable.Plugin != nil {
		x.Deadline = e.Trainable.Deadline
	}
	for id := 1; id <= s.machine.Metrics(); id++ {
		x.Metrics = append(x.Metrics, s.machine.MetricName(core.MetricID(id)))
	}
	d := training.New(x)
	if s.requesting == nil {
		d.KeepWarm(s.plugins.Trainer)
	}
	s.plugins.Trainer = nil // training closes it
	return d
}

// request says what a trial needs where that depends on its parameters (B-038).
func (s *session) request(g *core.Suggestion) error {
	if len(s.experiment.Computed) == 0 {
		return s.requesting.Fill(g)
	}
	r, err := demand.For(s.experiment, g.Params)
	g.Request = &r
	return err
}

// makeRequesting takes over an opened trainable that computes what trials need. A
// file that asks for resources beside it is in conflict with it.
func (s *session) makeRequesting(t plugin.Trainer) (*training.Requesting, error) {
	o := s.opener()
	ref, _, err := o.TrainableRef()
	if err != nil {
		return nil, err
	}
	if at := s.experiment.Requested; at != nil {
		return nil, &UserError{&config.Error{Pos: *at, Msg: fmt.Sprintf(
			"the trainable %q (%s) computes by itself what each trial needs, and here the file says it, too: take this out", ref.Name, ref.Pos)}}
	}
	limit := o.Limit(sdk.KindTrainable, ref, deadlines.Request)
	return training.NewRequesting(ref.Name, t, o.FirstTrainable, limit), nil
}

// holdStates prepares for pauses whose state is held in memory (B-052). Where there
// is no memory for it, they are saved on disk, as they were without the key.
func (s *session) holdStates(saves bool) *storage.Memory {
	if !s.experiment.Checkpoint.PausesInMemory || s.lock == nil {
		return nil
	}
	if !saves {
		s.log.Warn("checkpoint.pauses: memory: the trainable makes its checkpoints itself, on disk; pauses go on from the last of them")
		return nil
	}
	m, err := storage.OpenMemory()
	if err != nil {
		s.log.Warn("checkpoint.pauses: memory: pauses are saved on disk: " + err.Error())
		return nil
	}
	return m
}

// sweepTrial looks through all directories that the trial has had.
func (s *session) sweepTrial(no core.TrialNo, needed, owed func(id uint32) bool) (err error) {
	for moved := range s.machine.Dirs(no) + 1 {
		err = errors.Join(err, s.dir.SweepTrial(s.trials.DirAt(no, moved), needed, owed))
	}
	return err
}

// sweepUnfinished removes what the trial's program had begun to save when it was killed, which
// may be all that the trial has.
func (s *session) sweepUnfinished(no core.TrialNo) {
	var err error
	for moved := range s.machine.Dirs(no) + 1 {
		err = errors.Join(err, storage.SweepUnfinished(s.trials.DirAt(no, moved)))
	}
	if err != nil {
		s.log.Warn(s.trials.name(no) + ": checkpoints that its program had not finished could not be removed: " + err.Error())
	}
}

// sweepTemporaries removes files that were being written when the trial's host was killed.
func (s *session) sweepTemporaries(no core.TrialNo) {
	for moved := range s.machine.Dirs(no) + 1 {
		if err := storage.SweepTemporaries(s.trials.DirAt(no, moved)); err != nil {
			s.log.Warn(s.trials.name(no) + ": files that were not finished could not be removed: " + err.Error())
		}
	}
}

// sweep removes what earlier hosts left among the checkpoints: those that the
// record does not name, half ones, and copies. It is done before any trial runs.
func (s *session) sweep() {
	needed := map[core.CheckpointRef]bool{}
	s.machine.EachCheckpoint(func(x core.CheckpointRef) { x.Iteration = 0; needed[x] = true })
	owed := map[core.CheckpointRef]bool{}
	s.machine.Owed(func(x core.CheckpointRef) { x.Iteration = 0; owed[x] = true })
	owing := map[core.TrialNo]bool{}
	for x := range owed {
		owing[x.Trial] = true
	}
	for no := range core.TrialNo(s.machine.Trials()) {
		if !owing[no] {
			s.sweepUnfinished(no)
		}
		if !s.machine.View(no).State.Final() {
			s.sweepTemporaries(no)
		}
		if !s.machine.HadCheckpoint(no) {
			continue
		}
		in := func(set map[core.CheckpointRef]bool) func(uint32) bool {
			return func(id uint32) bool { return set[core.CheckpointRef{Trial: no, ID: id}] }
		}
		if err := s.sweepTrial(no, in(needed), in(owed)); err != nil {
			s.log.Warn(s.trials.name(no) + ": what is left of its checkpoints could not be removed: " + err.Error())
		}
	}
	if err := s.dir.SweepBlobs(); err != nil {
		s.log.Warn("files of checkpoints that are gone could not be removed: " + err.Error())
	}
}
