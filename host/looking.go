package host

import (
	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/history"
	"github.com/tunehost/tunehost/host/inbox"
	"github.com/tunehost/tunehost/host/view"
)

// looking is the session as readers and steerers see it.
type looking struct {
	s *session
	// over is closed when the loop has ended.
	over <-chan struct{}
}

var _ view.Source = (*looking)(nil)

// Look implements view.Source: f is called between two steps of the loop.
func (c *looking) Look(f func(*view.State)) error {
	return c.look(func(*core.Machine) { f(c.s.state) })
}

// Past implements view.Source.
func (c *looking) Past() (*history.History, error) { return c.s.past() }

// Running implements view.Source.
func (c *looking) Running() bool {
	select {
	case <-c.over:
		return false
	default:
		return true
	}
}

// look calls f with the machine, between two steps of the loop.
func (c *looking) look(f func(*core.Machine)) error {
	seen := make(chan struct{})
	c.s.inbox.Add([]inbox.News{{Query: func(m *core.Machine) { f(m); close(seen) }}})
	select {
	case <-seen:
		return nil
	case <-c.over:
		return core.ErrFinished
	}
}
