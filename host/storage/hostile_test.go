//go:build unix

package storage

import (
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A symbolic link, fifo, device or socket in a checkpoint makes the checkpoint refused, wherever it
// comes from. A hard link is copied (TestOtherNames).
func TestSpecialFiles(t *testing.T) {
	t.Parallel()
	for what, make := range map[string]func(path string) error{
		"a link to a file":      func(p string) error { return os.Symlink("/etc/passwd", p) },
		"a link to a folder":    func(p string) error { return os.Symlink("/etc", p) },
		"a link that leads out": func(p string) error { return os.Symlink("../../../params.json", p) },
		"a link to nothing":     func(p string) error { return os.Symlink("nothing", p) },
		"a pipe":                func(p string) error { return syscall.Mkfifo(p, 0o600) },
		"a socket":              listen,
		"a device":              func(p string) error { return syscall.Mknod(p, syscall.S_IFCHR|0o600, 1<<8|5) },
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			d, dir := trial(t)
			// moved, and copied
			for _, from := range []string{filepath.Join(dir, "made"), filepath.Join(t.TempDir(), "made")} {
				if err := os.MkdirAll(filepath.Join(from, "deep"), dirMode); err != nil {
					t.Fatal(err)
				}
				if err := make(filepath.Join(from, "deep", "x")); errors.Is(err, os.ErrPermission) {
					t.Skip(err) // only root can make devices
				} else if err != nil {
					t.Fatal(err)
				}
				err := Take(dir, 1, from)
				if err == nil {
					_, err = d.Commit(dir, 1, Manifest{})
				}
				if err == nil || !strings.Contains(err.Error(), "only plain files and folders") {
					t.Errorf("from %s: %v", from, err)
				}
				if _, err := os.Lstat(CheckpointDir(dir, 1)); err == nil {
					t.Error("the checkpoint is there")
				}
			}
		})
	}
}

func listen(path string) error {
	// The name of a socket must be short.
	short, err := os.MkdirTemp("", "s")
	if err != nil {
		return err
	}
	defer os.RemoveAll(short)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(short, "s"), Net: "unix"})
	if err != nil {
		return err
	}
	l.SetUnlinkOnClose(false)
	return errors.Join(l.Close(), os.Rename(filepath.Join(short, "s"), path))
}

// Path traversal in what a program hands over: a link is refused, a folder that holds the trial is
// refused, and a folder that is not the program's is copied, not moved.
func TestHandedOver(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		from func(dir string) string
		want string
	}{
		"the trial's directory":       {func(dir string) string { return "." }, "into itself"},
		"the trial's, by its name":    {func(dir string) string { return dir + "/" }, "into itself"},
		"all trials":                  {func(dir string) string { return ".." }, "into itself"},
		"everything":                  {func(dir string) string { return "/" }, "into itself"},
		"a way back":                  {func(dir string) string { return "a/../." }, "into itself"},
		"all trials by a link":        {func(dir string) string { return "up/trials" }, "into itself"},
		"a link to a folder":          {func(dir string) string { return "link" }, "only plain files and folders"},
		"nothing":                     {func(dir string) string { return "nothing" }, "no such file"},
		"a name too long":             {func(dir string) string { return strings.Repeat("x", 5000) }, "too long"},
		"an older checkpoint":         {func(dir string) string { return CheckpointDir(dir, 1) }, ""},
		"an older checkpoint's files": {func(dir string) string { return CheckpointFiles(dir, 1) }, ""},
		"all checkpoints": {func(dir string) string { return filepath.Join(dir, checkpoints) },
			"into itself"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			d, dir := trial(t)
			stage(t, dir, 1, map[string][]byte{"w": weights(1)})
			commitNow(t, d, dir, 1)
			if err := errors.Join(os.Symlink("/etc", filepath.Join(dir, "link")),
				os.Symlink("../..", filepath.Join(dir, "up")), os.Mkdir(filepath.Join(dir, "a"), dirMode)); err != nil {
				t.Fatal(err)
			}
			err := Take(dir, 2, c.from(dir))
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if _, err := CheckCheckpoint(CheckpointDir(dir, 1), true); err != nil {
				t.Error(err)
			}
		})
	}
}

// Each false entry of a manifest is noticed, and nothing outside is read, made or removed.
func TestManifestLies(t *testing.T) {
	t.Parallel()
	for what, lie := range map[string]func(m *Manifest){
		"size":           func(m *Manifest) { m.Files[0].Bytes++ },
		"negative size":  func(m *Manifest) { m.Files[0].Bytes = -1 },
		"hash":           func(m *Manifest) { m.Files[0].SHA256 = strings.Repeat("0", 64) },
		"no hash":        func(m *Manifest) { m.Files[0].SHA256 = "" },
		"hash as a path": func(m *Manifest) { m.Files[0].SHA256 = "../" + strings.Repeat("./", 25) + "../victim/x" },
		"file missing":   func(m *Manifest) { m.Files = append(m.Files, File{"x", 0, m.Files[0].SHA256}) },
		"path twice":     func(m *Manifest) { m.Files = append(m.Files, m.Files[0]) },
		"path otherwise": func(m *Manifest) { m.Files[0].Path = "./w" },
		"path outside":   func(m *Manifest) { m.Files[0].Path = "../../../../victim" },
		"absolute path":  func(m *Manifest) { m.Files[0].Path = "/etc/passwd" },
		"a folder":       func(m *Manifest) { m.Files[0].Path = "." },
		"no path":        func(m *Manifest) { m.Files[0].Path = "" },
		"NUL":            func(m *Manifest) { m.Files[0].Path = "w\x00" },
		"not in order":   func(m *Manifest) { m.Files = []File{{"z", 1, m.Files[0].SHA256}, m.Files[0]} },
		"too many files": func(m *Manifest) { m.Files = make([]File, maxFiles+1) },
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			d, dir := trial(t)
			victim := filepath.Join(d.Path(), "victim")
			if err := os.WriteFile(victim, weights(1), fileMode); err != nil {
				t.Fatal(err)
			}
			stage(t, dir, 1, map[string][]byte{"w": weights(1)})
			commitNow(t, d, dir, 1)
			forge(t, CheckpointDir(dir, 1), lie)
			var damaged *DamagedError
			if err := Restore(CheckpointDir(dir, 1), RestoredDir(dir, 1)); !errors.As(err, &damaged) {
				t.Errorf("%v", err)
			}
			if err := d.RemoveCheckpoint(dir, 1); err != nil {
				t.Error(err)
			}
			if _, err := os.Lstat(victim); err != nil {
				t.Error(err)
			}
		})
	}
}

func forge(t *testing.T, dir string, lie func(*Manifest)) {
	t.Helper()
	m, err := ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	lie(&m)
	text, err := json.Marshal(m)
	if err = errors.Join(err, os.WriteFile(filepath.Join(dir, manifest), text, fileMode)); err != nil {
		t.Fatal(err)
	}
}

// A manifest's hash names a blob. It is not used as a path: a false one cannot remove a file outside.
func TestHashesAreNoPaths(t *testing.T) {
	t.Parallel()
	d, dir := trial(t)
	victim := filepath.Join(d.Path(), "victim")
	if err := os.WriteFile(victim, []byte("mine"), fileMode); err != nil {
		t.Fatal(err)
	}
	stage(t, dir, 1, map[string][]byte{"w": weights(1)})
	commitNow(t, d, dir, 1)
	forge(t, CheckpointDir(dir, 1), func(m *Manifest) {
		m.Files[0].SHA256 = "../../.." + strings.Repeat("/", 64-len("../../..victim")) + "victim"
	})
	if err := d.RemoveCheckpoint(dir, 1); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(victim); err != nil {
		t.Error(err)
	}
}

// A file that somebody added to a checkpoint stays there; restoring gives what was saved.
func TestExtraFile(t *testing.T) {
	t.Parallel()
	d, dir := trial(t)
	stage(t, dir, 1, map[string][]byte{"w": weights(1)})
	commitNow(t, d, dir, 1)
	if err := os.WriteFile(filepath.Join(CheckpointFiles(dir, 1), "extra.py"), []byte("x"), fileMode); err != nil {
		t.Fatal(err)
	}
	if err := Restore(CheckpointDir(dir, 1), RestoredDir(dir, 1)); err != nil {
		t.Fatal(err)
	}
	if list, err := os.ReadDir(RestoredDir(dir, 1)); err != nil || len(list) != 1 || list[0].Name() != "w" {
		t.Errorf("%v, %v", list, err)
	}
}

// A trial can write to an open file after its checkpoint is hashed; restoring the checkpoint notices
// it.
func TestFileChangedAfterItsHash(t *testing.T) {
	t.Parallel()
	d, dir := trial(t)
	stage(t, dir, 1, map[string][]byte{"w": weights(1)})
	open, err := os.OpenFile(filepath.Join(staging(dir, 1), contents, "w"), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	commitNow(t, d, dir, 1)
	if _, err := open.WriteAt([]byte("late"), 0); err != nil {
		t.Fatal(err)
	}
	var damaged *DamagedError
	if err := Restore(CheckpointDir(dir, 1), RestoredDir(dir, 1)); !errors.As(err, &damaged) {
		t.Errorf("%v", err)
	}
}

// A name that a manifest cannot hold is refused at once.
func TestNamesThatAreNotUTF8(t *testing.T) {
	t.Parallel()
	d, dir := trial(t)
	stage(t, dir, 1, nil)
	if err := os.WriteFile(filepath.Join(staging(dir, 1), contents, "w\xff"), nil, fileMode); err != nil {
		t.Skip(err) // not on every file system
	}
	if _, err := d.Commit(dir, 1, Manifest{}); err == nil || !strings.Contains(err.Error(), `w\xff" is not UTF-8`) {
		t.Errorf("%v", err)
	}
}

// A special file in the place of a file of the experiment is refused: reading neither waits nor runs
// without end.
func TestReadFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for what, c := range map[string]struct {
		make func(path string) error
		want string
	}{
		"file": {func(p string) error { return os.WriteFile(p, []byte("text"), fileMode) }, ""},
		"link": {func(p string) error { return os.Symlink(filepath.Join(dir, "file"), p) },
			"is a link: tunehost follows no links"},
		"pipe":    {func(p string) error { return syscall.Mkfifo(p, 0o600) }, "is a pipe: tunehost has a file"},
		"folder":  {func(p string) error { return os.Mkdir(p, dirMode) }, "is a folder: tunehost has a file"},
		"endless": {func(p string) error { return os.Symlink("/dev/zero", p) }, "is a link"},
		"large": {func(p string) error { return os.WriteFile(p, make([]byte, 9), fileMode) },
			"has 9 bytes, more than the 8 allowed"},
		"link to no end": {func(p string) error { return os.Symlink(p, p) }, "is a link"},
	} {
		path := filepath.Join(dir, what)
		if what == "link" {
			_ = os.WriteFile(filepath.Join(dir, "file"), []byte("text"), fileMode)
		}
		if err := c.make(path); err != nil {
			t.Fatal(err)
		}
		text, err := ReadFile(path, 8)
		if (err == nil) != (c.want == "") || err == nil && string(text) != "text" || err != nil &&
			!strings.Contains(err.Error(), c.want) || err != nil && !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %q, %v, want %q", what, text, err, c.want)
		}
	}
}
