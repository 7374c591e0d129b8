//go:build unix

package storage

import (
	"io/fs"
	"syscall"
)

// countsLinks says whether the system counts the names of a file.
const countsLinks = true

func linksOf(info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Nlink)
	}
	return 0
}
