package experiments

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"weak"

	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/host/view/viewtest"
	"github.com/tunehost/tunehost/internal/testplace"
)

const source = `
version: 1
objective: {metric: accuracy, mode: max}
space: {lr: {loguniform: [1e-4, 1]}}
trials: 3
trainable: {command: [train]}
`

// Experiments that nobody uses are closed when the open ones take too much memory: the least recently used first, and
// never one that is in use, nor the last one.
func TestRoom(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"a", "b", "c"} {
		w := viewtest.New(filepath.Join(root, name), []byte(source), 1)
		w.Start(1)
		w.Run(-1)
		w.Close()
	}
	c := New(root)
	get := func(name string) func() {
		_, done, err := c.Get(name)
		if err != nil {
			t.Fatal(err)
		}
		return done
	}
	open := func() (names string) {
		for dir := range c.open {
			names += filepath.Base(dir)
		}
		return names
	}
	get("a")()
	inUse := get("b")
	get("c")()
	get("c")()
	c.mu.Lock()
	c.makeRoom(1 << 30)
	if len(c.open) != 3 {
		t.Errorf("open with enough room: %s", open())
	}
	c.makeRoom(0)
	if len(c.open) != 2 || c.open[filepath.Join(root, "a")] != nil {
		t.Errorf("open without room: %s, want b and c", open())
	}
	c.mu.Unlock()
	inUse()
	if c.Close(); len(c.open) > 0 {
		t.Errorf("at the end: %s", open())
	}
	get("a")()
}

// What is asked of an answer that is kept does not keep the experiment in memory, which takes much more room.
func TestEndedKeepsNothingInMemory(t *testing.T) {
	root := t.TempDir()
	w := viewtest.New(filepath.Join(root, "a"), []byte(source), 1)
	w.Start(1)
	w.Run(-1)
	w.Close()
	c := New(root)
	over, left := func() (func() bool, weak.Pointer[Shared]) {
		x, done, err := c.Get("a")
		if err != nil {
			t.Fatal(err)
		}
		defer done()
		return c.Ended(x), weak.Make(x)
	}()
	if over() {
		t.Error("it has ended since")
	}
	c.Close()
	testplace.Soon(t, "the end of what was read", func() bool {
		runtime.GC()
		return left.Value() == nil
	})
	if over() {
		t.Error("it has ended since it was closed")
	}
	if _, done, err := c.Get("a"); err != nil || !over() {
		t.Errorf("it was not opened anew: %v", err)
	} else {
		done()
	}
}

// A catalog that holds still shows an experiment as it was first seen, whatever its host records in the meantime;
// another one follows it.
func TestStill(t *testing.T) {
	root := t.TempDir()
	w := viewtest.New(filepath.Join(root, "a"), []byte(source), 1)
	w.Start(1)
	w.Run(1)
	still, follows := Still(root), New(root)
	entries := func(c *Catalog) (n uint64) {
		x, done, err := c.Get("a")
		if err != nil {
			t.Fatal(err)
		}
		defer done()
		if err := x.Look(func(s *view.State) { n = s.Entries() }); err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := entries(still)
	if n := entries(follows); n != before {
		t.Fatalf("%d and %d entries", before, n)
	}
	w.Run(-1)
	w.Close()
	if n := entries(still); n != before {
		t.Errorf("%d entries were %d before", n, before)
	}
	if n := entries(follows); n <= before {
		t.Errorf("%d entries are read, and more were recorded", n)
	}
}

// TestLinkOfAnother: a link that another user has put into the folder, to a directory which is not that user's, is
// listed with the reason, and not followed. One of the reader is.
func TestLinkOfAnother(t *testing.T) {
	away, root := filepath.Join(t.TempDir(), "away"), t.TempDir()
	w := viewtest.New(away, []byte(source), 1)
	w.Start(1)
	w.Run(-1)
	w.Close()
	link := filepath.Join(root, "x")
	if err := os.Symlink(away, link); err != nil {
		t.Fatal(err)
	}
	listed := func() Item {
		list, err := New(root).List()
		if err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
		return list[0]
	}
	if x := listed(); x.Error != "" {
		t.Errorf("my own: %s", x.Error)
	}
	if os.Lchown(link, 65534, -1) != nil {
		return // only root can make links of others: ownership.TestCheckLink has the rest
	}
	if x := listed(); !strings.Contains(x.Error, "is not followed") {
		t.Errorf("of another: %+v", x)
	}
	if _, _, err := New(root).Get("x"); err == nil || !strings.Contains(err.Error(), "is not followed") {
		t.Errorf("of another: %v", err)
	}
}

// A directory whose name is no text has an id that requests can have. An error names the directory once.
func TestStrangeDirectories(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"a\xff", "a\xfe"} {
		w := viewtest.New(filepath.Join(root, name), []byte(source), 1)
		w.Start(1)
		w.Run(-1)
		w.Close()
	}
	empty := filepath.Join(root, "empty")
	if err := os.Mkdir(empty, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(empty, "experiment.yaml"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	c := New(root)
	list, err := c.List()
	if err != nil || len(list) != 3 {
		t.Fatal(list, err)
	}
	for _, x := range list[:2] {
		_, done, err := c.Get(x.ID)
		if err != nil || !strings.HasPrefix(x.ID, "a\uFFFD~") {
			t.Errorf("%q: %v", x.ID, err)
			continue
		}
		done()
	}
	if n := strings.Count(list[2].Error, empty); n != 1 {
		t.Errorf("the directory is there %d times: %s", n, list[2].Error)
	}
}

// Roots that are within each other, or the same, show each experiment once.
func TestRootsWithinEachOther(t *testing.T) {
	root := t.TempDir()
	one := filepath.Join(root, "one")
	w := viewtest.New(one, []byte(source), 1)
	w.Start(1)
	w.Run(-1)
	w.Close()
	list, err := New(root, one, root, root+"/./one/..").List()
	if err != nil || len(list) != 1 || list[0].ID != "one" {
		t.Errorf("%+v, %v", list, err)
	}
}
