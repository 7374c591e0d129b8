//go:build !linux

package machine

// Boot identifies this machine since its last start; "" if that is unknown.
func Boot() string { return "" }
