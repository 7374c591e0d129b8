package nodefiles

import (
	"context"
	"time"

	"github.com/tunehost/tunehost/host/agent/link"
)

// done is a context that ends with a connection.
type done struct{ session link.Session }

var _ context.Context = done{}

func (d done) Done() <-chan struct{}     { return d.session.Done() }
func (done) Deadline() (time.Time, bool) { return time.Time{}, false }
func (done) Value(any) any               { return nil }

func (d done) Err() error {
	select {
	case <-d.session.Done():
		return context.Canceled
	default:
		return nil
	}
}
