//go:build !linux

package files

// syncAll does nothing: there is no call for it. After a loss of power lines of
// the last seconds may be missing here; the journal has them.
func syncAll(string) error { return nil }
