package storage

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tunehost/tunehost/host/runtimedir"
	"github.com/tunehost/tunehost/host/storage/nolink"
)

// Memory is a folder in a memory file system, for states that need not survive
// the host. It is one experiment's alone.
type Memory struct{ folder *runtimedir.Folder }

// OpenMemory makes a folder in memory, and removes what hosts that were killed have
// left there. An error says why there is none.
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

// Stage makes an empty folder for a state; false where states take half of the
// memory file system already: the next may be as large as all of them.
func (m *Memory) Stage(trial, id uint32) (dir string, ok bool) {
	if left, err := memoryLeft(m.folder.Path()); err != nil || left < 0.5 {
		return "", false
	}
	dir = m.dir(trial, id)
	return dir, errors.Join(os.RemoveAll(dir), os.Mkdir(dir, dirMode)) == nil
}

func (m *Memory) dir(trial, id uint32) string {
	return filepath.Join(m.folder.Path(), fmt.Sprintf("%05d_%06d", trial, id))
}

// Restore makes a copy of a state at to. A [DamagedError] says that somebody has
// removed it.
func (m *Memory) Restore(trial, id uint32, to string) error {
	from := m.dir(trial, id)
	if _, err := os.Lstat(from); err != nil {
		return &DamagedError{from, reason(err).Error()}
	}
	if err := errors.Join(nolink.RemoveAll(to), nolink.MkdirAll(to, dirMode)); err != nil {
		return err
	}
	return copyTree(from, to)
}

// Drop removes a state.
func (m *Memory) Drop(trial, id uint32) error { return os.RemoveAll(m.dir(trial, id)) }

// Close removes all of them.
func (m *Memory) Close() error { return m.folder.Remove() }
