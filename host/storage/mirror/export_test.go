package mirror

import (
	"errors"
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
