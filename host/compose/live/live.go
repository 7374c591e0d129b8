// Package live is how readers and other commands reach an experiment that a host runs: what it looks
// like, what can be done to it, and what its user is told when it is to end.
package live

import (
	"errors"
	"fmt"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/history"
	"github.com/tunehost/tunehost/host/compose/setup"
	"github.com/tunehost/tunehost/host/compose/views"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/inbox"
	"github.com/tunehost/tunehost/host/options"
	"github.com/tunehost/tunehost/host/report/publish"
	"github.com/tunehost/tunehost/host/steer"
	"github.com/tunehost/tunehost/host/steer/unixsock"
	"github.com/tunehost/tunehost/host/storage/diskspace"
	"github.com/tunehost/tunehost/host/view"
)

// Host is a host that runs, as readers and those who steer it see it.
type Host struct {
	Setup *setup.Setup
	Views *views.Views
	Inbox *inbox.Inbox
	// Request says what a trial needs where that depends on its parameters.
	Request func(*core.Suggestion) error
	// Rules are those of the core, and Spec what it is given where the experiment's file is another.
	Rules core.Rules
	Spec  func(*config.Experiment, core.Rules) (core.Spec, error)
	// Handler is what can be done to the experiment; Steer makes it.
	Handler steer.Handler
	// Over is closed when the loop has ended.
	Over <-chan struct{}
	// EndIfFull makes the loop end where it would wait for room on a full disk.
	EndIfFull func()
	// Saving returns how many bytes of how many of a trial's checkpoint are saved; total is 0 if that is not known.
	// nil: it never is.
	Saving func(core.TrialNo) (done, total int64)
}

var (
	_ view.Source = (*Host)(nil)
	_ steer.Host  = (*Host)(nil)
)

// Look implements view.Source: f is called between two steps of the loop.
func (h *Host) Look(f func(*view.State)) error {
	return h.do(nil, nil, f)
}

// Past implements view.Source.
func (h *Host) Past() (*history.History, error) { return h.Setup.Past() }

// Running implements view.Source.
func (h *Host) Running() bool {
	select {
	case <-h.Over:
		return false
	default:
		return true
	}
}

// Post implements steer.Host.
func (h *Host) Post(e core.Event, open func() bool, f func(*view.State)) error {
	if open == nil {
		open = func() bool { return true }
	}
	return h.do(e, open, f)
}

// Leave implements steer.Host.
func (h *Host) Leave() { h.EndIfFull() }

// Waits implements steer.Host.
func (h *Host) Waits() bool { return h.Setup.Disk.Waits() }

// Fill implements steer.Host.
func (h *Host) Fill(g *core.Suggestion) error { return h.Request(g) }

// do adds an event to the inbox, if there is one, and calls f between two steps of the loop unless it is refused.
func (h *Host) do(e core.Event, open func() bool, f func(*view.State)) error {
	done := make(chan struct{})
	var refused error // by the loop, which then calls the query
	items := []inbox.Item{{Query: func(*core.Machine) {
		if refused == nil {
			f(h.Views.State)
		}
		close(done)
	}}}
	if e != nil {
		claim := &inbox.Claim{Open: open, Refused: func(err error) { refused = err }}
		items = []inbox.Item{{Event: e, Claim: claim}, items[0]}
	}
	h.Inbox.Add(items)
	select {
	case <-done:
		return refusal(refused)
	case <-h.Over:
		return core.ErrFinished
	}
}

// refusal is the error for who waited for an event that the loop has refused.
func refusal(err error) error {
	switch {
	case errors.Is(err, inbox.ErrGivenUp):
		return steer.ErrGivenUp
	case diskspace.IsFull(err):
		return &steer.BusyError{What: fmt.Sprintf("nothing was changed, because it cannot be recorded now (%v): free "+
			"some space and try again", err)}
	}
	return err
}

// Follow follows the events of this host, from the one after on.
func (h *Host) Follow(p *publish.Publisher, after uint64) *view.Follower {
	feed := view.NewFeed(after)
	p.Listen(feed)
	return view.New(h.Views.Facts, h).Follow(after, feed)
}

// Started is what the caller is given of an experiment that starts to run; ended is closed when all
// of it is written. It is called before anything is published.
func (h *Host) Started(p *publish.Publisher, after uint64, ended <-chan struct{}) *options.Running {
	feed := view.NewFeed(after)
	p.Listen(feed)
	return options.NewRunning(view.New(h.Views.Facts, h), h.Handler, ended, feed)
}

// Steer makes the handler of what can be done to the experiment, until the loop is over.
func (h *Host) Steer(elapsed func() time.Duration) {
	live := &steer.Live{Facts: h.Views.Facts, Host: h, Elapsed: elapsed}
	live.Settings = h.Settings()
	h.Handler = live
}

// Settings returns what changes the settings of the experiment; nil: nothing is stored for later hosts.
func (h *Host) Settings() steer.Settings {
	if !h.Setup.Kept() {
		return nil
	}
	return &settings{host: h}
}

// Listen lets other commands steer this host. An experiment runs also without that.
func (h *Host) Listen() (stop func()) {
	log := h.Setup.Log
	l, remove, err := unixsock.Listen()
	if err != nil {
		log.Warn("this experiment cannot be controlled by other commands: " + err.Error())
		return func() {}
	}
	hide, err := unixsock.Announce(h.Setup.Dir, l, func(text string) { log.Warn(text) })
	if err != nil {
		log.Warn("this experiment cannot be controlled by other commands: " + err.Error())
		hide = func() {}
	}
	served := make(chan error, 1)
	go func() {
		served <- unixsock.Serve(l, h.Handler)
	}()
	return func() {
		hide()
		err := errors.Join(l.Close(), <-served)
		remove()
		if err != nil {
			log.Debug(err.Error())
		}
	}
}
