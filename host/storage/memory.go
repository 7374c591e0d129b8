package storage

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tunehost/tunehost/host/storage/nolink"
	"github.com/tunehost/tunehost/host/storage/runtimedir"
)

// Memory is one experiment's folder in a memory file system, for states that need not survive the
// host.
type Memory struct{ folder *runtimedir.Folder }

// OpenMemory makes a folder in memory, and removes those of killed hosts. An error says why there is
// none.
func OpenMemory() (*Memory, error) {
	if _, err := memoryLeft(memoryRoot); err != nil {
		return nil, err
	}
	folder, err := runtimedir.MakeIn(memoryRoot)
	if err != nil {
		return nil, err
	}
	return &Memory{folder}, nil
}

// Stage makes an empty folder for a state. It returns false where states fill half of the memory file
// system: the next one may be as large as all of them.
func (m *Memory) Stage(trial, id uint32) (dir string, ok bool) {
	if left, err := memoryLeft(m.folder.Path()); err != nil || left < 0.5 {
		return "", false
	}
	dir = m.dir(trial, id)
	return dir, errors.Join(nolink.RemoveTree(dir), os.Mkdir(dir, dirMode)) == nil
}

func (m *Memory) dir(trial, id uint32) string {
	return filepath.Join(m.folder.Path(), fmt.Sprintf("%05d_%06d", trial, id))
}

// Restore copies a state to a path. A [DamagedError] says that the state was removed.
func (m *Memory) Restore(trial, id uint32, to string) error {
	from := m.dir(trial, id)
	if _, err := os.Lstat(from); err != nil {
		return &DamagedError{from, reason(err).Error()}
	}
	if err := errors.Join(nolink.RemoveAll(to), nolink.MkdirAll(to, dirMode)); err != nil {
		return err
	}
	return unwatched.copyTree(from, to)
}

// Drop removes a state.
func (m *Memory) Drop(trial, id uint32) error { return nolink.RemoveTree(m.dir(trial, id)) }

// Close removes all states.
func (m *Memory) Close() error { return m.folder.Remove() }
