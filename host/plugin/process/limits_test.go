package process

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"
	"testing"
)

// The error of a program that cannot start because of a limit names the limit.
func TestLimitsAreNamed(t *testing.T) {
	for limit, err := range map[string]error{"ulimit -n": syscall.EMFILE, "ulimit -u": syscall.EAGAIN} {
		got := (&Program{}).notExecuted(&fs.PathError{Op: "fork/exec", Path: "/proc/self/exe", Err: err})
		if !strings.HasSuffix(got, "("+limit+")") {
			t.Errorf("%v: %s", err, got)
		}
	}
	if got := limitOf(errors.New("another")); got != "" {
		t.Error(got)
	}
	if line := parseLine([]byte("fatal error: newosproc")); line.Level != "error" ||
		!strings.HasSuffix(line.Text, "(ulimit -u)") {
		t.Errorf("%+v", line)
	}
}
