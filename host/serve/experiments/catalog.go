package experiments

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
	"weak"

	"github.com/tunehost/tunehost/host/nearest"
	"github.com/tunehost/tunehost/host/serve/afar"
	"github.com/tunehost/tunehost/host/smallheap"
	"github.com/tunehost/tunehost/host/storage/mirror"
	"github.com/tunehost/tunehost/host/untrusted"
	"github.com/tunehost/tunehost/host/view"
)

// unused is how long an experiment stays open that nobody asks for.
const unused = 10 * time.Minute

// room is how much memory open experiments may take, in bytes, before those are closed that nobody uses.
const room = 128 << 20

// LimitMemory has this process keep to about 210 MiB beside the program itself, as far as what is open allows.
func LimitMemory() { smallheap.Limit(210 << 20) }

// Catalog has the experiments in some folders. It is safe for concurrent use.
type Catalog struct {
	roots []string
	// far are the roots that are URLs.
	far   map[string]*afar.Storage
	still bool
	mu    sync.Mutex
	open  map[string]*Shared // by directory
	lines map[string]line
	late  late
}

// New returns the experiments in folders; a folder may also be one of an experiment, or the URL of a storage.
func New(folders ...string) *Catalog {
	c := &Catalog{roots: folders, far: map[string]*afar.Storage{}, open: map[string]*Shared{},
		lines: map[string]line{}, late: late{wanted: map[string]wanted{}}}
	for _, root := range folders {
		if mirror.IsURL(root) {
			c.far[root] = afar.New(root)
		}
	}
	return c
}

// Still returns the experiments in folders, each as it was when it was first asked for.
func Still(folders ...string) *Catalog {
	c := New(folders...)
	c.still = true
	return c
}

// CheckStorage looks at the storage at a URL: the error says why nothing could be shown.
func CheckStorage(url string) error {
	s := afar.New(url)
	defer s.Close()
	return s.Check()
}

// Root is the folder for new experiments.
func (c *Catalog) Root() (string, error) {
	root := c.roots[0]
	if c.far[root] != nil {
		return "", fmt.Errorf("%s is shown for reading: `tunehost run FILE --storage %s` begins an experiment there",
			root, untrusted.Word(root))
	}
	return filepath.Abs(root)
}

// ErrUnknown says that there is no experiment of a name.
var ErrUnknown = errors.New("there is no such experiment")

// place is where an experiment is: in a directory, or in a storage, which has a URL.
type place struct {
	id, dir string
	storage *afar.Storage
	url     string
	// copied says that dir has a copy of the record alone, machine which other machine runs the experiment.
	copied  bool
	machine string
	// listed says that nobody has named dir: it is in a folder, where others may have put a link.
	listed bool
}

// brought calls f with the experiment's directory on this machine.
func (p place) brought(f func(place) error) error {
	if p.listed {
		if err := view.CheckListed(p.dir); err != nil {
			return fmt.Errorf("%s: %w", p.dir, err)
		}
	}
	if p.storage == nil {
		return f(p)
	}
	return p.storage.With(p.url, func(at afar.Place) error {
		p.dir, p.copied, p.machine = at.Dir, at.Copied, at.Machine
		return f(p)
	})
}

// name is what a user calls the place.
func (p place) name() string { return cmp.Or(p.url, p.dir) }

// base is the name of its directory, or its last one in a storage.
func (p place) base() string {
	if name, err := afar.Name(p.url); p.url != "" && err == nil {
		return name
	}
	return filepath.Base(p.dir)
}

// places finds all experiments. Of those whose directories have the same name, all but the first have a part of a
// checksum of their path in their id; so have those whose name is no text, which no request could have. One that is in
// several roots is there once.
func (c *Catalog) places() (list []place, err error) {
	known, at := map[string]bool{}, map[string]int{}
	for _, root := range c.roots {
		found, err := c.below(root)
		if err != nil {
			return nil, err
		}
		for _, p := range found {
			if i, again := at[p.name()]; again {
				list[i].listed = list[i].listed && p.listed
				continue
			}
			at[p.name()] = len(list)
			text := strings.ToValidUTF8(p.id, "\uFFFD")
			if known[text] || text != p.id {
				sum := sha256.Sum256([]byte(p.name()))
				p.id = text + "~" + hex.EncodeToString(sum[:4])
			}
			known[p.id] = true
			list = append(list, p)
		}
	}
	return list, nil
}

// below returns the experiments of a root, with ids that are not yet unique.
func (c *Catalog) below(root string) (list []place, err error) {
	if far := c.far[root]; far != nil {
		urls, err := far.Experiments()
		for _, url := range urls {
			if name, err := afar.Name(url); err == nil {
				list = append(list, place{id: name, storage: far, url: url})
			}
		}
		return list, err
	}
	dirs, err := within(root)
	for _, dir := range dirs {
		list = append(list, place{id: filepath.Base(dir), dir: dir, listed: !view.Is(root)})
	}
	return list, err
}

// within returns the experiments in a folder, or the folder if it is one. A folder that does not exist yet
// has none.
func within(root string) (dirs []string, err error) {
	if root, err = filepath.Abs(root); err != nil {
		return nil, err
	}
	if view.Is(root) {
		return []string{root}, nil
	}
	entries, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if dir := filepath.Join(root, e.Name()); view.Is(dir) || view.Hidden(dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs, err
}

// Within returns the directories of experiments in a folder, or the folder if it is one of an experiment.
func Within(folder string) ([]string, error) { return within(folder) }

// ID returns the id of the experiment in a directory.
func (c *Catalog) ID(dir string) (string, error) {
	places, err := c.places()
	for _, p := range places {
		if p.dir == dir {
			return p.id, nil
		}
	}
	return "", errors.Join(err, fmt.Errorf("%s: %w", dir, ErrUnknown))
}

// Place is the directory or the URL of an experiment.
func (c *Catalog) Place(id string) (string, error) {
	places, err := c.places()
	for _, p := range places {
		if p.id == id {
			return p.name(), nil
		}
	}
	return "", errors.Join(err, fmt.Errorf("%w: %.100q", ErrUnknown, id))
}

// Get returns an experiment, up to date, until done is called. [ErrUnknown]: there is none of this id.
func (c *Catalog) Get(id string) (s *Shared, done func(), err error) {
	places, err := c.places()
	if err != nil {
		return nil, nil, err
	}
	names := make([]string, 0, len(places))
	for _, p := range places {
		if p.id == id {
			err := p.brought(func(p place) error {
				s, done, err = c.acquire(p)
				return err
			})
			return s, done, err
		}
		names = append(names, p.id)
	}
	return nil, nil, fmt.Errorf("%w: %.100q%s", ErrUnknown, id, nearest.Hint(id, names))
}

// acquire returns an open experiment. The record of a large one takes seconds: others are not held up.
func (c *Catalog) acquire(p place) (*Shared, func(), error) {
	file, err := stamp(p.dir)
	if err != nil {
		return nil, nil, err
	}
	s := c.claim(p, file)
	s.once.Do(func() { s.opened = s.begin(p) })
	err = s.opened
	if err == nil && !c.still {
		err = s.refresh(time.Now())
	}
	if err != nil {
		c.drop(p.dir, s)
		c.release(s)
		return nil, nil, err
	}
	return s, func() { c.release(s) }, nil
}

// claim counts a user of the experiment in a directory.
func (c *Catalog) claim(p place, file os.FileInfo) *Shared {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.open[p.dir]
	if s == nil || !same(s.file, file) {
		if s != nil {
			c.leave(p.dir, s)
		}
		s = &Shared{ID: p.id, dir: p.dir, file: file}
		c.open[p.dir] = s
	}
	s.n++
	return s
}

func (c *Catalog) drop(dir string, s *Shared) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open[dir] == s {
		c.leave(dir, s)
	}
}

// leave forgets an experiment; its last user closes it.
func (c *Catalog) leave(dir string, s *Shared) {
	delete(c.open, dir)
	s.gone = true
	if s.n == 0 {
		s.close()
	}
}

// Ended returns what reports whether the last word on an experiment has been spoken since now: its host has ended, or
// it was opened anew, as its settings have changed. It does not keep in memory what the catalog closes.
func (c *Catalog) Ended(s *Shared) func() bool {
	dir, version, was := s.dir, s.Version(), weak.Make(s)
	return func() bool {
		now := c.opened(dir)
		if now == nil || weak.Make(now) != was {
			return now != nil
		}
		return !now.Running() && now.Version() != version
	}
}

// opened returns the experiment in a directory if it is open.
func (c *Catalog) opened(dir string) *Shared {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.open[dir]
}

func (c *Catalog) release(s *Shared) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s.n--
	s.last = time.Now()
	if s.n == 0 && s.gone {
		s.close()
	}
	c.makeRoom(room)
}

// makeRoom closes what nobody uses, the least recently used first, until the rest takes at most so many bytes.
func (c *Catalog) makeRoom(most int64) {
	for {
		var taken int64
		oldest, idle := "", 0
		for dir, s := range c.open {
			taken += s.weight.Load()
			if s.n > 0 {
				continue
			}
			if idle++; oldest == "" || s.last.Before(c.open[oldest].last) {
				oldest = dir
			}
		}
		if taken <= most || idle < 2 { // the last one may be asked for again at once
			return
		}
		c.leave(oldest, c.open[oldest])
	}
}

// Tidy closes what nobody has asked for.
func (c *Catalog) Tidy(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for dir, s := range c.open {
		if s.n == 0 && now.Sub(s.last) > unused {
			c.leave(dir, s)
		}
	}
}

// Close closes everything that nobody uses.
func (c *Catalog) Close() {
	c.noLater()
	c.Tidy(time.Now().Add(2 * unused))
	for _, far := range c.far {
		far.Close()
	}
}
