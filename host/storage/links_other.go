//go:build !unix

package storage

import "io/fs"

// countsLinks: the system says how many names a file has. Where it does not,
// checkpoints share no files.
const countsLinks = false

func linksOf(fs.FileInfo) uint64 { return 0 }
