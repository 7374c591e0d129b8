//go:build !linux

package local

// Boot names this machine since it was started; "" where that cannot be known.
func Boot() string { return "" }
