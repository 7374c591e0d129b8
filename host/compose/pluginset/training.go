package pluginset

import (
	"fmt"
	"path/filepath"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/attempt"
	"github.com/tunehost/tunehost/host/attempt/nodefiles"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/config/request"
	"github.com/tunehost/tunehost/host/deadlines"
	"github.com/tunehost/tunehost/host/exec/remote"
	"github.com/tunehost/tunehost/host/inbox"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/usererror"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// Training returns the driver of trials. The driver closes the trainable.
func (p *Set) Training(to *inbox.Inbox) *attempt.Driver {
	b := p.setup
	e, t := b.Plan.Experiment, p.Trainer.Traits()
	o := p.Opener()
	ref, _, err := o.TrainableRef()
	if err != nil {
		ref.Name = "trainable" // cannot happen: the trainable was opened
	}
	begin := o.Limit(sdk.KindTrainable, ref, deadlines.Begin)
	x := attempt.Options{Name: ref.Name, Open: o.Trainable, Shared: t.Shared, Programs: e.Trainable.Plugin == nil,
		Reuse: t.Reusable && e.Reuse != "false", GPUs: e.Reuse == "true",
		Begin: begin, Grace: e.StopGrace, Inbox: to, Log: b.Log, Clock: b.Options.Clock, Storage: b.Dir,
		Disk: b.Disk, Fail: b.Fail, Saved: b.Plan.Remote.Saved, Memory: p.holdStates(t.Saves)}
	if why := unreused(e.Reuse, t); why != "" && e.Trainable.Plugin != nil {
		b.Log.Warn(fmt.Sprintf("%s: reuse: %s has no effect: %s", e.PosOf("reuse"), e.Reuse, why))
	}
	if e.Trainable.Plugin != nil {
		x.Deadline = e.Trainable.Deadline
	}
	for id := 1; id <= b.Machine.Metrics(); id++ {
		x.Metrics = append(x.Metrics, b.Machine.MetricName(core.MetricID(id)))
	}
	if p.Nodes != nil {
		return p.onNodes(x)
	}
	x.Checkpoints = attempt.SharedFiles{Storage: b.Dir, Bring: b.Plan.Remote.Bring}
	d := attempt.New(x)
	if p.Requesting == nil {
		d.KeepWarm(p.Trainer)
	}
	p.Trainer = nil
	return d
}

// unreused returns why processes of a plugin that trains are not used as reuse says; "" if they are.
func unreused(reuse string, t sdk.TrainableTraits) string {
	switch {
	case reuse == "true" && !t.Reusable && !t.Shared:
		return "the trainable says that its processes cannot be reused; each trial gets one of its own"
	case reuse == "false" && t.Shared:
		return "this trainable trains all trials in one process, or in forks of it"
	}
	return ""
}

// onNodes returns the driver of trials that run on nodes of an engine. The trainable of this machine has
// reported its traits, and trains nothing.
func (p *Set) onNodes(x attempt.Options) *attempt.Driver {
	b := p.setup
	if x.Memory != nil {
		b.Log.Warn(p.pausesAt() + "pauses are saved on disk: trials run on the nodes of the executor")
		_ = x.Memory.Close() // it is empty
		x.Memory = nil
	}
	files := nodefiles.New(nodefiles.Options{Sessions: p.Nodes, Storage: b.Dir, Log: b.Log,
		Nodes: b.Plan.Remote.Nodes(), Tell: func(e core.Event) { x.Inbox.Post(e) },
		Uploads: p.uploads(filepath.Dir(b.File.File)).Again})
	x.Apart, x.Checkpoints, x.GiveUp = true, files, p.GiveUp
	x.Noticed = remote.Noticed(p.Nodes)
	p.Serve(files)
	if p.Requesting == nil {
		go p.Trainer.Close()
	}
	p.Trainer = nil
	return attempt.New(x)
}

// Request fills in what a trial needs if that depends on its parameters (B-038).
func (p *Set) Request(g *core.Suggestion) error {
	e := p.setup.Plan.Experiment
	if len(e.Computed) == 0 {
		return p.Requesting.Fill(g)
	}
	r, err := request.For(e, g.Params)
	g.Request = &r
	return err
}

// requesting takes over a trainable that computes what trials need. The file must not request
// resources, too.
func (p *Set) requesting(t plugin.Trainer) (*attempt.Requesting, error) {
	o := p.Opener()
	ref, _, err := o.TrainableRef()
	if err != nil {
		return nil, err
	}
	if at := p.setup.Plan.Experiment.Requested; at != nil {
		return nil, usererror.Wrap(&config.Error{Pos: *at, Msg: fmt.Sprintf(
			"the trainable %q (%s) computes by itself what each trial needs, and here the file says it, too: take "+
				"this out", ref.Name, ref.Pos)})
	}
	limit := o.Limit(sdk.KindTrainable, ref, deadlines.Request)
	return attempt.NewRequesting(ref.Name, t, o.FirstTrainable, limit), nil
}

// pausesAt begins a warning about pauses that are not held in memory.
func (p *Set) pausesAt() string {
	return p.setup.Plan.Experiment.PosOf("checkpoint.pauses").String() + ": checkpoint.pauses: memory has no effect: "
}

// holdStates returns the memory for pauses whose state is held in memory (B-052); nil if pauses are
// saved on disk.
func (p *Set) holdStates(saves bool) *storage.Memory {
	b := p.setup
	if !b.Plan.Experiment.Checkpoint.PausesInMemory || !b.Kept() {
		return nil
	}
	if !saves {
		if b.Plan.Experiment.Trainable.Plugin == nil {
			return nil // a warning about the file says so
		}
		b.Log.Warn(p.pausesAt() + "the trainable makes its checkpoints itself, on disk; trials continue from the " +
			"last of them after a pause")
		return nil
	}
	m, err := storage.OpenMemory()
	if err != nil {
		b.Log.Warn(p.pausesAt() + "pauses are saved on disk: " + err.Error())
		return nil
	}
	return m
}
