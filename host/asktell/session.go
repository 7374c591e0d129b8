package asktell

import (
	"context"
	"errors"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/compose"
	"github.com/tunehost/tunehost/host/options"
	"github.com/tunehost/tunehost/host/prepare"
	"github.com/tunehost/tunehost/host/steer"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// Session is an experiment whose trials the caller trains, for servers. It is for one goroutine at a time.
type Session struct {
	m *manual
	// Before are the trials that were with a caller when the last session ended, with their attempts.
	Before map[core.TrialNo]uint32
}

// Start begins the experiment of the options' file or text, or resumes it.
func Start(ctx context.Context, o options.Options) (*Session, error) {
	o.Mode.Manual = true
	p, err := prepare.FromFile(ctx, o)
	if err != nil {
		return nil, err
	}
	return begin(ctx, p, o)
}

// Resume resumes the experiment in a directory.
func Resume(ctx context.Context, dir string, o options.Options) (*Session, error) {
	o.Mode.Manual = true
	p, err := prepare.FromDir(ctx, dir, &o)
	if err != nil {
		return nil, err
	}
	return begin(ctx, p, o)
}

func begin(ctx context.Context, p *prepare.Plan, o options.Options) (*Session, error) {
	m := newManual()
	c, err := compose.Begin(ctx, p, o, compose.How{Ports: m.ports})
	if err != nil {
		return nil, err
	}
	s := &Session{m, map[core.TrialNo]uint32{}}
	for no := range core.TrialNo(m.machine.Trials()) {
		v := m.machine.View(no)
		if v.State == core.Running || v.State == core.Pending && v.Attempt > 0 && v.Cause.Kind == core.CauseNone {
			s.Before[no] = v.Attempt // one that was taken back, paused or failed has a cause
		}
	}
	m.Publish()
	if err := m.runUntilIdle(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return s, nil
}

// Handle implements [Handler].
func (s *Session) Handle(ctx context.Context, r Request) (Answer, error) { return s.m.Handle(ctx, r) }

// Tick does what is due.
func (s *Session) Tick(ctx context.Context) error { return s.m.catchUp(ctx, Request{}) }

// TakeBack ends the attempt of a trial whose worker was not heard of for so long. That is no failure of the trial: a
// later ask returns it.
func (s *Session) TakeBack(ctx context.Context, no core.TrialNo, silent time.Duration) error {
	attempt, ok := s.m.hands[no]
	if !ok {
		return nil
	}
	delete(s.m.hands, no)
	delete(s.m.stops, no)
	return s.m.postAndRun(ctx, &core.AttemptEnded{Trial: no, Attempt: attempt, Interrupted: true,
		Cause: core.Cause{Kind: core.CauseSilent, By: "worker", NS: int64(silent)}})
}

// Find returns the trial that a caller names.
func (s *Session) Find(name string) (core.TrialNo, error) { return s.m.Views.State.Find(name) }

// View returns a trial, and whether the caller has it.
func (s *Session) View(no core.TrialNo) (v core.View, inHand bool) {
	_, inHand = s.m.hands[no]
	return s.m.machine.View(no), inHand
}

// News reports whether metrics differ from those that a trial has reported last.
func (s *Session) News(no core.TrialNo, metrics []sdk.Metric) bool {
	return len(metrics) > 0 && s.m.isNews(no, Request{Metrics: metrics})
}

// TrialName returns how messages name a trial.
func (s *Session) TrialName(no core.TrialNo) string { return s.m.Views.Trials.Name(no) }

// Ended returns how the experiment has ended; 0: it has not.
func (s *Session) Ended() core.Outcome {
	o, _ := s.m.machine.Outcome()
	return o
}

// Interrupted reports whether the user has interrupted the experiment.
func (s *Session) Interrupted() bool {
	ending, _ := s.m.machine.Ending()
	return s.Ended() == core.InterruptedByUser || ending == core.InterruptedByUser
}

// Warn writes to the experiment's log.
func (s *Session) Warn(text string) { s.m.Log.Warn(text) }

// Dir returns the directory of the experiment.
func (s *Session) Dir() storage.Dir { return s.m.Dir }

// Steer returns what carries out requests, between two calls of the session.
func (s *Session) Steer() steer.Handler {
	return &steer.Live{Facts: s.m.Views.Facts, Host: port{s.m}, Settings: s.m.Settings(),
		Elapsed: func() time.Duration { return s.m.Engine().Running() }}
}

// Close saves the experiment. Trials of the caller continue at their iteration when it is resumed.
func (s *Session) Close() error {
	err := s.m.close()
	s.m.Drivers.PublishRest()
	return errors.Join(err, s.m.step(), s.m.Session.Close())
}

// port is a session as package steer sees it.
type port struct{ m *manual }

// Look implements steer.Host.
func (p port) Look(f func(*view.State)) error {
	f(p.m.Views.State)
	return nil
}

// Post implements steer.Host.
func (p port) Post(e core.Event, open func() bool, f func(*view.State)) error {
	if open != nil && !open() {
		return steer.ErrGivenUp
	}
	if o, _ := p.m.machine.Outcome(); o != 0 {
		return core.ErrFinished
	}
	if err := p.m.postAndRun(context.Background(), e); err != nil {
		return err
	}
	f(p.m.Views.State)
	return nil
}

// Leave implements steer.Host: nothing waits between two calls of the session.
func (p port) Leave() {}

// Waits implements steer.Host.
func (p port) Waits() bool { return false }

// Fill implements steer.Host.
func (p port) Fill(g *core.Suggestion) error { return p.m.Plugins.Request(g) }
