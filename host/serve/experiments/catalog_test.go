package experiments

import (
	"path/filepath"
	"testing"

	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/host/view/viewtest"
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
