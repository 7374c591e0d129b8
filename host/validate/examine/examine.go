// Package examine looks at this machine and at experiments' directories without changing anything.
package examine

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/history"
	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/inherit"
	"github.com/tunehost/tunehost/host/local"
	"github.com/tunehost/tunehost/host/plugin/bundled"
	"github.com/tunehost/tunehost/host/plugin/loading"
	"github.com/tunehost/tunehost/host/plugin/lockfile"
	"github.com/tunehost/tunehost/host/steer/unixsock"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/crash"
	"github.com/tunehost/tunehost/host/storage/nolink"
	"github.com/tunehost/tunehost/host/storage/runfile"
	"github.com/tunehost/tunehost/host/unrecorded"
	"github.com/tunehost/tunehost/host/untrusted"
	"github.com/tunehost/tunehost/host/view"
)

// Finding is the result of an examination about one thing.
type Finding struct {
	What, Text string
	// Bad: it will not mend by itself.
	Bad bool
}

// Directory examines an experiment's directory: can the experiment be resumed, and is everything
// there? Checkpoints are read whole and compared with their manifests.
func Directory(path string, plugins *bundled.Registry) ([]Finding, error) {
	d, err := storage.At(path)
	if err != nil {
		return nil, err
	}
	x := &examination{dir: d, plugins: plugins}
	if x.file, x.experiment, err = runfile.Read(d); err != nil {
		return nil, err
	}
	for _, look := range []func(){x.host, x.modes, x.writable, x.links, x.opened, x.diskSpace, x.record, x.programs,
		x.state, x.crashes} {
		look()
	}
	return x.findings, nil
}

type examination struct {
	dir        storage.Dir
	plugins    *bundled.Registry
	file       *runfile.File
	experiment *config.Experiment
	alive      bool
	damaged    bool
	findings   []Finding
}

func (x *examination) well(what, format string, args ...any) {
	x.findings = append(x.findings, Finding{What: what, Text: fmt.Sprintf(format, args...)})
}

func (x *examination) bad(what, format string, args ...any) {
	x.findings = append(x.findings, Finding{what, fmt.Sprintf(format, args...), true})
}

// host says whether a host is at work here.
func (x *examination) host() {
	holder, err := journal.Holder(x.dir.Path())
	left := local.CountLeftovers(x.dir.Path())
	switch {
	case err != nil:
		x.bad("host", "%v", err)
	case holder != nil:
		x.alive = true
		x.well("host", "process %d on %s is at work", holder.PID, holder.Host)
	case left > 0:
		x.well("host", "none is at work; %d processes of one that died still run, and the next host kills them", left)
	default:
		x.well("host", "none is at work")
	}
}

// modes checks permissions: a user who may write there could change the record (B-092).
func (x *examination) modes() {
	info, err := os.Stat(x.dir.Path())
	switch {
	case err != nil:
		x.bad("directory", "%v", err)
	case info.Mode().Perm()&0o022 != 0:
		x.bad("directory", "others may write to it (its mode is %04o): `chmod go-w %s`", info.Mode().Perm(),
			untrusted.Word(x.dir.Path()))
	case x.dir.Usable(false) != nil:
		x.bad("directory", "%v", x.dir.Usable(false))
	case info.Mode().Perm()&0o055 != 0:
		x.well("directory", "others may read it (its mode is %04o)", info.Mode().Perm())
	default:
		x.well("directory", "only its owner may read it")
	}
}

// writable says whether this user can continue the experiment.
func (x *examination) writable() {
	if err := x.dir.Writable(); err != nil {
		x.bad("directory", "%v", err)
	}
}

// links finds what is in the place of the experiment's files and folders.
func (x *examination) links() {
	strange := x.dir.Strange()
	for _, err := range strange {
		x.bad("files", "%v", err)
	}
	taken := unixsock.Vacant(x.dir)
	if taken != nil && !slices.ContainsFunc(strange, func(e error) bool { return e.Error() == taken.Error() }) {
		x.bad("files", "%v", taken)
	}
}

// littleRoom on the disk, in bytes, is mentioned.
const littleRoom = 64 << 20

func (x *examination) diskSpace() {
	var fs unix.Statfs_t
	if err := unix.Statfs(x.dir.Path(), &fs); err != nil {
		x.bad("disk", "%v", err)
		return
	}
	x.roomOf(fs)
}

// roomOf says what is free. A host waits only once nothing is free.
func (x *examination) roomOf(fs unix.Statfs_t) {
	free := float64(fs.Bavail) * float64(fs.Bsize)
	switch {
	case free == 0:
		x.bad("disk", "no space is free: a host waits until there is some")
	case fs.Files > 0 && fs.Ffree == 0:
		x.bad("disk", "%s are free, but no file can be made (no inode is free): a host waits until one can be made",
			sizeText(free))
	case free < littleRoom:
		x.well("disk", "only %s are free: a host works until they are used up, and then waits for space",
			sizeText(free))
	default:
		x.well("disk", "%s are free", sizeText(free))
	}
}

// sizeText formats a number of bytes for people.
func sizeText(n float64) string {
	units := []string{"bytes", "KiB", "MiB", "GiB", "TiB"}
	for ; n >= 1024 && len(units) > 1; n /= 1024 {
		units = units[1:]
	}
	return strconv.FormatFloat(n, 'f', min(1, 5-len(units)), 64) + " " + units[0]
}

// record reads the whole record, as a host does that resumes.
func (x *examination) record() {
	id, err := x.file.ID()
	if err != nil {
		x.bad("record", "%v", err)
		return
	}
	found, err := history.Verify(x.dir.Journal(), id)
	switch {
	case errors.Is(err, journal.ErrNoJournal):
		x.damaged = true
		x.bad("record", "%v", err)
	case err != nil && !errors.Is(err, journal.ErrCorrupt):
		x.damaged = true
		x.bad("record", "%v", err)
	case err != nil:
		x.damaged = true
		x.bad("record", "%v; `tunehost journal` shows the events before that", err)
	case found.Cut != nil && !x.alive:
		x.well("record", "%d records are whole; a crash has torn the end, which the next host cuts off: %s",
			found.Next-1, found.Cut)
	default:
		x.well("record", "%d records, all whole", found.Next-1)
	}
}

// programs checks that the plugins are those that the experiment began with.
func (x *examination) programs() {
	found, err := loading.New(x.plugins, x.experiment, filepath.Dir(x.file.File))
	if err == nil {
		err = errors.Join(found.Check(loading.Uses(x.experiment))...)
	}
	if err != nil {
		x.bad("plugins", "%v", err)
		return
	}
	if err := found.Allowed(x.dir); err != nil {
		x.bad("plugins", "%v", err)
		return
	}
	x.accepted(found)
	for _, text := range found.Uncovered() {
		x.well("plugins", "%s", text)
	}
}

// accepted says whether the plugins are those of the beginning, or what was changed since.
func (x *examination) accepted(found *loading.Loader) {
	locked, err := lockfile.Read(x.dir)
	if err != nil || locked == nil || len(locked.Accepted) == 0 {
		x.well("plugins", "%d, as the experiment began with them", len(found.Locked()))
		return
	}
	x.well("plugins", "%d, as they were accepted last", len(found.Locked()))
	for _, c := range locked.Accepted {
		x.well("plugins", "%s", c)
	}
}

// state checks that the files that the record mentions exist.
func (x *examination) state() {
	if x.damaged {
		return
	}
	e, err := view.OpenFollowed(x.dir.Path(), nil)
	if err != nil {
		x.bad("state", "%v", err)
		return
	}
	defer e.Close()
	x.well("experiment", "%s; trials: %d", e.State(), e.Now().Machine.Trials())
	x.linkedTrials(e)
	x.trialPlaces(e)
	if x.alive {
		x.well("checkpoints", "not looked at while a host is at work")
		return
	}
	x.unrecorded(e)
	x.checkpoints(e)
}

// Lost returns what tells, once the record of the experiment in a directory was read, whether the result files had
// more events before: then what is shown is less than there was.
func Lost(dir string) func(*view.Recorded) error {
	d, err := storage.At(dir)
	if err != nil {
		return func(*view.Recorded) error { return nil } // who opens it says so
	}
	written := unrecorded.Written(d)
	return func(e *view.Recorded) error { return unrecorded.Event(d, written, e.LastEvent()) }
}

// unrecorded finds out whether the record has lost its end.
func (x *examination) unrecorded(e *view.Recorded) {
	has := unrecorded.Record{Seed: e.Seed, Trials: e.Now().Machine.Trials(), Last: e.LastEvent()}
	written := unrecorded.Written(x.dir)
	err := cmp.Or(unrecorded.Trial(x.dir, has), unrecorded.Event(x.dir, written, has.Last))
	if err != nil {
		x.bad("record", "%v", err)
	}
	if doubt := unrecorded.Doubt(x.dir, written); doubt != "" {
		x.bad("results", "%s", doubt)
	}
}

// linkedTrials finds links in the place of trials' directories: tunehost does not follow them.
func (x *examination) linkedTrials(e *view.Recorded) {
	entries, err := nolink.ReadDir(x.dir.Trials())
	if err != nil {
		return // links has said so, or no trial has begun
	}
	strange := map[string]os.DirEntry{}
	for _, entry := range entries {
		if !entry.IsDir() {
			strange[entry.Name()] = entry
		}
	}
	for no := core.TrialNo(0); len(strange) > 0 && int(no) < e.Now().Machine.Trials(); no++ {
		path := e.Now().TrialDir(no)
		if entry := strange[filepath.Base(path)]; entry != nil {
			x.bad("files", "trial %d: %v", no, nolink.Refused(path, entry.Type()))
		}
	}
}

// checkpoints looks at each checkpoint where it is: a trial that continued from another's has no
// copy of its own. Errors are reported once for each trial.
func (x *examination) checkpoints(e *view.Recorded) {
	bytes, whole := int64(0), 0
	seen, damaged := map[core.CheckpointRef]bool{}, map[core.TrialNo][]error{}
	e.Now().Machine.EachCheckpoint(func(r core.CheckpointRef) {
		if seen[r] || r.Trial == core.NoTrial {
			return
		}
		seen[r] = true
		dir := e.Now().CheckpointDir(r)
		m, err := storage.CheckCheckpoint(dir, true)
		if err == nil {
			err = m.Recorded(dir, r)
		}
		if err != nil {
			damaged[r.Trial] = append(damaged[r.Trial], err)
			return
		}
		whole, bytes = whole+1, bytes+m.Size()
	})
	x.start(e.Now().Machine.Spec().Start)
	for _, no := range slices.Sorted(maps.Keys(damaged)) {
		first, more := damaged[no][0], ""
		if n := len(damaged[no]) - 1; n > 0 {
			more = fmt.Sprintf(" (and %d more)", n)
		}
		x.bad("checkpoints", "trial %d: %v%s: put it back from a copy, or trials that need it continue from an older "+
			"one, or from their beginning", no, first, more)
	}
	if len(damaged) == 0 {
		x.well("checkpoints", "%d, all whole, %s", whole, sizeText(float64(bytes)))
	}
}

// start looks at the checkpoint that every trial starts from.
func (x *examination) start(s *core.Start) {
	if s == nil {
		return
	}
	dir := inherit.StartDir(x.dir)
	m, err := storage.CheckCheckpoint(dir, true)
	if err == nil {
		err = m.Recorded(dir, core.StartRef(*s))
	}
	if err != nil {
		x.bad("checkpoints", "%v: every trial starts from it: put it back from a copy", err)
	}
}

// crashes mentions reports of hosts that failed.
func (x *examination) crashes() {
	reports := crash.Reports(x.dir)
	if len(reports) == 0 {
		return
	}
	x.well("crashes", "tunehost itself has failed here; please send %s to its authors", reports[len(reports)-1])
}
