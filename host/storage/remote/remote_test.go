package remote_test

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/tunehost/tunehost/host/storage/remote"
)

// An error about a copy that is removed names the place in the storage, and stays what it is.
func TestNamed(t *testing.T) {
	about := fmt.Errorf("/tmp/copy/e/journal: 00000000000000000001.tj: %w", fs.ErrNotExist)
	const copied, url = "/tmp/copy/e", "file:///mnt/e"
	err := remote.Named(about, copied, url)
	if err.Error() != url+"/journal: 00000000000000000001.tj: file does not exist" || !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	other := errors.New("another")
	if remote.Named(nil, copied, url) != nil || remote.Named(other, copied, url) != other {
		t.Error("an error about something else is changed")
	}
}
