package experiments

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/host/view"
)

// Item is an experiment in a list.
type Item struct {
	// ID names the experiment in URLs.
	ID string `json:"id"`
	// Reading: only ID, and Name and Dir as of what cannot be read, are set if it was never read before.
	Reading bool `json:"reading,omitempty" doc:"its large record is being read; the rest is older, or empty"`
	view.Summary
}

// line is an experiment in a list, as long as its files do not change.
type line struct {
	files string // see filesOf
	view.Summary
	// err says why it could not be read: see lasting.
	err error
}

// lasting reports whether a line is right as long as the files are as they were: other errors than damage may go away.
func (l *line) lasting() bool { return l.err == nil || errors.Is(l.err, journal.ErrCorrupt) }

// List returns all experiments, by id. It does not wait until large ones are read, and has them read: see Item.Reading.
func (c *Catalog) List() ([]Item, error) {
	places, err := c.places()
	if err != nil {
		return nil, err
	}
	items := make([]Item, 0, len(places))
	for _, p := range places {
		items = append(items, c.item(p))
	}
	c.hurry()
	slices.SortFunc(items, func(a, b Item) int { return cmp.Compare(a.ID, b.ID) })
	return items, nil
}

func (c *Catalog) item(p place) Item {
	var x line
	reading := false
	err := p.brought(func(p place) error {
		x, reading = c.line(p)
		return x.err
	})
	switch {
	case err != nil:
		x.Summary = view.Unreadable(p.name(), err)
		x.Name = p.base()
	case reading && x.State == "":
		x.Name, x.Dir = p.base(), p.name()
	}
	return Item{ID: p.id, Reading: reading, Summary: x.Summary}
}

// line opens an experiment only if its files have changed. If that takes long, the line is that of the last time.
func (c *Catalog) line(p place) (x line, reading bool) {
	files := filesOf(p.dir)
	c.mu.Lock()
	known, ok := c.lines[p.dir]
	c.mu.Unlock()
	if ok && known.State != view.Running && known.files == files && known.lasting() {
		return known, false
	}
	if bytes := bytesOf(p.dir); bytes > atOnce && !c.still && !c.has(p) {
		c.later(p, bytes)
		return known, true
	}
	return c.fresh(p, files), false
}

// fresh reads what is new of an experiment, and keeps its line. Its files were looked at before.
func (c *Catalog) fresh(p place, files string) line {
	x := line{files: files}
	x.Summary, x.err = c.summarize(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lines[p.dir] = x
	return x
}

func (c *Catalog) summarize(p place) (view.Summary, error) {
	s, done, err := c.acquire(p)
	if err != nil {
		return view.Summary{}, err
	}
	defer done()
	return s.Summary()
}

// has reports whether an experiment is open, such that only what is new must be read.
func (c *Catalog) has(p place) bool {
	file, err := stamp(p.dir)
	if err != nil {
		return true // to open it fails at once
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.open[p.dir]
	return s != nil && s.begun.Load() && same(s.file, file)
}

// filesOf changes with what says how an experiment is: with its settings, its lock, and the files of its record.
func filesOf(dir string) string {
	var b strings.Builder
	var paths []string
	for _, name := range []string{"run.json", "experiment.yaml", "LOCK"} {
		paths = append(paths, filepath.Join(dir, name))
	}
	entries, _ := os.ReadDir(filepath.Join(dir, "journal")) // without it, there is only the rest
	for _, e := range entries {
		paths = append(paths, filepath.Join(dir, "journal", e.Name()))
	}
	for _, path := range paths {
		if info, err := os.Lstat(path); err == nil {
			fmt.Fprintln(&b, filepath.Base(path), info.Size(), info.ModTime().UnixNano())
		}
	}
	return b.String()
}

// bytesOf is the size of an experiment's record.
func bytesOf(dir string) (n int64) {
	entries, _ := os.ReadDir(filepath.Join(dir, "journal")) // without it, there is nothing to read
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			n += info.Size()
		}
	}
	return n
}
