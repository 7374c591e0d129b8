//go:build unix && !linux

package nolink

import "golang.org/x/sys/unix"

// pathOnly opens folders and files for reading.
const pathOnly = unix.O_NONBLOCK

func look(path string, flags int, mode uint32) (int, error) { return walk(path, flags, mode) }

func openHere(at int, name string, flags int) (int, error) { return openUnlessOther(at, name, flags) }

func mountOf(fd int) (mount, error) { return deviceOf(fd) }
