package engine

import (
	"slices"
	"sync"

	"github.com/tunehost/tunehost/core/history"
)

// Memory is a Recorder of an experiment that is not kept.
type Memory struct {
	mu    sync.Mutex
	count uint64
	pages [][][]byte // of records; all but the last have memoryPage records
}

const memoryPage = 4096

// Append implements Recorder.
func (m *Memory) Append(records [][]byte) (uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	first := m.count + 1
	m.count += uint64(len(records))
	for _, b := range records {
		if n := len(m.pages); n == 0 || len(m.pages[n-1]) == memoryPage {
			m.pages = append(m.pages, make([][]byte, 0, memoryPage))
		}
		last := &m.pages[len(m.pages)-1]
		*last = append(*last, b)
	}
	return first, nil
}

// Sync implements Recorder: nothing could be lost.
func (m *Memory) Sync() error { return nil }

// Close implements Recorder.
func (m *Memory) Close() error { return nil }

// Past is the record so far.
func (m *Memory) Past() (*history.History, error) {
	m.mu.Lock()
	pages := slices.Clone(m.pages)
	m.mu.Unlock()
	return history.From(history.Records(1, slices.Concat(pages...))), nil
}
