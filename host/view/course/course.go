package course

import (
	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/history"
)

// Course is what has happened so far. It is for one goroutine at a time.
type Course struct {
	Results
	Endings
	Runs
	Decisions
	Givens
}

// New returns the course of an experiment of which nothing was read.
func New() *Course { return &Course{} }

// After takes the next step of the record.
func (c *Course) After(x *history.Step) {
	c.Decisions.event(x)
	c.Givens.event(x)
	if _, ok := x.Event.(*core.HostStarted); ok {
		c.Results.hosts++
	}
	for _, a := range x.Actions {
		switch a := a.(type) {
		case *core.Tell:
			c.told(x, &a.Observation)
		}
		c.Runs.did(x, a)
	}
	c.Runs.event(x)
}

func (c *Course) told(x *history.Step, o *core.Observation) {
	if o.Learned {
		return
	}
	switch o.Kind {
	case core.SawStarted: // an attempt that was ordered and never started takes nothing back
		v := x.Machine.View(o.Trial)
		c.Results.rewind(o.Trial, v.Since, v.At)
	case core.SawResult:
		c.Results.add(x, o)
		c.Decisions.result(o)
	case core.SawCompleted, core.SawFailed, core.SawRemoved:
		if o.Runs == 0 {
			c.Endings.end(o.Trial, x.Machine.Now())
			c.Results.clip(o.Trial)
		}
	}
}

// Bytes estimates how much memory it takes.
func (c *Course) Bytes() int64 {
	return c.Results.bytes() + c.Endings.bytes() + c.Runs.bytes() + c.Decisions.bytes() + c.Givens.bytes()
}
