package sim

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/core/journal/journaltest"
	"github.com/tunehost/tunehost/host/consult/snapshots"
)

// disks are the folders of the experiment. They are on one machine: a process that dies in one is dead
// in all.
type disks struct {
	seed        uint64
	journal     *journaltest.FS
	snapshots   *journaltest.FS
	checkpoints *journaltest.FS
	restarts    uint64
}

func newDisks(seed uint64) *disks {
	return &disks{seed: seed, journal: journaltest.New(mix(seed, 1)), snapshots: journaltest.New(mix(seed, 2)),
		checkpoints: journaltest.New(mix(seed, 3))}
}

func (d *disks) all() []*journaltest.FS {
	return []*journaltest.FS{d.journal, d.snapshots, d.checkpoints}
}

// dead reports whether the process has died in a file operation.
func (d *disks) dead() bool { return slices.ContainsFunc(d.all(), (*journaltest.FS).Dead) }

// death returns how the process has died.
func (d *disks) death() journaltest.Death {
	for _, fs := range d.all() {
		if fs.Dead() {
			return fs.Death()
		}
	}
	return journaltest.Kill
}

// die ends the process in all folders.
func (d *disks) die(death journaltest.Death) {
	for _, fs := range d.all() {
		fs.Die(death)
	}
}

// restart sets the disks to what the next process finds.
func (d *disks) restart() {
	d.restarts++
	for i, fs := range []**journaltest.FS{&d.journal, &d.snapshots, &d.checkpoints} {
		*fs = (*fs).Restart(mix(d.seed, d.restarts*4+uint64(i)))
	}
}

func (d *disks) setRoom(n int64) {
	for _, fs := range d.all() {
		fs.SetRoom(n)
	}
}

// watchedFS is the journal's folder; it reports when a file was made safe.
type watchedFS struct {
	journal.FS
	began, synced, lost func()
}

// Create implements journal.FS.
func (f watchedFS) Create(name string) (journal.File, error) {
	file, err := f.FS.Create(name)
	if err != nil {
		return nil, err
	}
	return watchedFile{file, f}, nil
}

type watchedFile struct {
	journal.File
	fs watchedFS
}

// Sync implements journal.File.
func (f watchedFile) Sync() error {
	f.fs.began()
	err := f.File.Sync()
	if err == nil {
		f.fs.synced()
	} else {
		f.fs.lost()
	}
	return err
}

// shelf keeps plugins' snapshots as the host's own does: in a temporary file, synced, renamed.
type shelf struct{ fs func() *journaltest.FS }

var _ snapshots.Shelf = shelf{}

// List implements snapshots.Shelf.
func (s shelf) List() []string {
	return slices.DeleteFunc(s.fs().Names(), func(name string) bool { return strings.HasSuffix(name, ".tmp") })
}

// Read implements snapshots.Shelf.
func (s shelf) Read(name string) ([]byte, error) {
	if b := s.fs().ReadBytes(name); b != nil {
		return b, nil
	}
	return nil, errors.New(name + " is not there")
}

// Write implements snapshots.Shelf.
func (s shelf) Write(name string, contents []byte) error { return keep(s.fs(), name, contents) }

// Remove implements snapshots.Shelf.
func (s shelf) Remove(name string) error { return s.fs().Remove(name) }

// keep writes a file completely or not at all.
func keep(fs *journaltest.FS, name string, contents []byte) error {
	f, err := fs.Create(name + ".tmp")
	if err != nil {
		return err
	}
	if _, err = f.WriteAt(contents, 0); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = fs.Rename(name+".tmp", name)
	}
	if err == nil {
		err = fs.SyncDir()
	}
	return err
}

func noSpace(err error) bool { return errors.Is(err, syscall.ENOSPC) }

// checkpointName returns the name of a checkpoint's file.
func checkpointName(no core.TrialNo, id uint32) string { return fmt.Sprintf("%d-%d", no, id) }

// checkpointText returns its content: what it is a checkpoint of, or damage.
func checkpointText(no core.TrialNo, id uint32, iteration uint64) []byte {
	return fmt.Appendf(nil, "trial %d checkpoint %d iteration %d whole", no, id, iteration)
}

// mix combines several numbers into one (SplitMix64).
func mix(list ...uint64) (h uint64) {
	for _, x := range list {
		h = (h ^ x) + 0x9e3779b97f4a7c15
		h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
		h = (h ^ h>>27) * 0x94d049bb133111eb
		h ^= h >> 31
	}
	return h
}
