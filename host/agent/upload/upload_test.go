package upload

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tunehost/tunehost/host/agent/message"
	"github.com/tunehost/tunehost/internal/toolchain"
)

// write makes files by path and content; "->x" is a link to x.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(path), 0o700)
		if to, ok := strings.CutPrefix(text, "->"); ok {
			err = errors.Join(err, os.Symlink(to, path))
		} else {
			err = errors.Join(err, os.WriteFile(path, []byte(text), 0o600))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func has(t *testing.T, dir, name, want string) {
	t.Helper()
	if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
		t.Errorf("%s has %.50q, %v; want %.50q", name, got, err, want)
	}
}

// experiment is a folder with an experiment.
func experiment(t *testing.T) (dir string, tree Tree) {
	t.Helper()
	dir = t.TempDir()
	write(t, dir, map[string]string{"train.py": "import helper", "lib/helper.py": "same", "lib/copy.py": "same",
		"data/big": strings.Repeat("0123456789", 100_000), "data/empty": "", "data/link": "->../lib/helper.py",
		"data/folder": "->../lib", "results/x": "no"})
	if err := os.Chmod(filepath.Join(dir, "train.py"), 0o755); err != nil {
		t.Fatal(err)
	}
	tree, err := Collect(dir, []string{"train.py", "lib", "data/"}, "")
	if err != nil {
		t.Fatal(err)
	}
	return dir, tree
}

func openCache(t *testing.T, shared string) *Cache {
	t.Helper()
	c, err := OpenCache(shared)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// ship sends a tree to a new folder, and returns how much was sent.
func ship(t *testing.T, tree *Tree, c *Cache) (folder string, sent int64, err error) {
	t.Helper()
	host, node := net.Pipe()
	folder = t.TempDir()
	done := make(chan error, 1)
	go func() {
		got, err := Read(node, tree.Root)
		if err == nil && got.Digest() != tree.Digest() {
			err = errors.New("another tree arrived")
		}
		if err == nil {
			err = Place(node, &got, folder, c)
		}
		_ = node.Close()
		done <- err
	}()
	sent, sendErr := Send(host, tree)
	_ = host.Close()
	if err = <-done; err == nil {
		err = sendErr
	}
	return folder, sent, err
}

// All of a tree arrives as it is, and once: a second agent of the node has it from the first.
func TestOnce(t *testing.T) {
	_, tree := experiment(t)
	shared := t.TempDir()
	for i, want := range []int64{tree.Size() - 4, 0} { // equal files are one
		folder, sent, err := ship(t, &tree, openCache(t, shared))
		if err != nil || sent != want {
			t.Fatalf("time %d: %d bytes, want %d: %v", i, sent, want, err)
		}
		has(t, folder, "train.py", "import helper")
		has(t, folder, "lib/copy.py", "same")
		has(t, folder, "data/link", "same")
		has(t, folder, "data/folder/helper.py", "same")
		has(t, folder, "data/empty", "")
		info, err := os.Stat(filepath.Join(folder, "train.py"))
		if err != nil || info.Mode().Perm() != 0o700 {
			t.Error(info.Mode(), err)
		}
		if _, err := os.Lstat(filepath.Join(folder, "results")); err == nil {
			t.Error("more was sent than asked for")
		}
		write(t, folder, map[string]string{"lib/helper.py": "a trial writes here"})
	}
}

// B-137: what somebody has put in the place of a content is noticed when it is used, and sent again.
func TestPoisoned(t *testing.T) {
	_, tree := experiment(t)
	shared := t.TempDir()
	if _, _, err := ship(t, &tree, openCache(t, shared)); err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(t.TempDir(), "outside")
	write(t, filepath.Dir(outside), map[string]string{"outside": "import helper"})
	contents, _ := filepath.Glob(filepath.Join(shared, "*", strings.Repeat("?", 64)))
	if len(contents) != 4 {
		t.Fatal(contents)
	}
	for i, path := range contents {
		err := os.Remove(path)
		switch i {
		case 0:
			err = errors.Join(err, os.Symlink(outside, path))
		case 1:
			err = errors.Join(err, syscall.Mkfifo(path, 0o600))
		case 2:
			err = errors.Join(err, os.Mkdir(path, 0o700))
		default:
			err = errors.Join(err, os.WriteFile(path, []byte("evil"), 0o600))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	folder, _, err := ship(t, &tree, openCache(t, shared))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range tree.Files {
		if f.SHA256 != "" {
			text, _ := os.ReadFile(filepath.Join(tree.Root, f.Path))
			has(t, folder, f.Path, string(text))
		}
	}
	has(t, filepath.Dir(outside), "outside", "import helper")
}

// A folder that others can write to is not used as the cache: all agents of the user take another one.
func TestForeignCache(t *testing.T) {
	_, tree := experiment(t)
	for name, make := range map[string]func(path string) error{
		"open":   func(p string) error { return errors.Join(os.Mkdir(p, 0o700), os.Chmod(p, 0o777)) },
		"a link": func(p string) error { return os.Symlink("/tmp", p) },
		"a file": func(p string) error { return os.WriteFile(p, nil, 0o600) },
	} {
		shared := t.TempDir()
		first := openCache(t, shared)
		path := first.root.Name()
		first.Close()
		if err := errors.Join(os.RemoveAll(path), make(path)); err != nil {
			t.Fatal(err)
		}
		wantRandom(t, name, shared, &tree)
	}
}

// wantRandom ships a tree twice to a node where the name of the cache is taken. The second time nothing is sent.
func wantRandom(t *testing.T, name, shared string, tree *Tree) {
	t.Helper()
	first, second := openCache(t, shared), openCache(t, shared)
	if at := first.root.Name(); at != second.root.Name() || !strings.HasPrefix(at, shared+"/tunehost-files-") ||
		filepath.Dir(at) != shared {
		t.Errorf("%s: the caches are in %s and %s", name, at, second.root.Name())
	}
	if info, err := first.root.Stat("."); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%s: %v, %v", name, info, err)
	}
	first.Clean(time.Now())
	for i, c := range []*Cache{first, second} {
		folder, sent, err := ship(t, tree, c)
		if err != nil || sent > 0 != (i == 0) {
			t.Errorf("%s: %d bytes were sent, %v", name, sent, err)
			continue
		}
		has(t, folder, "train.py", "import helper")
	}
}

// Another user of the node who takes the names first learns and changes nothing, and does not keep the cache away.
func TestCacheOfAnotherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("SKIPPED: only root can become another user: NOT TESTED")
	}
	toolchain.Programs(t, "sh")
	shared, err := os.MkdirTemp("/tmp", "shared") // t.TempDir is in a folder that other users cannot enter
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(shared) })
	if err := os.Chmod(shared, 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	asOther(t, shared, "mkdir -m 777 tunehost-files-0 && mkdir tunehost-files-0-000 && ln -s /tmp tunehost-files-0-001")
	_, tree := experiment(t)
	wantRandom(t, "another user's", shared, &tree)
	c := openCache(t, shared)
	at := c.root.Name()
	out := asOther(t, shared, "ls -A tunehost-files-0 tunehost-files-0-000; ls "+at+" 2>/dev/null; "+
		"touch "+at+"/x 2>/dev/null; mv "+at+" mine 2>/dev/null; true")
	if len(strings.Fields(out)) > 2 { // the names of the two folders, which are empty
		t.Errorf("the other user sees %q", out)
	}
	if again := openCache(t, shared); again.root.Name() != at {
		t.Errorf("the cache is now in %s", again.root.Name())
	}
}

// asOther runs a script as another user in a folder, and returns its output.
func asOther(t *testing.T, dir, script string) string {
	t.Helper()
	const nobody = 65534
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// Two agents of a node that begin at the same time receive each content once.
func TestTwoAtOnce(t *testing.T) {
	_, tree := experiment(t)
	shared := t.TempDir()
	var all sync.WaitGroup
	total := make(chan int64, 4)
	for range cap(total) {
		c := openCache(t, shared)
		all.Go(func() {
			folder, sent, err := ship(t, &tree, c)
			if err != nil {
				t.Error(err)
			}
			has(t, folder, "lib/helper.py", "same")
			total <- sent
		})
	}
	all.Wait()
	close(total)
	sum := int64(0)
	for n := range total {
		sum += n
	}
	if sum != tree.Size()-4 {
		t.Errorf("%d bytes were sent, for %d", sum, tree.Size()-4)
	}
}

// cutting is a connection that ends after some bytes.
type cutting struct {
	net.Conn
	left int
}

func (c *cutting) Write(p []byte) (int, error) {
	if c.left -= len(p); c.left < 0 {
		_ = c.Conn.Close()
		return 0, io.ErrClosedPipe
	}
	return c.Conn.Write(p)
}

// A connection that ends in the middle leaves nothing that would be used.
func TestCut(t *testing.T) {
	_, tree := experiment(t)
	shared := t.TempDir()
	host, node := net.Pipe()
	failed := make(chan error, 1)
	go func() {
		got, err := Read(node, tree.Root)
		if err == nil {
			err = Place(node, &got, t.TempDir(), openCache(t, shared))
		}
		failed <- err
	}()
	if _, err := Send(&cutting{host, 500_000}, &tree); err == nil {
		t.Error("it was sent")
	}
	if err := <-failed; err == nil {
		t.Error("it was placed")
	}
	if folder, _, err := ship(t, &tree, openCache(t, shared)); err != nil {
		t.Error(err)
	} else {
		has(t, folder, "data/big", strings.Repeat("0123456789", 100_000))
	}
}

// A file that changes while it is sent is not placed.
func TestChanged(t *testing.T) {
	dir, tree := experiment(t)
	for _, text := range []string{"import HELPER", "short", "a longer text than before"} {
		if err := os.WriteFile(filepath.Join(dir, "train.py"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		folder, _, err := ship(t, &tree, openCache(t, t.TempDir()))
		if got, _ := os.ReadFile(filepath.Join(folder, "train.py")); err == nil || len(got) > 0 {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}

// What leads out of the folder, and what is no plain file, cannot be uploaded; the error names it.
func TestRefused(t *testing.T) {
	outside := t.TempDir()
	for name, c := range map[string]struct {
		files map[string]string
		names []string
		says  string
	}{
		"parent":     {nil, []string{"../x"}, "is not in"},
		"absolute":   {nil, []string{"/etc/passwd"}, "is not in"},
		"missing":    {nil, []string{"none.py"}, "none.py: no such file"},
		"out":        {map[string]string{"d/l": "->../../x"}, []string{"d"}, "leads out of the folder"},
		"out, exact": {map[string]string{"l": "->../x"}, []string{"l"}, "leads out of the folder"},
		"abs link":   {map[string]string{"l": "->/etc/passwd"}, []string{"."}, "leads out of the folder"},
		"unlisted":   {map[string]string{"d/l": "->../x", "x": "1"}, []string{"d"}, "which is not uploaded"},
		"dangling":   {map[string]string{"l": "->none"}, []string{"l"}, "which is not uploaded"},
		"through":    {map[string]string{"d": "->" + outside}, []string{"d/x"}, "only folders can have files"},
	} {
		dir := t.TempDir()
		write(t, dir, c.files)
		if _, err := Collect(dir, c.names, ""); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Collect(dir, []string{"."}, ""); err == nil || !strings.Contains(err.Error(), "pipe is a pipe") {
		t.Error(err)
	}
}

// What is to be left out is.
func TestSkipped(t *testing.T) {
	dir, _ := experiment(t)
	tree, err := Collect(dir, []string{".", "lib"}, filepath.Join(dir, "results"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range tree.Files {
		names = append(names, f.Path)
	}
	want := "data data/big data/empty data/folder data/link lib lib/copy.py lib/helper.py train.py"
	if strings.Join(names, " ") != want {
		t.Error(names)
	}
}

// A list that leads out of the folder is refused by the agent.
func TestHostileLists(t *testing.T) {
	sum := strings.Repeat("a", 64)
	for _, f := range []File{{Path: "../x", SHA256: sum}, {Path: "/x", SHA256: sum}, {Path: ".", Dir: true},
		{Path: "", SHA256: sum}, {Path: "a//b", SHA256: sum}, {Path: "a", SHA256: "../../../etc/passwd"},
		{Path: "a", SHA256: ""}, {Path: "a", Link: "../x"}, {Path: "a/b", Link: "../../x"}, {Path: "a", Link: "/x"},
		{Path: "a", Dir: true, Link: "b"}, {Path: "a", SHA256: sum, Size: -1}, {Path: "a\x00", SHA256: sum},
		{Path: "a", SHA256: strings.Repeat("A", 64)}} {
		var list bytes.Buffer
		w := message.NewWriter(&list)
		_, _ = w.Put(message.Item, f), w.Write(message.End, nil)
		if _, err := Read(&list, "/"); err == nil {
			t.Errorf("%+v was accepted", f)
		}
	}
	outside := t.TempDir()
	folder := t.TempDir()
	tree := Tree{Root: "/", Files: []File{{Path: "l", Link: "."}, {Path: "l/x", SHA256: sum}}}
	host, node := net.Pipe()
	go func() { _, _ = io.Copy(io.Discard, host) }()
	go func() { _ = message.NewWriter(host).Put(message.Item, Blob{sum, 5}); _ = host.Close() }()
	if err := Place(node, &tree, folder, &Cache{}); err == nil {
		t.Error("a file was written through a link")
	}
	if list, _ := os.ReadDir(outside); len(list) > 0 {
		t.Error(list)
	}
}

// Files are used where they are if they are the same there.
func TestHere(t *testing.T) {
	dir, tree := experiment(t)
	if !tree.Here() {
		t.Error("they are not found")
	}
	if err := os.WriteFile(filepath.Join(dir, "lib/helper.py"), []byte("SAME"), 0o600); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, "lib/copy.py"))
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range tree.Files { // the same size and time, and another content
		if f.Path == "lib/helper.py" {
			tree.Files[i].Written = info.ModTime().UnixNano()
			_ = os.Chtimes(filepath.Join(dir, f.Path), info.ModTime(), info.ModTime())
		}
	}
	if tree.Here() {
		t.Error("a file with another content is taken for the host's")
	}
	if (&Tree{Root: dir}).Here() || (&Tree{Root: "relative", Files: tree.Files[:1]}).Here() {
		t.Error("nothing is here")
	}
}

// What was not used for long goes, and what was not received to its end.
func TestClean(t *testing.T) {
	shared := t.TempDir()
	c := openCache(t, shared)
	c.put("old", strings.NewReader("1"))
	c.put("new", strings.NewReader("2"))
	write(t, c.root.Name(), map[string]string{"x-1.part": "", "x-2.part": ""})
	now := time.Now()
	for name, age := range map[string]time.Duration{"old": keptFor + time.Hour, "x-1.part": 2 * unfinished} {
		if err := os.Chtimes(filepath.Join(c.root.Name(), name), now, now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	c.Clean(now)
	entries, _ := fs.ReadDir(c.root.FS(), ".")
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if !slices.Equal(names, []string{"new", "x-2.part"}) {
		t.Error(names)
	}
}
