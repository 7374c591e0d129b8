//go:build unix

package storage

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// trial makes an experiment with the directory of a trial.
func trial(t testing.TB) (Dir, string) {
	t.Helper()
	d, err := At(t.TempDir())
	if err == nil {
		err = d.Create()
	}
	dir := d.Trial("00000_a")
	if err = errors.Join(err, d.MakeTrialDir(dir, []byte("{}"))); err != nil {
		t.Fatal(err)
	}
	return d, dir
}

// taken returns the disk space, in bytes, of all regular files below a folder.
func taken(t *testing.T, root string) (sum int64) {
	t.Helper()
	seen := map[uint64]bool{}
	err := filepath.WalkDir(root, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil && !seen[inode(info)] {
			seen[inode(info)] = true
			sum += info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// A file that two checkpoints share is on disk once, cannot be written to through either, and goes
// with the last of them.
func TestSharedFiles(t *testing.T) {
	t.Parallel()
	d, dir := trial(t)
	for id := range uint32(3) {
		stage(t, dir, id+1, map[string][]byte{"frozen": weights(1), "head": weights(2 + byte(id))})
		if n := commitNow(t, d, dir, id+1); n != 2*int64(len(weights(0))) {
			t.Errorf("%d bytes", n)
		}
	}
	manifests := 3 * 1024
	if n := taken(t, d.Path()); n > int64(4*len(weights(0))+manifests) {
		t.Errorf("%d bytes on disk for four different files", n)
	}
	path := filepath.Join(CheckpointFiles(dir, 1), "frozen")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != sealedMode {
		t.Errorf("%v, %v", info, err)
	}
	for id := range uint32(3) {
		if err := d.RemoveCheckpoint(dir, id+1); err != nil {
			t.Fatal(err)
		}
		if n, want := blobsLeft(t, d), []int{3, 2, 0}[id]; n != want {
			t.Errorf("%d blobs after %d were removed, not %d", n, id+1, want)
		}
	}
}

// A damaged blob does not get into a new checkpoint and is replaced.
func TestDamagedBlobIsNotShared(t *testing.T) {
	t.Parallel()
	d, dir := trial(t)
	stage(t, dir, 1, map[string][]byte{"w": weights(1)})
	commitNow(t, d, dir, 1)
	flip(t, filepath.Join(CheckpointFiles(dir, 1), "w"))
	for id := uint32(2); id < 4; id++ {
		stage(t, dir, id, map[string][]byte{"w": weights(1)})
		commitNow(t, d, dir, id)
		if _, err := CheckCheckpoint(CheckpointDir(dir, id), true); err != nil {
			t.Error(err)
		}
	}
	if n := taken(t, CheckpointDir(dir, 2)) + taken(t, CheckpointDir(dir, 3)); n == 0 ||
		!same(filepath.Join(CheckpointFiles(dir, 2), "w"), filepath.Join(CheckpointFiles(dir, 3), "w")) {
		t.Error("the whole ones share nothing")
	}
}

// flip changes one bit, as a bad disk would.
func flip(t *testing.T, path string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err == nil {
		b[len(b)/2] ^= 4
		err = errors.Join(os.Chmod(path, fileMode), os.WriteFile(path, b, fileMode), os.Chmod(path, sealedMode))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// B-054: changes to a restored copy do not change the checkpoint.
func TestRestoreIsPrivate(t *testing.T) {
	t.Parallel()
	d, dir := trial(t)
	stage(t, dir, 1, map[string][]byte{"w": weights(1), "a/b/c": []byte("deep")})
	if err := os.Mkdir(filepath.Join(staging(dir, 1), contents, "empty"), dirMode); err != nil {
		t.Fatal(err)
	}
	commitNow(t, d, dir, 1)
	to := RestoredDir(dir, 2)
	for range 2 { // the second replaces the copy of the first
		if err := Restore(CheckpointDir(dir, 1), to); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(to, "w"), []byte("mine"), fileMode); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(to, "a", "b", "c")); err != nil || string(b) != "deep" {
		t.Errorf("%q, %v", b, err)
	}
	if info, err := os.Stat(filepath.Join(to, "empty")); err != nil || !info.IsDir() {
		t.Errorf("%v, %v", info, err)
	}
	if _, err := CheckCheckpoint(CheckpointDir(dir, 1), true); err != nil {
		t.Error(err)
	}
}

// B-057: restoring a checkpoint notices any damage.
func TestRestoreNotices(t *testing.T) {
	t.Parallel()
	damage := map[string]func(t *testing.T, dir string) error{
		"bit":         func(t *testing.T, dir string) error { flip(t, filepath.Join(dir, contents, "w")); return nil },
		"cut":         func(_ *testing.T, dir string) error { return shorten(filepath.Join(dir, contents, "w"), 10) },
		"file gone":   func(_ *testing.T, dir string) error { return os.Remove(filepath.Join(dir, contents, "w")) },
		"folder gone": func(_ *testing.T, dir string) error { return os.RemoveAll(filepath.Join(dir, contents)) },
		"all gone":    func(_ *testing.T, dir string) error { return os.RemoveAll(dir) },
		"no manifest": func(_ *testing.T, dir string) error { return os.Remove(filepath.Join(dir, manifest)) },
		"half of it":  func(_ *testing.T, dir string) error { return shorten(filepath.Join(dir, manifest), 20) },
		"pipe": func(_ *testing.T, dir string) error {
			return replaced(dir, func(p string) error { return syscall.Mkfifo(p, 0o600) })
		},
		"link": func(_ *testing.T, dir string) error {
			return replaced(dir, func(p string) error { return os.Symlink("/etc/passwd", p) })
		},
		"leads outside": func(_ *testing.T, dir string) error {
			b, err := os.ReadFile(filepath.Join(dir, manifest))
			b = bytes.Replace(b, []byte(`"path": "w"`), []byte(`"path": "../MANIFEST.json"`), 1)
			return errors.Join(err, os.Remove(filepath.Join(dir, manifest)),
				os.WriteFile(filepath.Join(dir, manifest), b, fileMode))
		},
	}
	for name, do := range damage {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, dir := trial(t)
			stage(t, dir, 1, map[string][]byte{"w": weights(1)})
			commitNow(t, d, dir, 1)
			if err := do(t, CheckpointDir(dir, 1)); err != nil {
				t.Fatal(err)
			}
			var damaged *DamagedError
			if err := Restore(CheckpointDir(dir, 1), RestoredDir(dir, 1)); !errors.As(err, &damaged) {
				t.Errorf("%v", err)
			}
			if _, err := CheckCheckpoint(CheckpointDir(dir, 1), true); !errors.As(err, &damaged) {
				t.Errorf("%v", err)
			}
		})
	}
}

// shorten cuts off the end of a read-only file.
func shorten(path string, size int64) error {
	return errors.Join(os.Chmod(path, 0o600), os.Truncate(path, size))
}

func replaced(dir string, by func(string) error) error {
	path := filepath.Join(dir, contents, "w")
	return errors.Join(os.Remove(path), by(path))
}

// A trial keeps another name of a file that it hands over; later writes to that name do not change the
// checkpoint.
func TestOtherNames(t *testing.T) {
	t.Parallel()
	d, dir := trial(t)
	kept := filepath.Join(dir, "kept")
	stage(t, dir, 1, map[string][]byte{"w": weights(1)})
	if err := os.Link(filepath.Join(staging(dir, 1), contents, "w"), kept); err != nil {
		t.Fatal(err)
	}
	commitNow(t, d, dir, 1)
	if err := os.WriteFile(kept, weights(2), fileMode); err != nil {
		t.Fatal(err)
	}
	if _, err := CheckCheckpoint(CheckpointDir(dir, 1), true); err != nil {
		t.Error(err)
	}
}

// A checkpoint of an earlier version, without blobs and with writable files, can still be read.
func TestEarlierLayout(t *testing.T) {
	t.Parallel()
	d, dir := trial(t)
	stage(t, dir, 1, map[string][]byte{"w": weights(1)})
	commitNow(t, d, dir, 1)
	if err := errors.Join(os.RemoveAll(d.Blobs()),
		os.Chmod(filepath.Join(CheckpointFiles(dir, 1), "w"), fileMode)); err != nil {
		t.Fatal(err)
	}
	if err := Restore(CheckpointDir(dir, 1), RestoredDir(dir, 2)); err != nil {
		t.Error(err)
	}
	if err := errors.Join(d.SweepBlobs(), d.SweepTrial(dir, 2, func(uint32) bool { return true },
		func(uint32) bool { return false }), d.RemoveCheckpoint(dir, 1)); err != nil {
		t.Error(err)
	}
}

// A checkpoint cannot contain a link or a pipe.
func TestSpecialFilesAreRefused(t *testing.T) {
	t.Parallel()
	d, dir := trial(t)
	for id, make := range []func(string) error{
		func(p string) error { return os.Symlink("/etc/passwd", p) },
		func(p string) error { return syscall.Mkfifo(p, 0o600) },
	} {
		stage(t, dir, uint32(id), nil)
		if err := make(filepath.Join(staging(dir, uint32(id)), contents, "x")); err != nil {
			t.Fatal(err)
		}
		if _, err := d.Commit(dir, uint32(id), Manifest{}); err == nil {
			t.Error("it was taken")
		}
	}
}

// B-155: SweepTrial keeps what programs made for themselves.
func TestSweepTrial(t *testing.T) {
	t.Parallel()
	d, dir := trial(t)
	for id := range uint32(3) {
		stage(t, dir, id+1, map[string][]byte{"w": weights(byte(id))})
		commitNow(t, d, dir, id+1)
	}
	stage(t, dir, 9, map[string][]byte{"w": weights(9)})
	if err := errors.Join(Restore(CheckpointDir(dir, 1), RestoredDir(dir, 4)),
		os.MkdirAll(OwnCheckpoints(dir), dirMode),
		os.Rename(CheckpointDir(dir, 3), CheckpointDir(dir, 3)+beingGone), d.SweepTrial(dir, 4,
			func(id uint32) bool { return id == 2 }, func(uint32) bool { return false })); err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadDir(filepath.Join(dir, checkpoints))
	if err != nil || len(list) != 2 || list[0].Name() != "000002" || list[1].Name() != own {
		t.Errorf("%v, %v", list, err)
	}
}

// size is the size of the measured checkpoints.
const size = 100 << 20

func BenchmarkCommit100MB(b *testing.B) {
	d, dir := trial(b)
	content := make([]byte, size)
	for id := uint32(1); b.Loop(); id++ {
		b.StopTimer()
		content[0], content[1] = byte(id), byte(id>>8)
		staged, err := Stage(dir, id)
		if err == nil {
			err = os.WriteFile(filepath.Join(staged, "w"), content, fileMode)
		}
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		if _, err := d.Commit(dir, id, Manifest{}); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := d.RemoveCheckpoint(dir, id); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
	b.SetBytes(size)
}

// BenchmarkCommitSame100MB commits a file that another checkpoint has already.
func BenchmarkCommitSame100MB(b *testing.B) {
	d, dir := trial(b)
	content := make([]byte, size)
	for id := uint32(1); b.Loop(); id++ {
		b.StopTimer()
		staged, err := Stage(dir, id)
		if err == nil {
			err = os.WriteFile(filepath.Join(staged, "w"), content, fileMode)
		}
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		if _, err := d.Commit(dir, id, Manifest{}); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(size)
}

func BenchmarkRestore100MB(b *testing.B) {
	d, dir := trial(b)
	staged, err := Stage(dir, 1)
	if err == nil {
		err = os.WriteFile(filepath.Join(staged, "w"), make([]byte, size), fileMode)
	}
	if err == nil {
		_, err = d.Commit(dir, 1, Manifest{})
	}
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := Restore(CheckpointDir(dir, 1), RestoredDir(dir, 1)); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(size)
}

// A file with a hole keeps its content, its size and its hole in a checkpoint and when it is restored, and has the hash
// of its bytes. A hole that would take too long to hash is refused, in one line.
func TestHolesOfCheckpoints(t *testing.T) {
	t.Parallel()
	d, dir := trial(t)
	const size = 64 << 20
	content := make([]byte, size)
	copy(content[size/2:], "data")
	sum := sha256.Sum256(content)
	holed := func(path string, size int64) {
		t.Helper()
		f, err := os.Create(path)
		if err == nil {
			_, err = f.WriteAt([]byte("data"), size/2)
			err = errors.Join(err, f.Truncate(size), f.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	from := filepath.Join(t.TempDir(), "weights") // it is copied
	holed(from, size)
	if err := Take(dir, 1, from); err != nil {
		t.Fatal(err)
	}
	commitNow(t, d, dir, 1)
	m, err := ReadManifest(CheckpointDir(dir, 1))
	if err != nil || m.Files[0].SHA256 != hex.EncodeToString(sum[:]) || m.Files[0].Bytes != size {
		t.Errorf("%+v, %v", m.Files, err)
	}
	to := t.TempDir()
	if err := Restore(CheckpointDir(dir, 1), to); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(CheckpointFiles(dir, 1), "weights"), filepath.Join(to, "weights")} {
		got, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(got, content) {
			t.Errorf("%s: %d bytes, %v", path, len(got), err)
		}
		if info, err := os.Stat(path); err != nil || info.Sys().(*syscall.Stat_t).Blocks*512 > size/8 {
			t.Errorf("%s has no hole: %v", path, err)
		}
	}
	files, err := Stage(dir, 2)
	if err != nil {
		t.Fatal(err)
	}
	holed(filepath.Join(files, "map"), 1<<40)
	const want = "checkpoint: the file map has 1024 GiB, of which 1023 GiB are a hole without data, and at most " +
		"64 GiB may be: save a compact copy"
	if _, err := d.Commit(dir, 2, Manifest{}); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
