package view

import (
	"errors"

	"github.com/tunehost/tunehost/core/history"
	"github.com/tunehost/tunehost/host/view/course"
)

// Past is what has happened in an experiment so far, for answers that its state alone cannot give.
type Past struct {
	*course.Course
	lineage *lineageBuilder
}

// newPast returns the past of an experiment of which nothing was read.
func newPast() *Past { return &Past{course.New(), newLineageBuilder()} }

func (p *Past) after(s *State, x *history.Step) {
	p.Course.After(x)
	p.lineage.after(x, s.Config.Objectives[0].Metric)
}

// Bytes estimates how much memory it takes.
func (p *Past) Bytes() int64 {
	return p.Course.Bytes() + int64(len(p.lineage.legs))*100 + int64(len(p.lineage.made))*48
}

// Remembering is a [Source] that keeps the past of its experiment, so that the record is read once for
// all answers. Recall calls f as Look does.
type Remembering interface {
	Source
	Recall(f func(*State, *Past)) error
}

// recall calls f with the past of the experiment.
func (e *Experiment) recall(f func(*State, *Past) error) (err error) {
	if r, ok := e.source.(Remembering); ok {
		failed := r.Recall(func(s *State, p *Past) { err = f(s, p) })
		return errors.Join(failed, err)
	}
	p := newPast()
	var last *State
	walked := e.walk(func(s *State, x *history.Step) error {
		p.after(s, x)
		last = s
		return nil
	})
	switch {
	case walked != nil:
		return walked
	case last != nil:
		last.left = !e.source.Running()
		return f(last, p)
	}
	failed := e.source.Look(func(s *State) { err = f(s, p) })
	return errors.Join(failed, err)
}
