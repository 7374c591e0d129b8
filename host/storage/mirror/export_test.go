package mirror

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"testing"
)

// Kill stops a mirror as the loss of its machine does.
func Kill(x *Running) {
	x.cancel()
	x.work.Wait()
}

// Round waits until everything so far is copied.
func Round(t testing.TB, m *Mirror) {
	t.Helper()
	if err := TryRound(t, m); err != nil {
		t.Fatal(err)
	}
}

// TryRound makes an extra round beside those of the mirror.
func TryRound(t testing.TB, m *Mirror) error {
	t.Helper()
	err := m.round(t.Context())
	for errors.Is(err, errStale) { // a busy machine
		if err = m.lease.renew(t.Context()); err == nil {
			err = m.round(t.Context())
		}
	}
	return err
}

// PushJournal copies the record, with or without the lease.
func PushJournal(t testing.TB, m *Mirror) {
	t.Helper()
	name, size := m.record.Tail()
	if err := m.pushJournal(t.Context(), name, size); err != nil {
		t.Fatal(err)
	}
}

// SetRecord replaces the record that a mirror copies.
func SetRecord(m *Mirror, r Record) { m.record = r }

// Hangs prepares a store, before it is used, to take requests and not answer them, from hang until answer is called.
func Hangs(s *Store) (hang, answer func()) {
	h := &hanging{bucket: s.bucket}
	s.bucket = h
	over := make(chan struct{})
	return func() { h.over.Store(&over) }, func() { close(over) }
}

type hanging struct {
	bucket
	over atomic.Pointer[chan struct{}] // nil: it answers
}

func (h *hanging) answers(ctx context.Context) error {
	over := h.over.Load()
	if over == nil {
		return nil
	}
	select {
	case <-*over:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (h *hanging) open(ctx context.Context, key string) (io.ReadCloser, error) {
	if err := h.answers(ctx); err != nil {
		return nil, err
	}
	return h.bucket.open(ctx, key)
}

func (h *hanging) write(ctx context.Context, key string, from io.Reader, isNew bool) error {
	if err := h.answers(ctx); err != nil {
		return err
	}
	return h.bucket.write(ctx, key, from, isNew)
}
