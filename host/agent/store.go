package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"github.com/tunehost/tunehost/host/agent/message"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/mirror"
	"github.com/tunehost/tunehost/host/storage/nolink"
)

const (
	// markTime is how long a node may take to find out whether it reaches the storage.
	markTime = 30 * time.Second
	// stillTime is how long a transfer may move nothing before it is given up.
	stillTime = 2 * time.Minute
)

// store does something with the experiment's storage, with the credentials of the agent's environment. It is given
// up when the host leaves.
func (a *Agent) store(s *stream) error {
	var want message.Store
	if err := s.ask(&want); err != nil {
		return err
	}
	if err := s.Put(message.Yes, struct{}{}); err != nil {
		return nil // the host has left
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	err := a.useStore(ctx, cancel, s, want)
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause // instead of the error of the transfer that was cancelled
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return mirror.InWords(want.URL, err)
}

func (a *Agent) useStore(ctx context.Context, cancel context.CancelCauseFunc, s *stream, want message.Store) error {
	switch want.Op {
	case message.OpMark:
		return s.mark(ctx, want)
	case message.OpSave, message.OpLoad:
	default:
		return fmt.Errorf("this agent cannot %q in a storage: it is older than its host", want.Op)
	}
	dir, err := a.trialDir(want.Trial)
	if err == nil {
		err = below(dir, want.Path)
	}
	if err != nil {
		return err
	}
	moved, stop := still(cancel)
	defer stop()
	if want.Op == message.OpSave {
		s.whileHeard(cancel)
		return s.save(ctx, want, moved)
	}
	return s.load(ctx, cancel, want, moved)
}

// still calls cancel when a transfer does not move any more: moved was called, but not again within stillTime.
func still(cancel context.CancelCauseFunc) (moved func(), stop func()) {
	var mu sync.Mutex
	var timer *time.Timer
	set := func(stop bool) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case timer == nil && !stop:
			timer = time.AfterFunc(stillTime, func() { cancel(errors.New("the storage does not answer")) })
		case timer == nil:
		case stop:
			timer.Stop()
		default:
			timer.Reset(stillTime)
		}
	}
	return func() { set(false) }, func() { set(true) }
}

// errLeft says that the host does not wait any longer.
var errLeft = errors.New("the host has left")

// whileHeard calls cancel when the host closes the stream. The host sends nothing more on it.
func (s *stream) whileHeard(cancel context.CancelCauseFunc) {
	go func() {
		_, _ = message.Read(s.Conn, nil)
		cancel(errLeft)
	}()
}

func (s *stream) mark(ctx context.Context, want message.Store) error {
	ctx, cancel := context.WithTimeout(ctx, markTime)
	defer cancel()
	x, err := mirror.OpenSeen(ctx, want.URL)
	if err != nil {
		return err
	}
	defer x.Close()
	text, err := x.Mark(ctx, want.Key)
	if err != nil {
		return err
	}
	return s.Put(message.Yes, message.Mark{Text: text})
}

// save writes what a trial has saved.
func (s *stream) save(ctx context.Context, want message.Store, moved func()) error {
	x, err := mirror.OpenSeen(ctx, want.URL)
	if err != nil {
		return err
	}
	defer x.Close()
	files, err := x.Save(ctx, want.Folder, want.Path, moved)
	if err != nil {
		return err
	}
	return message.PutStored(s.Writer, files)
}

// load fetches what a trial continues from.
func (s *stream) load(ctx context.Context, cancel context.CancelCauseFunc, want message.Store, moved func()) error {
	files, err := message.ReadStored(s.Conn)
	if err != nil {
		return err
	}
	s.whileHeard(cancel)
	x, err := mirror.OpenSeen(ctx, want.URL)
	if err != nil {
		return err
	}
	defer x.Close()
	if err := errors.Join(nolink.RemoveAll(want.Path), nolink.MkdirAll(want.Path, dirMode)); err != nil {
		return err
	}
	m := storage.Manifest{Stored: want.Folder, Files: files}
	switch err := x.Load(ctx, m, want.Path, moved); {
	case errors.Is(err, mirror.ErrNone):
		return &fs.PathError{Op: "load", Path: want.Folder, Err: errors.Join(fs.ErrNotExist, err)}
	case err != nil:
		return err
	}
	return s.placed(want.Path, nil)
}
