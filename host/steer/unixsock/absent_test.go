package unixsock

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/host/steer"
	"github.com/tunehost/tunehost/host/storage"
)

// A process that looks for the host of an experiment which it is just opening itself, as a server for workers does, is
// told to try again, and not to end itself.
func TestAbsentSelf(t *testing.T) {
	d, err := storage.At(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	lock, err := journal.LockDir(d.Path(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Unlock() }()
	_, err = Dial(d)
	var busy *steer.BusyError
	if !errors.As(err, &busy) || !strings.Contains(err.Error(), "a host of this experiment is just starting") {
		t.Error(err)
	}
}
