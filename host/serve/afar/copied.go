package afar

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/mirror"
	"github.com/tunehost/tunehost/host/storage/nolink"
	"github.com/tunehost/tunehost/host/storage/remote"
	"github.com/tunehost/tunehost/host/usererror"
)

// copied is an experiment of the storage.
type copied struct {
	in  *Storage
	url string
	// dir has the copy of its record. Each new one takes the place of the whole directory.
	dir string
	// files is held by those who open files of the copy, and taken to put a new one in its place.
	files sync.RWMutex

	first  sync.Once
	mu     sync.Mutex
	look   looked
	ready  bool
	now    Place
	record string // what the copy is of: see mirror.Store.Record
}

// update has the storage looked at if it is time.
func (c *copied) update() {
	c.first.Do(c.fetch)
	c.in.again(&c.mu, &c.look, c.fetch)
}

// place returns what the last look has found. An old copy is better than none.
func (c *copied) place() (Place, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ready {
		return c.now, nil
	}
	return Place{}, c.look.err
}

func (c *copied) fetch() {
	began := time.Now()
	ctx, cancel := context.WithTimeout(c.in.ctx, patience)
	defer cancel()
	place, record, err := c.fetched(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.look.done(began, usererror.Wrap(err)); err == nil {
		c.ready, c.now, c.record = true, place, record
	}
}

// fetched brings the copy up to date. Where this machine was the last to run the experiment, its working directory has
// more than any copy.
func (c *copied) fetched(ctx context.Context) (p Place, record string, err error) {
	working, err := remote.WorkingDir(c.url)
	if err != nil {
		return p, "", err
	}
	if remote.RunsHere(working) {
		return Place{Dir: working}, "", nil
	}
	s, err := mirror.OpenToRead(ctx, c.url)
	if err != nil {
		return p, "", err
	}
	defer s.Close()
	if ours, err := s.LastFrom(ctx, working); err == nil && ours {
		return Place{Dir: working}, "", nil
	}
	p = Place{Dir: c.dir, Copied: true}
	if p.Machine, err = s.HeldBy(ctx, mirror.DefaultTiming, time.Now()); err != nil {
		return p, "", err
	}
	if record, err = s.Record(ctx); err != nil {
		return p, "", err
	}
	c.mu.Lock()
	same, machine := c.ready && c.now.Copied && c.record == record, c.now.Machine
	c.mu.Unlock()
	if same && machine == p.Machine {
		return p, record, nil
	}
	return p, record, c.replace(ctx, s)
}

// replace puts a new copy in the place of the old one.
func (c *copied) replace(ctx context.Context, s *mirror.Store) error {
	fresh, old := c.dir+".new", c.dir+".old"
	if err := errors.Join(nolink.RemoveTree(fresh), nolink.RemoveTree(old)); err != nil {
		return err
	}
	d, err := storage.At(fresh)
	if err != nil {
		return err
	}
	if err := mirror.FetchRecord(ctx, s, d); err != nil {
		return err
	}
	c.files.Lock()
	defer c.files.Unlock()
	if err := os.Rename(c.dir, old); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.Rename(fresh, c.dir); err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(c.dir), err)
	}
	return nolink.RemoveTree(old)
}
