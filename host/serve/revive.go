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
// server.
func (s *Server) resume(ctx context.Context, in *OneRequest) (x done, err error) {
	var dir string
	var paused bool
	err = s.with(in.Name, func(e *experiments.Shared) error {
		if e.IsElsewhere() {
			return elsewhere(e, "an experiment can be controlled only there: `tunehost resume "+e.Place()+"` on this "+
				"machine takes it over, if no host runs it")
		}
		if s.handlerOf(e) != nil || e.Runs() {
			return nil
		}
		if err := experiments.Room(e.Dir.Path()); err != nil {
			return problem.Of(err)
		}
		resumable, err := e.Resumable()
		if err != nil || !resumable {
			return err
		}
		if manual(e) {
			_, err := s.workers(e)
			return err
		}
		dir = e.Dir.Path()
		return e.Look(func(s *view.State) { paused = s.Machine.Paused() })
	})
	switch {
	case err != nil:
		return x, err
	case dir == "":
		return s.about(in.Name, "continuing", steer.Unpause{})
	}
	args := []string{"resume", dir, "-v", "0"}
	if _, err = spawn.Host(ctx, args, nil, func() ([]string, error) { return []string{dir}, nil }); err != nil {
		return x, problem.Later(err) // resuming twice is the same as once
	}
	x.Message = fmt.Sprintf("the experiment %s has a host again", in.Name)
	return x, s.reached(ctx, in.Name, paused)
}

// manual reports whether workers train the trials.
func manual(e *experiments.Shared) (yes bool) {
	err := e.Look(func(s *view.State) { yes = s.Machine.Spec().Manual })
	return yes && err == nil
}

// listens is how often the server looks whether a new host takes requests, patience how long.
const (
	listens  = 50 * time.Millisecond
	patience = 30 * time.Second
)

// reached waits until a host that has just started takes requests, and continues the experiment if it is paused.
func (s *Server) reached(ctx context.Context, name string, paused bool) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		err := s.with(name, func(e *experiments.Shared) error {
			h, done, err := s.handler(e)
			if err != nil {
				return problem.Later(err)
			}
			defer done()
			if paused {
				_, err = h.Do(steer.Unpause{})
			}
			return err
		})
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(listens):
		}
	}
}
