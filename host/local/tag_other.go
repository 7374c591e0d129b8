//go:build !linux

package local

// Wear does nothing: only Linux shows the limits of other processes.
func (t Tag) Wear() (off func(pid int)) { return func(int) {} }
