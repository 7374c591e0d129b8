//go:build !linux

package journal

import "os"

func syncData(f *os.File) error { return f.Sync() }

// removed is not supported here.
func removed(*os.File) bool { return false }
