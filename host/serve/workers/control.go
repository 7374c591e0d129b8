package workers

import (
	"errors"
	"sync"

	"github.com/tunehost/tunehost/host/steer/unixsock"
)

// Listen lets commands such as `tunehost stop` steer the experiment, as they steer a host, until it is closed. Without
// that, workers and pages go on.
func (w *Workers) Listen() error {
	l, remove, err := unixsock.Listen()
	if err != nil {
		return err
	}
	hide, err := unixsock.Announce(w.session.Dir(), l, w.session.Warn)
	if err != nil {
		remove()
		return errors.Join(err, l.Close())
	}
	served := make(chan error, 1)
	go func() { served <- unixsock.Serve(l, w) }()
	w.deaf = sync.OnceFunc(func() {
		hide()
		_ = errors.Join(l.Close(), <-served) // nobody waits for an answer any more
		remove()
	})
	return nil
}
