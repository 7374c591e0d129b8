package mirror

import "testing"

// Kill stops a mirror as the loss of its machine does.
func Kill(x *Running) {
	x.cancel()
	x.work.Wait()
}

// Round waits until all that has happened so far is copied.
func Round(t testing.TB, m *Mirror) {
	t.Helper()
	if err := TryRound(t, m); err != nil {
		t.Fatal(err)
	}
}

// TryRound makes a round beside those of the mirror itself.
func TryRound(t testing.TB, m *Mirror) error {
	t.Helper()
	return m.round(t.Context())
}
