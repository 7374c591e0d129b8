//go:build unix

package storage

import (
	"io/fs"
	"syscall"
)

// countsLinks: the system says how many names a file has.
const countsLinks = true

func linksOf(info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Nlink)
	}
	return 0
}
