package afar

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/tunehost/tunehost/host/storage/mirror"
	"github.com/tunehost/tunehost/host/storage/runtimedir"
	"github.com/tunehost/tunehost/host/usererror"
)

const (
	// pause is the shortest pause between two looks at the storage; else it is ten times as long as the last look took.
	pause = 2 * time.Second
	// wait is how long a reader waits for a look that is due; a slow storage is shown as it was before.
	wait = time.Second
	// patience is for a whole look.
	patience = time.Minute
)

// Storage is a storage, or an experiment in one. It is safe for concurrent use.
type Storage struct {
	url string
	// ctx ends with Close, which waits for what looks at the storage.
	ctx   context.Context
	end   context.CancelFunc
	looks sync.WaitGroup

	first  sync.Once
	mu     sync.Mutex
	folder *runtimedir.Folder // of the copies
	copies map[string]*copied // by URL
	names  looked
	urls   []string
}

// looked says when something was looked at, and with what success.
type looked struct {
	busy bool
	next time.Time // the time of the next look; zero: there was none
	err  error
}

// due reports whether it is time to look, which the caller then does.
func (l *looked) due(now time.Time) bool {
	if l.busy || now.Before(l.next) {
		return false
	}
	l.busy = true
	return true
}

// done notes a look that began at a time.
func (l *looked) done(began time.Time, err error) {
	now := time.Now()
	l.busy, l.err, l.next = false, err, now.Add(max(pause, 10*now.Sub(began)))
}

// New returns the storage at a URL.
func New(url string) *Storage {
	s := &Storage{url: url, copies: map[string]*copied{}}
	s.ctx, s.end = context.WithCancel(context.Background())
	return s
}

// Check looks at the storage: the error says why nothing could be shown.
func (s *Storage) Check() error {
	_, err := s.Experiments()
	return err
}

// Experiments returns the URLs of the experiments.
func (s *Storage) Experiments() ([]string, error) {
	s.first.Do(s.list)
	s.again(&s.mu, &s.names, s.list)
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.urls), s.names.err
}

// again has something looked at if it is time.
func (s *Storage) again(mu sync.Locker, l *looked, look func()) {
	mu.Lock()
	due := s.ctx.Err() == nil && l.due(time.Now())
	mu.Unlock()
	if !due {
		return
	}
	done := make(chan struct{})
	s.looks.Go(func() {
		defer close(done)
		look()
	})
	select {
	case <-done:
	case <-time.After(wait):
	}
}

func (s *Storage) list() {
	began := time.Now()
	ctx, cancel := context.WithTimeout(s.ctx, patience)
	defer cancel()
	urls, err := mirror.Experiments(ctx, s.url)
	if errors.Is(err, mirror.ErrNone) {
		err = usererror.Errorf("%s: no such directory; the key storage of the experiment file says where results are",
			s.url)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.names.done(began, usererror.Wrap(err)); err == nil {
		s.urls = urls
	}
}

// Place is where an experiment can be read on this machine.
type Place struct {
	Dir string
	// Copied says that this is a copy of the record alone, Machine which other machine runs the experiment, or "".
	Copied  bool
	Machine string
}

// With calls f with the place of an experiment; meanwhile its copy does not change.
func (s *Storage) With(url string, f func(Place) error) error {
	c, err := s.copyOf(url)
	if err != nil {
		return err
	}
	c.update()
	c.files.RLock()
	defer c.files.RUnlock()
	place, err := c.place()
	if err != nil {
		return err
	}
	return f(place)
}

// copyOf returns the copy of an experiment, which may be empty still.
func (s *Storage) copyOf(url string) (*copied, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.copies[url]; c != nil {
		return c, nil
	}
	if s.folder == nil {
		folder, err := runtimedir.MakeLarge()
		if err != nil {
			return nil, err
		}
		s.folder = folder
	}
	name, err := Name(url)
	if err != nil {
		return nil, err
	}
	c := &copied{in: s, url: url, dir: filepath.Join(s.folder.Path(), strconv.Itoa(len(s.copies)), name)}
	s.copies[url] = c
	return c, nil
}

// Name returns the name of the experiment at a URL.
func Name(url string) (string, error) {
	_, name, err := mirror.Split(url)
	return name, usererror.Wrap(err)
}

// Close removes the copies. Afterwards there is nothing to be shown.
func (s *Storage) Close() {
	s.end()
	s.looks.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.folder != nil {
		_ = s.folder.Remove() // the next process does it, else
		s.folder, s.copies = nil, map[string]*copied{}
	}
}
