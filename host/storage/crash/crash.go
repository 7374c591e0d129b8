// Package crash keeps reports of failures of the host itself.
package crash

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
	"sync/atomic"
	"time"

	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/hostlog"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/nolink"
	"github.com/tunehost/tunehost/host/untrusted"
)

// Report is a file for the case that the host itself fails: the runtime writes there what it
// prints on the terminal, whichever goroutine fails and for whatever reason. The runtime needs
// the file before anything fails, so it has a hidden name: users would take it for a crash. A host
// that ends in order removes the file, so a file with content is a report that nobody has read
// yet. A nil Report does nothing.
type Report struct {
	file *os.File
	dir  storage.Dir
}

// maxCrash is longer than what the runtime has to say.
const maxCrash = 64 << 20

// crashMark ends what is written ahead.
const crashMark = "---- what went wrong:\n"

// Expect creates the report's file, and warns of the report of an earlier host. Where the file
// cannot be created the host runs without a report.
func Expect(d storage.Dir, version string, c clock.Clock, log *hostlog.Log) *Report {
	warnOfEarlier(d, log)
	keepOther(d)
	f, err := nolink.Create(d.Crash(), 0o600)
	if err == nil {
		_, err = fmt.Fprintf(f, crashHead+"recorded events are kept. Please report it with this file.\n"+
			"tunehost %s, %s, %s/%s, %d CPUs\nprocess %d, which began %s\n%s",
			version, runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(),
			os.Getpid(), c.Now().UTC().Format(time.RFC3339), crashMark)
	}
	if err == nil {
		err = debug.SetCrashOutput(f, debug.CrashOptions{})
	}
	if err != nil {
		_ = f.Close() // nil if there is none
		log.Warn("there will be no report if tunehost itself fails: " + err.Error())
		return nil
	}
	r := &Report{f, d}
	last.Store(r)
	return r
}

// last is the report that was expected last in this process.
var last atomic.Pointer[Report]

// Leave closes the report of a host that its user ends at once: that is no failure.
func Leave() { last.Swap(nil).Close() }

// warnOfEarlier says that an earlier host failed, and keeps its report.
func warnOfEarlier(d storage.Dir, log *hostlog.Log) {
	if kept := keep(d); kept != "" {
		log.Warn("the last host of this experiment failed; its report is " + kept +
			": please send it to tunehost's authors. The experiment continues")
	}
}

// keep renames a report that has content, and returns its new path. An empty report is of a
// host that was killed.
func keep(d storage.Dir) string {
	path := d.Crash()
	if !unread(path) {
		return ""
	}
	info, err := nolink.Lstat(path)
	if err != nil {
		return ""
	}
	kept := filepath.Join(d.Path(), "crash-"+info.ModTime().UTC().Format(crashTime)+".txt")
	if nolink.Rename(path, kept) != nil {
		return path
	}
	return kept
}

// unread reports whether a host has failed and its report is still at a path.
func unread(path string) bool {
	text, err := nolink.ReadFile(path, maxCrash)
	_, found, ok := bytes.Cut(text, []byte(crashMark))
	return err == nil && ok && len(found) > 0
}

// crashTime is the form of the time in a kept report's name.
const crashTime = "20060102-150405"

// Reports returns the paths of all reports of an experiment, oldest first, with one that no host has
// found yet. A file of a similar name that is no report is left out.
func Reports(d storage.Dir) (paths []string) {
	list, _ := nolink.ReadDir(d.Path()) // errors of the directory are reported elsewhere
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
	if unread(d.Crash()) {
		paths = append(paths, d.Crash())
	}
	return paths
}

// crashHead begins every report.
const crashHead = "tunehost itself has failed here; "

// keepOther renames a file that has the report's name and is no report (B-155).
func keepOther(d storage.Dir) {
	text, err := nolink.ReadFile(d.Crash(), maxCrash)
	ours := err == nil && (len(text) == 0 || bytes.HasPrefix(text, []byte(crashHead)))
	if !ours && !errors.Is(err, fs.ErrNotExist) {
		_ = nolink.Rename(d.Crash(), fmt.Sprintf("%s.%d.old", d.Crash(), time.Now().UnixNano()))
	}
}

// Close ends the host in order: a report without content is removed.
func (r *Report) Close() {
	if r == nil {
		return
	}
	last.CompareAndSwap(r, nil)
	_ = debug.SetCrashOutput(nil, debug.CrashOptions{}) // nothing can be done about an error
	_ = r.file.Close()
	if keep(r.dir) == "" {
		_ = nolink.Remove(r.dir.Crash())
	}
}

// Error is a failure of the host itself, which is a mistake in tunehost.
type Error struct {
	// What the runtime calls it.
	What string
	// Report is the file that says more, or "".
	Report string
	dir    string
}

func (e *Error) Error() string {
	return fmt.Sprintf("tunehost itself has failed (%s): please send %s to its authors; recorded events are kept, "+
		"and `tunehost resume %s` continues",
		e.What, cmp.Or(e.Report, "this line"), untrusted.Word(e.dir))
}

// Safely calls f, the loop of the host of an experiment in d. If f panics, the host can still
// end in order: the record is whole, and what runs is stopped. r may be nil.
func (r *Report) Safely(d storage.Dir, f func() error) (err error) {
	defer func() {
		if what := recover(); what != nil {
			err = r.failed(d, what, debug.Stack())
		}
	}()
	return f()
}

func (r *Report) failed(d storage.Dir, what any, stack []byte) error {
	e := &Error{What: strings.ReplaceAll(fmt.Sprint(what), "\n", "; "), dir: d.Path()}
	if r == nil {
		return e
	}
	if _, err := fmt.Fprintf(r.file, "panic: %v\n\n%s", what, stack); err == nil {
		e.Report = cmp.Or(keep(d), d.Crash())
	}
	return e
}
