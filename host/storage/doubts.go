package storage

import (
	"fmt"
	"os"
)

// Doubts are what may go wrong in a directory that a host is about to work in, each a
// warning: who else could change what runs, and file systems on which a lock is none.
func (d Dir) Doubts() (list []string) {
	info, err := os.Stat(d.path)
	if err != nil {
		return nil
	}
	if text := othersMay(info, os.Getuid()); text != "" {
		list = append(list, d.path+" "+text)
	}
	if name := remote(d.path); name != "" {
		list = append(list, fmt.Sprintf("%s is on %s: that a second host is kept out, and that what is synced is on disk, is up to it; let one machine alone run this experiment", d.path, name))
	}
	return list
}
