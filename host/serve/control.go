package serve

import (
	"errors"

	"github.com/tunehost/tunehost/host/steer"
	"github.com/tunehost/tunehost/host/steer/unixsock"
	"github.com/tunehost/tunehost/host/storage"
)

// controlled lets commands such as `tunehost stop` steer an experiment for workers, as they steer a host. Without that,
// its workers and pages go on.
func controlled(d storage.Dir, h steer.Handler) (stop func(), err error) {
	l, remove, err := unixsock.Listen()
	if err != nil {
		return func() {}, err
	}
	hide, err := unixsock.Announce(d, l)
	if err != nil {
		_ = l.Close()
		remove()
		return func() {}, err
	}
	served := make(chan error, 1)
	go func() { served <- unixsock.Serve(l, h) }()
	return func() {
		hide()
		_ = errors.Join(l.Close(), <-served) // nobody waits for an answer any more
		remove()
	}, nil
}
