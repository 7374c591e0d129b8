package link

import (
	"errors"
	"strings"
	"testing"
)

// An agent without a host says which addresses it has tried, and why each failed, and ends after its grace.
func TestUnreachable(t *testing.T) {
	w := openHub(t, t.TempDir())
	ticket := w.expect("th-1", 1)
	_ = w.Close()
	ticket.Dial = []string{ticket.Dial[0], "no-such-host.invalid:1"}
	ticket.File, ticket.GraceSeconds = "", 0.3
	err := <-run(t, ticket, 0).ended
	var unreachable *UnreachableError
	if !errors.As(err, &unreachable) || len(unreachable.Tried) != 2 || strings.Contains(err.Error(), "\n") ||
		!strings.Contains(err.Error(), ticket.Dial[0]+": connect: connection refused") {
		t.Error(err)
	}
}

// The addresses of the host that runs now are in a file, for agents on the same file system.
func TestAddressesInFile(t *testing.T) {
	dir := t.TempDir()
	w := openHub(t, dir)
	ticket := w.expect("th-1", 1)
	ticket.Dial = []string{"127.0.0.1:1"} // where the host no longer is
	run(t, ticket, 0)
	w.next(Connected)
}
