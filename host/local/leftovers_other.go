//go:build !linux

package local

// KillLeftovers finds nothing: only Linux shows the environment of processes.
func KillLeftovers(dir string) int { return 0 }

// CountLeftovers finds nothing, likewise.
func CountLeftovers(dir string) int { return 0 }

// KillMarked finds nothing, likewise.
func KillMarked(mark string) int { return 0 }
