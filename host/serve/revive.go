package serve

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/options"
	"github.com/tunehost/tunehost/host/serve/experiments"
	"github.com/tunehost/tunehost/host/serve/problem"
	"github.com/tunehost/tunehost/host/serve/spawn"
	"github.com/tunehost/tunehost/host/steer"
	"github.com/tunehost/tunehost/host/view"
)

// ResumeRequest is the body of a request to resume: which ended trials run again.
type ResumeRequest struct {
	Errored   bool `json:"errored,omitempty" doc:"run all failed trials again, from the beginning; no host may run"`
	Unstarted bool `json:"unstarted,omitempty" doc:"run the trials that ended before they started; no host may run"`
}

type resumeOne struct {
	OneRequest
	Body *ResumeRequest `required:"false"`
}

// errRuns refuses a request that only a new host can carry out.
var errRuns = problem.Conflict(errors.New("errored and unstarted: a host runs the experiment; they are for one that " +
	"no host runs"))

// resume continues a paused experiment. If no host runs it, it gets one.
func (s *Server) resume(ctx context.Context, in *resumeOne) (x done, err error) {
	var again options.Again
	if in.Body != nil {
		again.Errored, again.Unstarted = in.Body.Errored, in.Body.Unstarted
	}
	r, err := s.reviving(in.Name, &again)
	switch {
	case err != nil:
		return x, err
	case !r.rested && (again.Errored || again.Unstarted):
		return x, errRuns
	case !r.rested:
		return s.about(in.Name, "continuing", steer.Unpause{})
	}
	return s.hosted(ctx, in.Name, r, &again)
}

// runAgain starts a host that runs a failed trial again, if no host runs the experiment. rested is false if a host
// runs it.
func (s *Server) runAgain(ctx context.Context, in *retryTrial) (x done, rested bool, err error) {
	again := options.Again{Fresh: in.Body != nil && in.Body.Fresh}
	var title string
	err = s.withTrial(&in.Numbered, func(e *experiments.Shared, no core.TrialNo) error {
		rested = !e.IsElsewhere() && s.handlerOf(e) == nil && !e.Runs()
		title, again.Trials = e.TrialName(no), []string{fmt.Sprint(no)}
		t, err := e.Trial(no)
		if err == nil && t.State.Final() && t.State != core.Errored {
			return problem.Conflict(steer.NotFailed(title, core.View{State: t.State, NeverStarted: t.NeverStarted}))
		}
		rested = rested && t.State == core.Errored
		return err
	})
	if err != nil || !rested {
		return x, rested, err
	}
	r, err := s.reviving(in.Name, &again)
	if err != nil || !r.rested {
		return x, r.rested, err
	}
	r.paused = false // it stays as it is: only this trial was asked for
	x, err = s.hosted(ctx, in.Name, r, &again)
	if r.here {
		x.Message = fmt.Sprintf("%s runs again once a worker asks for it", title)
	} else {
		x.Message += ", and runs " + title + " again"
	}
	return x, true, err
}

func (s *Server) reviving(name string, again *options.Again) (r revival, err error) {
	return r, s.with(name, func(e *experiments.Shared) (err error) {
		r, err = s.revive(e, again)
		return err
	})
}

// hosted starts a host, which does not end with the server; if workers train the trials, this server is the host.
func (s *Server) hosted(ctx context.Context, name string, r revival, again *options.Again) (x done, err error) {
	x.Message = fmt.Sprintf("the experiment %s has a host again", name)
	if r.here {
		x.Message += "; its trials run as workers ask for them"
		if r.paused {
			a, failed := s.do(name, steer.Unpause{})
			x.Warnings, err = a.Warnings, failed
		}
		return x, err
	}
	args := append([]string{"resume", r.dir, "-v", "0"}, flags(again)...)
	if _, err = spawn.Host(ctx, args, nil, func() ([]string, error) { return []string{r.dir}, nil }); err != nil {
		return x, problem.Unresumed(r.dir, err)
	}
	x.Warnings, err = s.reached(ctx, name, r)
	return x, err
}

// flags are those of the command resume.
func flags(again *options.Again) (args []string) {
	for _, trial := range again.Trials {
		args = append(args, "--retry", trial)
	}
	for flag, set := range map[string]bool{"--fresh": again.Fresh, "--errored": again.Errored,
		"--unstarted": again.Unstarted} {
		if set {
			args = append(args, flag)
		}
	}
	return args
}

// revival is how an experiment gets a host again.
type revival struct {
	dir string
	// rested: no host ran it, and one has something to do.
	rested bool
	// paused: it was paused when its last host ended.
	paused bool
	// entries is how many the record had then.
	entries uint64
	// here: this server is its host now.
	here bool
}

// revive finds out what an experiment needs to continue. One whose trials workers train is resumed here.
func (s *Server) revive(e *experiments.Shared, again *options.Again) (r revival, err error) {
	if e.IsElsewhere() {
		return r, elsewhere(e, "an experiment can be controlled only there: `tunehost resume "+s.shown(e)+"` on this "+
			"machine takes it over, if no host runs it")
	}
	if s.handlerOf(e) != nil || e.Runs() {
		return r, nil
	}
	if err := experiments.Room(e.Dir.Path()); err != nil {
		return r, problem.Of(err)
	}
	if r.rested, err = e.Resumable(); err != nil {
		return r, err
	}
	if r.rested = r.rested || len(again.Trials) > 0 || again.Errored || again.Unstarted; !r.rested {
		return r, nil
	}
	r.dir = e.Dir.Path()
	err = e.Look(func(s *view.State) { r.paused, r.entries = s.Machine.Paused(), s.Entries() })
	if err == nil && e.Manual() {
		r.here = true
		_, err = s.workers(e, again)
	}
	return r, err
}

// listens is how often the server looks whether a new host takes requests, patience how long.
const (
	listens  = 50 * time.Millisecond
	patience = 30 * time.Second
)

// errNotBegun is the answer as long as the record has nothing of a host that takes requests: a status would still
// say how the experiment ended before.
var errNotBegun = errors.New("the host has not begun yet")

// reached waits until a host that has just started takes requests and is in the record, and continues the experiment if
// it is paused.
func (s *Server) reached(ctx context.Context, name string, r revival) (warnings []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		err := s.with(name, func(e *experiments.Shared) error {
			h, done, err := s.handler(e)
			if err != nil {
				return refused(nil, err)
			}
			defer done()
			begun := false
			if err := e.Look(func(s *view.State) { begun = s.Entries() > r.entries }); err != nil {
				return err
			}
			if !begun {
				return errNotBegun
			}
			if r.paused {
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
