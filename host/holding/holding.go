// Package holding takes an experiment's directory for this host: nobody else writes there until
// it is released (B-085).
package holding

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/hashicorp/go-hclog"

	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/host/clock"
	"github.com/tunehost/tunehost/host/exec"
	"github.com/tunehost/tunehost/host/hostlog"
	"github.com/tunehost/tunehost/host/local"
	"github.com/tunehost/tunehost/host/local/reaper"
	"github.com/tunehost/tunehost/host/options"
	"github.com/tunehost/tunehost/host/plugin/bundled"
	"github.com/tunehost/tunehost/host/plugin/lockfile"
	"github.com/tunehost/tunehost/host/steer/unixsock"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/crash"
	"github.com/tunehost/tunehost/host/storage/diskspace"
	"github.com/tunehost/tunehost/host/storage/lack"
	"github.com/tunehost/tunehost/host/storage/nolink"
	"github.com/tunehost/tunehost/host/untrusted"
	"github.com/tunehost/tunehost/host/usererror"
)

// Holding is a directory that is held, with the log in it.
type Holding struct {
	// Dir is the zero value for an experiment that is not kept.
	Dir         storage.Dir
	Log         *hostlog.Log
	Screen      *hostlog.Screen
	Disk        *diskspace.Disk
	exec.Marked // every process that this host starts

	lock   *journal.Lock // nil: nothing is kept
	files  files
	trials fs.FileInfo     // the folder of trials
	reaper *reaper.Process // nil: nothing is started
	lazy   *reaper.Guard   // instead of it, for an experiment that is not kept
	log    io.Closer
	crash  *crash.Report
	// made are the directories that were made for this one, and itself, the deepest first.
	made []string
	// named: the error with which the host ends names the log, see Refused.
	named bool
}

// Take locks the directory for a host with options o; lock is the directory's where it was locked
// before.
func Take(dir storage.Dir, lock *journal.Lock, o *options.Options) (_ *Holding, err error) {
	h := &Holding{lock: lock}
	defer func() {
		if err != nil {
			h.Close()
			err = diskspace.Advise(err)
		}
	}()
	if err := h.lockDir(dir, o); err != nil {
		return nil, err
	}
	f, err := nolink.OpenFile(dir.Log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, usererror.Wrap(dir.Unwritable(err))
	}
	h.Dir, h.log = dir, f
	h.openLog(f, o)
	h.tellFull()
	err = errors.Join(storage.SweepTemporaries(dir.Path()), storage.SweepTemporaries(dir.Snapshots()))
	if err != nil {
		h.Log.Warn("files that an earlier host had not finished could not be removed: " + err.Error())
	}
	for _, text := range dir.Doubts() {
		h.Log.Warn(text)
	}
	h.crash = crash.Expect(dir, lockfile.Version(), o.Clock, h.Log)
	h.guard(o)
	return h, nil
}

// tellFull has readers of the directory told while the host waits for room on the disk, which is no event of the
// record: that has no room either.
func (h *Holding) tellFull() {
	h.Disk.Dir = h.Dir.Path()
	h.Disk.Note = func(missing lack.Lack) {
		if err := h.Dir.NoteLack(missing); err != nil {
			h.Log.Info("what the disk lacks cannot be noted: " + err.Error())
		}
	}
	if err := h.Dir.ForgetLack(); err != nil { // an earlier host may have been killed
		h.Log.Info("what the disk lacked cannot be forgotten: " + err.Error())
	}
}

// lockDir makes the directory and locks it.
func (h *Holding) lockDir(dir storage.Dir, o *options.Options) (err error) {
	if err := dir.Usable(o.TrustDir); err != nil {
		return err
	}
	h.made = missing(dir.Path())
	if err := dir.Create(); err != nil {
		return usererror.Wrap(err)
	}
	if err := dir.Writable(); err != nil {
		return err
	}
	if h.lock == nil {
		if h.lock, err = lockSoon(dir, o); err != nil {
			return err
		}
		if err := h.lock.Check(); err != nil { // another host has removed what it made, see withdraw
			return usererror.Errorf("%s: another host has just left this directory; try again", dir.Path())
		}
	}
	return usererror.Wrap(unixsock.Vacant(dir))
}

// inUse is the error of a directory whose lock cannot be taken; leaving is what a host that ends waits for.
func inUse(err error, leaving string) error {
	held, ok := errors.AsType[*journal.LockedError](err)
	switch {
	case !ok:
		return usererror.Wrap(err)
	case held.PID == 0:
		return usererror.Errorf("%w; try again in a moment", err)
	case leaving != "":
		return usererror.Errorf("%s is in use by process %d on %s: %s; try again when it has ended", held.Dir, held.PID,
			held.Host, leaving)
	}
	return usererror.Errorf("%w; `tunehost watch %[2]s` follows it, `tunehost interrupt %[2]s` ends its host such "+
		"that it can continue", err, untrusted.Word(held.Dir))
}

// InMemory holds nothing: the experiment is not kept, and cannot be resumed.
func InMemory(o *options.Options) *Holding {
	g := o.Plugins.Guard()
	h := &Holding{Marked: exec.Marked{Mark: g.Mark, Guard: g.Start}, lazy: g}
	h.openLog(io.Discard, o)
	return h
}

// Silent is InMemory without a log, for hosts that are tested step by step.
func Silent(c clock.Clock) *Holding {
	log := hostlog.New(hclog.NewNullLogger())
	return &Holding{Log: log, Screen: hostlog.NewScreen(io.Discard, ""), Disk: diskspace.New(log, c)}
}

// openLog makes the log, which the user sees as far as verbosity says; what must be known is always shown.
func (h *Holding) openLog(file io.Writer, o *options.Options) {
	h.Screen = hostlog.NewScreen(o.Stderr, h.LogPath())
	var shown *hostlog.Screen
	if o.Stderr != nil {
		shown = h.Screen
	}
	if o.Verbose <= 0 {
		h.Screen.Quiet()
	}
	h.Log = hostlog.Open(file, shown)
	h.Disk = diskspace.New(h.Log, o.Clock)
}

// guard ends what an earlier host left running, and makes sure that nothing of this host is left
// running when it is killed (B-025).
func (h *Holding) guard(o *options.Options) {
	path := h.Dir.Path()
	h.Mark = local.NewMark(path)
	if o.Mode.InProcess {
		return
	}
	if n := local.KillLeftovers(path); n > 0 {
		h.Log.Insist(fmt.Sprintf("processes of an earlier host were still running and were killed: %d", n))
		if n := local.CountLeftovers(path); n > 0 {
			h.Log.Insist(fmt.Sprintf("processes of an earlier host do not end although they were killed: %d; they may "+
				"still write to their trials' directories", n))
		}
	}
	if !bundled.Watches() {
		return // nobody would watch over what is started
	}
	var err error
	if h.reaper, err = reaper.Start(o.Plugins.Reaper(h.Mark), h.Mark); err != nil {
		h.Log.Warn("what this host starts would outlive it if it were killed: " + err.Error())
	}
}

// Kept reports whether the experiment has a directory.
func (h *Holding) Kept() bool { return h.lock != nil }

// LogPath is the file of the log; "" if there is none.
func (h *Holding) LogPath() string {
	if h.log == nil {
		return ""
	}
	return h.Dir.Log()
}

// Check is an error where the directory is not this host's any more, or another process changed
// a file by which the experiment is known. Such a file is put back.
func (h *Holding) Check() error {
	if !h.Kept() {
		return nil
	}
	if err := cmp.Or(h.lock.Check(), h.files.check()); err != nil {
		return fmt.Errorf("everything is stopped: %w", err)
	}
	return nil
}

// Safely calls f, the loop of the host, and makes a crash report of a panic.
func (h *Holding) Safely(f func() error) error { return h.crash.Safely(h.Dir, f) }

// Unguard ends the guard, once nothing that this host started runs any more.
func (h *Holding) Unguard() {
	h.lazy.Close()
	if h.reaper != nil {
		h.reaper.Close()
		h.reaper = nil
	}
}

// Refused says with which error the start of this host ends. A log that its message names stays.
func (h *Holding) Refused(err error) {
	log := h.LogPath()
	h.named = log != "" && strings.Contains(err.Error(), log)
}

// Close releases the directory.
func (h *Holding) Close() {
	h.Unguard()
	h.crash.Close()
	if h.log != nil {
		_ = h.log.Close()
	}
	if h.lock != nil {
		h.withdraw()
		_ = h.lock.Unlock()
	}
}
