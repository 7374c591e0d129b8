package runtimedir

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tunehost/tunehost/internal/testplace"
)

// TestMain can also be a process that makes a folder and waits to be killed.
func TestMain(m *testing.M) {
	if os.Getenv("RUNTIMEDIR_CHILD") == "" {
		os.Exit(m.Run())
	}
	f, err := Make()
	if err != nil {
		panic(err)
	}
	fmt.Println(f.Path())
	_, _ = io.Copy(io.Discard, os.Stdin) // until the test ends
}

func make1(t *testing.T) *Folder {
	t.Helper()
	f, err := Make()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Remove() })
	return f
}

// child starts another process that has a folder, and returns that folder.
func child(t *testing.T) (kill func(), folder string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "RUNTIMEDIR_CHILD=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	kill = func() { _, _ = cmd.Process.Kill(), cmd.Wait() }
	t.Cleanup(kill)
	if _, err := fmt.Fscanln(out, &folder); err != nil {
		t.Fatal(err)
	}
	return kill, folder
}

// bystanders are files and folders of others in the places that tunehost cleans.
func bystanders(t *testing.T, root string) (check func()) {
	t.Helper()
	files := []string{"notes.txt", "h123456/text.tex", "hothers/" + marker, "h1/" + marker + "/x", "tunehost-1/a",
		"th-thesis/chapter1/text.tex"}
	for _, name := range files {
		write(t, filepath.Join(root, name), "mine\n")
	}
	// The marker of another user, and one behind a link.
	write(t, filepath.Join(root, "hforeign", marker), fmt.Sprintf("%suid %d\n", magic, os.Getuid()+1))
	files = append(files, "hforeign/"+marker)
	elsewhere := t.TempDir()
	write(t, filepath.Join(elsewhere, marker), fmt.Sprintf("%suid %d\n", magic, os.Getuid()))
	if err := os.Symlink(elsewhere, filepath.Join(root, "hlink")); err != nil {
		t.Fatal(err)
	}
	files = append(files, "hlink/"+marker)
	return func() {
		t.Helper()
		for _, name := range files {
			if _, err := os.Stat(filepath.Join(root, name)); err != nil {
				t.Errorf("a bystander's file is gone: %v", err)
			}
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// B-155: the folders of a killed process are removed, and nothing else.
func TestOnlyTheDeadIsRemoved(t *testing.T) {
	root := filepath.Join(testplace.Alone(t), "tunehost")
	check := bystanders(t, root)
	killDead, dead := child(t)
	_, alive := child(t)
	write(t, filepath.Join(dead, "plugin-dir1", "socket"), "")
	killDead()
	f := make1(t)
	if _, err := os.Stat(filepath.Dir(dead)); !os.IsNotExist(err) {
		t.Errorf("what a killed process has left is there: %v", err)
	}
	if _, err := os.Stat(alive); err != nil {
		t.Errorf("a living process's folder is gone: %v", err)
	}
	check()
	if err := f.Remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(f.Home()); !os.IsNotExist(err) {
		t.Errorf("the last folder leaves %s: %v", f.Home(), err)
	}
	check()
}

// B-155: a home whose remover was killed halfway is removed.
func TestHalfRemoved(t *testing.T) {
	root := filepath.Join(testplace.Alone(t), "tunehost")
	left := filepath.Join(root, "hleft")
	write(t, filepath.Join(left, marker), fmt.Sprintf("%suid %d\npid 1\n", magic, os.Getuid()))
	make1(t)
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("it is still there: %v", err)
	}
}

// B-155: an empty folder without a marker is of a process that was killed before it wrote the marker, or after it
// removed it, if it is old, has a name of ours and is not locked.
func TestUnmarkedIsRemoved(t *testing.T) {
	root := filepath.Join(testplace.Alone(t), "tunehost")
	old := time.Now().Add(-2 * abandoned)
	folder := func(name, file string, made time.Time) string {
		dir := filepath.Join(root, name)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if file != "" {
			write(t, filepath.Join(dir, file), "")
		}
		if err := os.Chtimes(dir, made, made); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	left := folder("h2raff3", "", old)
	locked := folder("h2raff4", "", old)
	lock, err := hold(locked)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	kept := []string{locked, folder("h2raff5", "text.tex", old), folder("h2raff6", "", time.Now()),
		folder("notes", "", old), folder("h2raffz", "", old)}
	make1(t)
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("it is still there: %v", err)
	}
	for _, dir := range kept {
		if _, err := os.Stat(dir); err != nil {
			t.Error(err)
		}
	}
}

// A process whose new folder a cleaner takes for an old one makes another.
func TestHomeBesideACleaner(t *testing.T) {
	root := filepath.Join(testplace.Alone(t), "tunehost")
	if err := prepare(root); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		made, cleaned := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(cleaned)
			cleanOne(root, made)
		}()
		h, err := makeHome(root)
		close(made)
		<-cleaned
		if err != nil {
			t.Fatal(err)
		}
		if !h.exists() || !isHome(h.path) {
			t.Fatalf("%s is no home", h.path)
		}
		if err := errors.Join(empty(h.path), h.lock.Close()); err != nil {
			t.Fatal(err)
		}
	}
}

// cleanOne removes one folder that is not yet locked.
func cleanOne(root string, end <-chan struct{}) {
	for {
		select {
		case <-end:
			return
		default:
		}
		entries, _ := os.ReadDir(root)
		for _, e := range entries {
			dir := filepath.Join(root, e.Name())
			removeUnmarked(dir)
			if _, err := os.Lstat(dir); err != nil {
				return
			}
		}
	}
}

// A runtime directory that others can access is not used, nor a folder of our name that another user
// made there.
func TestUnsafeRoots(t *testing.T) {
	dir := testplace.Alone(t)
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if f := make1(t); strings.HasPrefix(f.Path(), dir) {
		t.Errorf("%s can be read by others", f.Path())
	}
	t.Setenv("XDG_RUNTIME_DIR", "")
	tmp := testplace.Short(t)
	t.Setenv("TMPDIR", tmp)
	if err := os.Symlink(t.TempDir(), of(tmp)); err != nil {
		t.Fatal(err)
	}
	h, err := newHome(places{[]string{of(tmp)}, tmp})
	if err != nil {
		t.Fatal(err)
	}
	defer homes.release(h)
	if got := filepath.Dir(filepath.Dir(h.path)); got != tmp || filepath.Dir(h.path) == of(tmp) {
		t.Errorf("%s is used, with a link at %s", h.path, of(tmp))
	}
	if h.alone == nil || !strings.Contains(h.alone.Error(), of(tmp)) {
		t.Errorf("why the folder is this process's alone: %v", h.alone)
	}
}

// Every path has room for a socket's name, however long TMPDIR is.
func TestPathsAreShort(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", "")
	long := filepath.Join(t.TempDir(), strings.Repeat("long", 30))
	if err := os.Mkdir(long, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", long)
	for range 3 {
		f := make1(t)
		if info, err := os.Stat(f.Path()); err != nil || info.Mode() != fs.ModeDir|0o700 || len(f.Path()) > MaxPath {
			t.Errorf("%s: %v", f.Path(), err)
		}
	}
	names := []string{"/plugin-dir4294967295/plugin4294967295", "/plugin-dir4294967295/ch-4294967295/123456"}
	for _, n := range names {
		if MaxPath+len(n) > 103 {
			t.Errorf("no room for %s: %d bytes", n, MaxPath+len(n))
		}
	}
	if f, err := MakeLarge(); err != nil || !strings.HasPrefix(f.Path(), long) {
		t.Errorf("%v, %v", f, err)
	} else if err := f.Remove(); err != nil {
		t.Error(err)
	}
}

// A home that the user has removed is made again. A plugin announces its socket in a line, between
// bars: a path with a bar or a line break is not used.
func TestPathsCanBeAnnounced(t *testing.T) {
	for _, name := range []string{"a\nb", "a|b", "a\rb"} {
		t.Setenv("XDG_RUNTIME_DIR", "")
		t.Setenv("TMPDIR", "/"+name)
		places := runtimePlaces()
		if all := strings.Join(append(places.roots, places.otherwise), ""); strings.ContainsAny(all, "|\r\n") {
			t.Errorf("%q: %q", name, all)
		}
		if len(places.roots) == 0 {
			t.Errorf("%q: nothing is left", name)
		}
	}
}

func TestRemovedUnderneath(t *testing.T) {
	testplace.Alone(t)
	f := make1(t)
	if err := os.RemoveAll(f.Home()); err != nil {
		t.Fatal(err)
	}
	g := make1(t)
	if _, err := os.Stat(g.Path()); err != nil {
		t.Error(err)
	}
	if err := f.Remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(g.Path()); err != nil {
		t.Error(err)
	}
}

// A folder that could not be locked is removed without a descriptor, together with the root that was
// made for it.
func TestHalfMadeHomeIsRemoved(t *testing.T) {
	root := t.TempDir()
	if err := os.Chmod(root, 0o700); err != nil {
		t.Fatal(err)
	}
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	none := was
	none.Cur = 0
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &none); err != nil {
		t.Fatal(err)
	}
	_, err := newHome(places{[]string{filepath.Join(root, "user")}, root})
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	left, errL := filepath.Glob(filepath.Join(root, "*", "*"))
	others, errO := filepath.Glob(filepath.Join(root, "tunehost-*"))
	if err == nil || errL != nil || errO != nil || len(left)+len(others) > 0 {
		t.Errorf("%v; left %v %v", err, left, others)
	}
}
