//go:build !linux

package local

// Set does nothing on this system: only Linux shows the limits of other processes.
func (t Tag) Set() (off func(pid int)) { return func(int) {} }

// RemoveTag does nothing on this system: there are no tags.
func RemoveTag() {}
