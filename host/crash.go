package host

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/nolink"
)

// crashReport is a file that waits for the host itself to fail: the runtime
// writes there what it says on the terminal, whatever goroutine it is that fails,
// and whatever the reason. A host that ends in order takes the file away, so
// that one with something in it is one that nobody has read yet.
type crashReport struct {
	file *os.File
	path string
}

// maxCrash is longer than what the runtime has to say.
const maxCrash = 64 << 20

// crashMark ends what is written ahead.
const crashMark = "---- what went wrong:\n"

// expectCrash makes the report's file. Without one the host runs all the same.
func (s *session) expectCrash() {
	s.tellCrash()
	keepOther(s.dir)
	f, err := nolink.Create(s.dir.Crash(), 0o600)
	if err == nil {
		_, err = fmt.Fprintf(f, crashHead+"what was recorded is kept. Please report it with this file.\n"+
			"tunehost %s, %s, %s/%s, %d CPUs\nprocess %d, which began %s\n%s",
			Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(),
			os.Getpid(), s.clock.Now().UTC().Format(time.RFC3339), crashMark)
	}
	if err == nil {
		err = debug.SetCrashOutput(f, debug.CrashOptions{})
	}
	if err != nil {
		_ = f.Close() // nil where there is none
		s.log.Warn("there will be no report if tunehost itself fails: " + err.Error())
		return
	}
	s.crash = &crashReport{f, s.dir.Crash()}
}

// tellCrash says that an earlier host has failed, and keeps its report.
func (s *session) tellCrash() {
	if kept := keepCrash(s.dir); kept != "" {
		s.log.Warn("the last host of this experiment failed; its report is " + kept + ": please send it to tunehost's authors. The experiment goes on")
	}
}

// keepCrash gives a report that says something a name of its own, and returns
// that; one that says nothing is of a host that was killed.
func keepCrash(d storage.Dir) string {
	text, err := nolink.ReadFile(d.Crash(), maxCrash)
	if _, found, ok := bytes.Cut(text, []byte(crashMark)); err != nil || !ok || len(found) == 0 {
		return ""
	}
	info, err := nolink.Lstat(d.Crash())
	if err != nil {
		return ""
	}
	kept := strings.TrimSuffix(d.Crash(), ".txt") + "-" + info.ModTime().UTC().Format(crashTime) + ".txt"
	if nolink.Rename(d.Crash(), kept) != nil {
		return d.Crash()
	}
	return kept
}

// crashTime is the form of the time in a kept report's name.
const crashTime = "20060102-150405"

// keptCrashes are the reports of an experiment, oldest first. Another file of a similar
// name is none.
func keptCrashes(d storage.Dir) (paths []string) {
	list, _ := nolink.ReadDir(d.Path()) // what cannot be listed is said elsewhere
	for _, e := range list {
		at, named := strings.CutPrefix(e.Name(), "crash-")
		if _, err := time.Parse(crashTime+".txt", at); !named || err != nil {
			continue
		}
		path := filepath.Join(d.Path(), e.Name())
		if text, err := nolink.ReadFile(path, maxCrash); err == nil && bytes.HasPrefix(text, []byte(crashHead)) {
			paths = append(paths, path)
		}
	}
	return paths
}

// crashHead begins every report.
const crashHead = "tunehost itself has failed here; "

// keepOther gives a file that has the report's name, and is none, another one (B-155).
func keepOther(d storage.Dir) {
	text, err := nolink.ReadFile(d.Crash(), maxCrash)
	ours := err == nil && (len(text) == 0 || bytes.HasPrefix(text, []byte(crashHead)))
	if !ours && !errors.Is(err, fs.ErrNotExist) {
		_ = nolink.Rename(d.Crash(), fmt.Sprintf("%s.%d.old", d.Crash(), time.Now().UnixNano()))
	}
}

// endCrash is the end in order of a host that has, or has not, failed.
func (s *session) endCrash() {
	if s.crash == nil {
		return
	}
	_ = debug.SetCrashOutput(nil, debug.CrashOptions{}) // there is nothing to be done about it
	_ = s.crash.file.Close()
	if keepCrash(s.dir) == "" {
		_ = nolink.Remove(s.crash.path)
	}
	s.crash = nil
}

// FailedError is a failure of the host itself, which is a mistake in tunehost.
type FailedError struct {
	// What the runtime calls it.
	What string
	// Report is the file that says more, or "".
	Report string
	dir    string
}

func (e *FailedError) Error() string {
	return fmt.Sprintf("tunehost itself has failed (%s): please send %s to its authors; what was recorded is kept, and `tunehost resume %s` goes on",
		e.What, cmp.Or(e.Report, "this line"), e.dir)
}

// safely turns the loop. If that panics the host can still end in order: the
// record is whole, and what runs is stopped.
func (s *session) safely(turn func() error) (err error) {
	defer func() {
		if what := recover(); what != nil {
			err = s.failed(what, debug.Stack())
		}
	}()
	return turn()
}

func (s *session) failed(what any, stack []byte) error {
	e := &FailedError{What: strings.ReplaceAll(fmt.Sprint(what), "\n", "; "), dir: s.dir.Path()}
	if s.crash == nil {
		return e
	}
	if _, err := fmt.Fprintf(s.crash.file, "panic: %v\n\n%s", what, stack); err == nil {
		e.Report = cmp.Or(keepCrash(s.dir), s.crash.path)
	}
	return e
}
