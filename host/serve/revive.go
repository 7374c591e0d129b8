package serve

import (
	"context"
	"fmt"
	"time"

	"github.com/tunehost/tunehost/host/serve/experiments"
	"github.com/tunehost/tunehost/host/serve/problem"
	"github.com/tunehost/tunehost/host/serve/spawn"
	"github.com/tunehost/tunehost/host/steer"
	"github.com/tunehost/tunehost/host/view"
)

// resume continues a paused experiment. One that no host runs gets a host of its own, which does not end with the
// server; if workers train its trials, this server is its host.
func (s *Server) resume(ctx context.Context, in *OneRequest) (x done, err error) {
	var r revival
	err = s.with(in.Name, func(e *experiments.Shared) (err error) {
		r, err = s.revive(e)
		return err
	})
	switch {
	case err != nil:
		return x, err
	case !r.rested:
		return s.about(in.Name, "continuing", steer.Unpause{})
	}
	x.Message = fmt.Sprintf("the experiment %s has a host again", in.Name)
	if r.here {
		if r.paused {
			a, failed := s.do(in.Name, steer.Unpause{})
			x.Warnings, err = a.Warnings, failed
		}
		return x, err
	}
	args := []string{"resume", r.dir, "-v", "0"}
	if _, err = spawn.Host(ctx, args, nil, func() ([]string, error) { return []string{r.dir}, nil }); err != nil {
		return x, problem.Unresumed(r.dir, err)
	}
	x.Warnings, err = s.reached(ctx, in.Name, r.paused)
	return x, err
}

// revival is how an experiment gets a host again.
type revival struct {
	dir string
	// rested: no host ran it, and one has something to do.
	rested bool
	// paused: it was paused when its last host ended.
	paused bool
	// here: this server is its host now.
	here bool
}

// revive finds out what an experiment needs to continue. One whose trials workers train is resumed here.
func (s *Server) revive(e *experiments.Shared) (r revival, err error) {
	if e.IsElsewhere() {
		return r, elsewhere(e, "an experiment can be controlled only there: `tunehost resume "+e.Place()+"` on this "+
			"machine takes it over, if no host runs it")
	}
	if s.handlerOf(e) != nil || e.Runs() {
		return r, nil
	}
	if err := experiments.Room(e.Dir.Path()); err != nil {
		return r, problem.Of(err)
	}
	if r.rested, err = e.Resumable(); err != nil || !r.rested {
		return r, err
	}
	r.dir = e.Dir.Path()
	err = e.Look(func(s *view.State) { r.paused = s.Machine.Paused() })
	if err == nil && e.Manual() {
		r.here = true
		_, err = s.workers(e, true)
	}
	return r, err
}

// listens is how often the server looks whether a new host takes requests, patience how long.
const (
	listens  = 50 * time.Millisecond
	patience = 30 * time.Second
)

// reached waits until a host that has just started takes requests, and continues the experiment if it is paused.
func (s *Server) reached(ctx context.Context, name string, paused bool) (warnings []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		err := s.with(name, func(e *experiments.Shared) error {
			h, done, err := s.handler(e)
			if err != nil {
				return refused(nil, err)
			}
			defer done()
			if paused {
				var a steer.Answer
				a, err = h.Do(steer.Unpause{})
				warnings = a.Warnings
			}
			return err
		})
		if err == nil {
			return warnings, nil
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(listens):
		}
	}
}
