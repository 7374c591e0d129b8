package host

import (
	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/history"
	"github.com/tunehost/tunehost/host/inbox"
	"github.com/tunehost/tunehost/host/steer"
	"github.com/tunehost/tunehost/host/view"
)

// looking is the session as readers and steerers see it.
type looking struct {
	s *session
	// over is closed when the loop has ended.
	over <-chan struct{}
}

var (
	_ view.Source = (*looking)(nil)
	_ steer.Host  = (*looking)(nil)
)

// Look implements view.Source: f is called between two steps of the loop.
func (c *looking) Look(f func(*view.State)) error {
	return c.do(inbox.News{}, f)
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

// Post implements steer.Host.
func (c *looking) Post(e core.Event, f func(*view.State)) error {
	return c.do(inbox.News{Event: e}, f)
}

// Fill implements steer.Host.
func (c *looking) Fill(g *core.Suggestion) error { return c.s.request(g) }

// do has the loop take some news, and then calls f between two of its steps.
func (c *looking) do(x inbox.News, f func(*view.State)) error {
	done := make(chan struct{})
	news := []inbox.News{{Query: func(*core.Machine) { f(c.s.state); close(done) }}}
	if x.Event != nil {
		news = []inbox.News{x, news[0]}
	}
	c.s.inbox.Add(news)
	select {
	case <-done:
		return nil
	case <-c.over:
		return core.ErrFinished
	}
}
