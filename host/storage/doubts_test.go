//go:build unix

package storage

import (
	"errors"
	"os"
	"strings"
	"testing"
)

// A directory that others can write to is refused; if the user trusts it, there is a warning.
func TestCheckOwnership(t *testing.T) {
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
	if err := d.CheckOwnership(); err == nil || err.Error() != open[0] {
		t.Errorf("%v, want %q", err, open[0])
	}
	if err := errors.Join(os.Chmod(d.Path(), 0o700), os.Mkdir(d.Trials(), 0o700), d.CheckOwnership()); err != nil {
		t.Error(err)
	}
	if err := os.Chmod(d.Trials(), 0o777); err != nil || d.CheckOwnership() == nil {
		t.Errorf("trials is everybody's: %v", err)
	}
}
