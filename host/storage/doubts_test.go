//go:build unix

package storage

import (
	"errors"
	"os"
	"strings"
	"testing"
)

// A directory that others can write to is refused; where the user trusts it, he is told.
func TestOurs(t *testing.T) {
	d, err := At(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	private := d.Doubts()
	if err := os.Chmod(d.Path(), 0o777); err != nil {
		t.Fatal(err)
	}
	open := d.Doubts()
	if len(open) != len(private)+1 || !strings.HasPrefix(open[0], d.Path()) {
		t.Errorf("%q, and writable to everybody %q", private, open)
	}
	if err := d.Ours(); err == nil || err.Error() != open[0] {
		t.Errorf("%v, want %q", err, open[0])
	}
	if err := errors.Join(os.Chmod(d.Path(), 0o700), os.Mkdir(d.Trials(), 0o700), d.Ours()); err != nil {
		t.Error(err)
	}
	if err := os.Chmod(d.Trials(), 0o777); err != nil || d.Ours() == nil {
		t.Errorf("trials is everybody's: %v", err)
	}
}
