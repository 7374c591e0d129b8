package mirror

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/nolink"
)

// A GoneError says that a store has what an experiment has written, but not the file with which it exists.
type GoneError struct{ URL, Has string }

func (e *GoneError) Error() string {
	return fmt.Sprintf("%s has %s of an experiment, but %s is gone: put it back from a copy, or run the experiment "+
		"where it ran last, which puts it back; or give a new experiment another --name", e.URL, e.Has,
		Join(e.URL, experimentFile))
}

// A FirstRoundError says that a store has a part of what the first round of copying brings, which is no experiment yet.
type FirstRoundError struct{ URL, Host string }

func (e *FirstRoundError) Error() string {
	return fmt.Sprintf("%s: %s has begun an experiment here, and has not copied all of its beginning: there is "+
		"nothing to read or to continue yet; if that host has ended, `tunehost run FILE` begins anew in its place",
		e.URL, e.Host)
}

// Lost returns a [*GoneError] if the store has a record or checkpoints, but no experiment file: a new experiment would
// take their place. If a host died in its first round, which leaves the same, it is a [*FirstRoundError].
func (s *Store) Lost(ctx context.Context) error {
	err := s.remains(ctx)
	if _, gone := errors.AsType[*GoneError](err); !gone {
		return err
	}
	if c, none := s.claim(ctx); none == nil && c.Beginning != "" {
		return &FirstRoundError{s.url, c.Beginning}
	}
	return err
}

func (s *Store) remains(ctx context.Context) error {
	if there, err := s.Exists(ctx); there || err != nil {
		return err
	}
	found, err := s.pieces(ctx)
	if err != nil {
		return err
	}
	if len(found) > 0 {
		return &GoneError{s.url, "the record"}
	}
	keys, err := s.manifests(ctx)
	if err != nil {
		return err
	}
	for _, key := range keys {
		if isPlace(strings.Split(key, "/")) {
			return &GoneError{s.url, "checkpoints"}
		}
	}
	return nil
}

// none returns the error of a store without an experiment file: [GoneError] or [ErrNone].
func (s *Store) none(ctx context.Context) error {
	if err := s.Lost(ctx); err != nil {
		return err
	}
	return fmt.Errorf("%s: %w", Join(s.url, experimentFile), ErrNone)
}

// lost reports whether the experiment at a URL has lost its file. A folder of somebody else has not.
func lost(ctx context.Context, url string) (bool, error) {
	s, err := OpenToRead(ctx, url)
	if err != nil {
		return false, err
	}
	defer s.Close()
	return s.hasLost(ctx)
}

// hasLost reports whether a store has remains of an experiment, or of its beginning.
func (s *Store) hasLost(ctx context.Context) (bool, error) {
	err := s.remains(ctx)
	if _, gone := errors.AsType[*GoneError](err); gone {
		return true, nil
	}
	return false, err
}

// Precedes reports whether the record in the store is the beginning of that in a directory, or the same.
func (s *Store) Precedes(ctx context.Context, d storage.Dir) (bool, error) {
	found, err := s.pieces(ctx)
	if err != nil {
		return false, err
	}
	for name, list := range found {
		pieces, _, _ := contiguous(list)
		here, err := nolink.ReadFile(filepath.Join(d.Journal(), name), maxSmall)
		if err != nil {
			return false, nil // it is not here
		}
		for _, p := range pieces {
			there, err := s.get(ctx, p.key)
			if err != nil {
				return false, err
			}
			at, _ := offset(p.key)
			if at > int64(len(here)) || !strings.HasPrefix(string(here[at:]), string(there)) {
				return false, nil
			}
		}
	}
	return true, nil
}
