//go:build unix

package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

var errDead = errors.New("the process is dead")

// dying is a disk below root that dies before a given step. It knows what may be left after a power
// loss: contents and names as of the last sync, or later.
type dying struct {
	root     string
	left     int // steps until death
	took     int
	contents map[uint64][]byte            // by inode, as synced
	names    map[uint64]map[string]uint64 // of folders, by inode, as synced
}

func newDying(t *testing.T, root string, left int) *dying {
	d := &dying{root: root, left: left, contents: map[uint64][]byte{}, names: map[uint64]map[string]uint64{}}
	d.settle(t)
	return d
}

// settle makes everything durable.
func (d *dying) settle(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir(d.root, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, d.keep(path))
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (d *dying) keep(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if info.IsDir() {
		d.names[inode(info)], err = namesIn(path)
		return err
	}
	d.contents[inode(info)], err = os.ReadFile(path)
	return err
}

func inode(info fs.FileInfo) uint64 { return info.Sys().(*syscall.Stat_t).Ino }

func namesIn(dir string) (map[string]uint64, error) {
	list, err := os.ReadDir(dir)
	names := map[string]uint64{}
	for _, e := range list {
		info, err := e.Info()
		if err != nil {
			return nil, err
		}
		names[e.Name()] = inode(info)
	}
	return names, err
}

func (d *dying) step(do func() error) error {
	if d.left == d.took {
		return errDead
	}
	d.took++
	return do()
}

func (d *dying) write(path string, b []byte) error {
	return d.step(func() error { return realDisk{}.write(path, b) })
}
func (d *dying) sync(path string) error { return d.step(func() error { return d.keep(path) }) }
func (d *dying) rename(from, to string) error {
	return d.step(func() error { return realDisk{}.rename(from, to) })
}
func (d *dying) link(from, to string) error {
	return d.step(func() error { return realDisk{}.link(from, to) })
}
func (d *dying) chmod(path string, m os.FileMode) error {
	return d.step(func() error { return realDisk{}.chmod(path, m) })
}

// remove may also die inside a folder.
func (d *dying) remove(path string) error {
	if info, err := os.Lstat(path); err == nil && info.IsDir() {
		list, err := os.ReadDir(path)
		if err != nil {
			return err
		}
		for _, e := range list {
			if err := d.remove(filepath.Join(path, e.Name())); err != nil {
				return err
			}
		}
	}
	return d.step(func() error { return realDisk{}.remove(path) })
}

// powerLoss writes to dir what may remain after a power loss: any of the names that were not synced,
// and none, a part or all of the contents that were not synced.
func (d *dying) powerLoss(t *testing.T, dir string, rng *rand.Rand) {
	t.Helper()
	w := &wreck{dying: d, rng: rng, now: map[uint64]string{}}
	_ = filepath.WalkDir(d.root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil {
			w.now[inode(info)] = path
		}
		return err
	})
	info, err := os.Stat(d.root)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.folder(inode(info), dir); err != nil {
		t.Fatal(err)
	}
}

type wreck struct {
	*dying
	rng *rand.Rand
	now map[uint64]string // in the page cache; removed files have no path
}

func (w *wreck) folder(ino uint64, to string) error {
	if err := os.MkdirAll(to, dirMode); err != nil {
		return err
	}
	for name, x := range w.survivors(ino) {
		if err := w.entry(x, filepath.Join(to, name)); err != nil {
			return err
		}
	}
	return nil
}

func (w *wreck) survivors(ino uint64) map[string]uint64 {
	synced, cached := w.names[ino], map[string]uint64{}
	if path, ok := w.now[ino]; ok {
		cached, _ = namesIn(path)
	}
	all := maps.Clone(cached)
	if all == nil {
		all = map[string]uint64{}
	}
	maps.Copy(all, synced)
	left := map[string]uint64{}
	for name := range all {
		from := synced
		if w.rng.IntN(2) == 0 {
			from = cached
		}
		if x, ok := from[name]; ok {
			left[name] = x
		}
	}
	return left
}

func (w *wreck) entry(ino uint64, to string) error {
	path, there := w.now[ino]
	if _, folder := w.names[ino]; folder {
		return w.folder(ino, to)
	}
	if there {
		if info, err := os.Lstat(path); err == nil && info.IsDir() {
			return w.folder(ino, to)
		}
	}
	b, synced := w.contents[ino]
	if !synced && there {
		b, _ = os.ReadFile(path)
		b = b[:w.rng.IntN(len(b)+1)]
	}
	return os.WriteFile(to, b, fileMode)
}

// weights returns content that is large enough to share.
func weights(x byte) []byte {
	b := make([]byte, minShared+100)
	for i := range b {
		b[i] = x + byte(i)
	}
	return b
}

// stage puts files into the staging directory of a trial's checkpoint.
func stage(t *testing.T, trialDir string, id uint32, files map[string][]byte) {
	t.Helper()
	dir, err := Stage(trialDir, id)
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), dirMode), os.WriteFile(path, b, fileMode)); err != nil {
			t.Fatal(err)
		}
	}
}

// scene is an experiment with one checkpoint, and a second that is about to be committed and shares a
// part of it.
func scene(t *testing.T, steps int) (d Dir, trialDir string, on *dying) {
	t.Helper()
	d, err := At(filepath.Join(t.TempDir(), "x"))
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Create(); err != nil {
		t.Fatal(err)
	}
	first, second := d.Trial("00000_a"), d.Trial("00001_b")
	for _, dir := range []string{first, second} {
		if err := d.MakeTrialDir(dir, []byte("{}")); err != nil {
			t.Fatal(err)
		}
	}
	stage(t, first, 1, map[string][]byte{"frozen": weights(1), "head": weights(2)})
	commitNow(t, d, first, 1)
	// A checkpoint of the same number that an earlier host did not record.
	stage(t, second, 1, map[string][]byte{"head": weights(9)})
	commitNow(t, d, second, 1)
	on = newDying(t, filepath.Dir(d.Path()), steps)
	stage(t, second, 1, map[string][]byte{"frozen": weights(1), "layers/head": weights(3), "step": []byte("7")})
	return d, second, on
}

func commitNow(t *testing.T, d Dir, trialDir string, id uint32) int64 {
	t.Helper()
	n, err := d.Commit(trialDir, id, Manifest{Iteration: uint64(id)})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// wholeOrNot checks that every checkpoint with its final name is whole, and that recorded ones exist.
func wholeOrNot(t *testing.T, root string, saved bool) {
	t.Helper()
	first := filepath.Join(root, "x", "trials", "00000_a", checkpoints, "000001")
	if _, err := CheckCheckpoint(first, true); err != nil {
		t.Errorf("the other trial's: %v", err)
	}
	dir := filepath.Join(root, "x", "trials", "00001_b", checkpoints, "000001")
	m, err := CheckCheckpoint(dir, true)
	if _, gone := os.Stat(dir); gone != nil && !saved {
		return
	}
	if err != nil {
		t.Error(err)
	}
	if saved && len(m.Files) != 3 {
		t.Errorf("it is the old one: %v", m.Files)
	}
}

// B-051: the host dies, or power is lost, before each step of a commit.
func TestCommitDies(t *testing.T) {
	t.Parallel()
	for steps, saved := 0, false; !saved; steps++ {
		d, trialDir, on := scene(t, steps)
		_, err := d.commit(on, trialDir, 1, Manifest{Iteration: 7})
		saved = err == nil
		if err != nil && !errors.Is(err, errDead) {
			t.Fatal(err)
		}
		wholeOrNot(t, on.root, saved)
		for seed := range uint64(4) {
			dir := t.TempDir()
			on.powerLoss(t, dir, rand.New(rand.NewPCG(seed, uint64(steps))))
			wholeOrNot(t, dir, saved)
		}
		takenUp(t, d, trialDir, saved)
		if t.Failed() {
			t.Fatalf("it died after %d steps", steps)
		}
		if steps > 200 {
			t.Fatal("it does not end")
		}
	}
}

// The same for a checkpoint whose files are in the storage: its manifest is whole or not there.
func TestCommitAwayDies(t *testing.T) {
	t.Parallel()
	files := []File{{Path: "weights", Bytes: 3, SHA256: strings.Repeat("ab", 32)}}
	for steps, saved := 0, false; !saved; steps++ {
		d, trialDir, on := scene(t, steps)
		_, err := commitAway(on, trialDir, 1, Manifest{Iteration: 7, Stored: "nodes/h/t/1", Files: files})
		saved = err == nil
		if err != nil && !errors.Is(err, errDead) {
			t.Fatal(err)
		}
		awayOrNot(t, on.root, saved)
		for seed := range uint64(4) {
			dir := t.TempDir()
			on.powerLoss(t, dir, rand.New(rand.NewPCG(seed, uint64(steps))))
			awayOrNot(t, dir, saved)
		}
		takenUp(t, d, trialDir, saved)
		if t.Failed() || steps > 200 {
			t.Fatalf("it died after %d steps", steps)
		}
	}
}

// awayOrNot checks that a recorded checkpoint is listed and away, and that no half of one is there.
func awayOrNot(t *testing.T, root string, saved bool) {
	t.Helper()
	dir := filepath.Join(root, "x", "trials", "00001_b", checkpoints, "000001")
	m, err := ReadManifest(dir)
	if _, gone := os.Stat(dir); gone != nil && !saved {
		return
	}
	if err != nil || saved && !m.Away(dir) {
		t.Errorf("%+v, %v", m, err)
	}
}

// takenUp checks that the next host removes the remains and can commit again.
func takenUp(t *testing.T, d Dir, trialDir string, saved bool) {
	t.Helper()
	if err := errors.Join(d.SweepTrial(trialDir, 9, func(uint32) bool { return saved },
		func(uint32) bool { return false }), d.SweepBlobs()); err != nil {
		t.Error(err)
	}
	list, err := os.ReadDir(filepath.Join(trialDir, checkpoints))
	if err != nil || len(list) > 1 || len(list) == 1 && !saved {
		t.Errorf("left: %v (%v)", list, err)
	}
	if left := blobsLeft(t, d); left > 4 {
		t.Errorf("%d blobs are left", left)
	}
	stage(t, trialDir, 2, map[string][]byte{"frozen": weights(1)})
	commitNow(t, d, trialDir, 2)
	if _, err := CheckCheckpoint(CheckpointDir(trialDir, 2), true); err != nil {
		t.Error(err)
	}
}

func blobsLeft(t *testing.T, d Dir) (n int) {
	t.Helper()
	err := filepath.WalkDir(d.Blobs(), func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			n++
		}
		return err
	})
	if err != nil {
		t.Fatal(fmt.Errorf("blobs: %w", err))
	}
	return n
}
