package command

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tunehost/tunehost/internal/plainfile"
)

// A starvedError is the failure of a program that had reported nothing when the system refused it a
// process or thread. This is temporary while others run.
type starvedError struct {
	error
	words string
}

// Unwrap returns the failure.
func (e *starvedError) Unwrap() error { return e.error }

func (e *starvedError) hint() string {
	return fmt.Sprintf("a program had no room for its processes (%s): it is started again when another trial has "+
		"ended; "+
		"set concurrency, or raise the limit (ulimit -u)", e.words)
}

// Messages of programs in C, Go, Python, Rust and shells about lacking resources.
var (
	noProcess = []string{"resource temporarily unavailable", "failed to create new os thread", "can't start new thread",
		"cannot fork",
		"cannot allocate memory"}
	noRoom = []string{"no space left on device", "disk quota exceeded"}
)

// whatLacked detects whether a program failed for lack of processes, which is not the fault of its
// trial, or of disk space, which the host's own disk need not show.
func (a *attempt) whatLacked(err error) error {
	if err == nil || a.hung || a.killed || a.results.stopError() != nil {
		return err
	}
	words := a.stderr.tail()
	if a.stderr.File == nil {
		words = a.stderrTail.bytes()
	}
	if line := lineWith(words, noRoom); line != "" {
		a.results.hint("room", "there is no space left where the program writes (%s): free some space there, or "+
			"each trial may fail; failures: {fail_fast: true} stops at the first failure", line)
	} else if cause := noRoomIn(a.trial.Dir); cause != nil {
		a.results.hint("room", "a program failed while there is no space left on the disk of the experiment (%v), "+
			"which may be why: free some space there, or each trial may fail; failures: {fail_fast: true} stops at "+
			"the first failure", cause)
	}
	if line := lineWith(words, noProcess); line != "" && !a.results.any() && !a.isGang() {
		return &starvedError{err, line}
	}
	return err
}

// enough is how much a program surely can write where the disk is not full.
const enough = 64 << 10

// noRoomIn tries whether a program can write in a folder, and returns why it cannot: on a full disk, its last words are
// lost as well. Only a write finds out that a quota is used up.
func noRoomIn(dir string) error {
	name := filepath.Base(plainfile.Temporary("room"))
	f, err := openOwn(dir, name, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err == nil {
		_, err = f.Write(make([]byte, enough))
		err = errors.Join(err, f.Close(), os.Remove(filepath.Join(dir, name)))
	}
	if full(err) {
		return cause(err)
	}
	return nil
}

// lineWith returns the last line that contains one of the words.
func lineWith(text []byte, words []string) (found string) {
	for line := range bytes.Lines(text) {
		lower := strings.ToLower(string(line))
		if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(lower, w) }) {
			found = strings.TrimSpace(string(line))
		}
	}
	return found[:min(len(found), maxLackBytes)]
}

// maxLackBytes is how much of a program's output a hint contains.
const maxLackBytes = 200
