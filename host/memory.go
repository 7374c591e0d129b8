package host

import (
	"slices"
	"sync"

	"github.com/tunehost/tunehost/core/history"
)

// memory is a record that nobody needs afterwards.
type memory struct {
	mu    sync.Mutex
	count uint64
	pages [][][]byte // of records; all but the last have memoryPage
}

const memoryPage = 4096

// Append implements Recorder.
func (m *memory) Append(records [][]byte) (uint64, error) {
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

// Sync implements Recorder: there is nothing that could be lost.
func (m *memory) Sync() error { return nil }

// Close implements Recorder.
func (m *memory) Close() error { return nil }

// past is the record so far.
func (m *memory) past() (*history.History, error) {
	m.mu.Lock()
	pages := slices.Clone(m.pages)
	m.mu.Unlock()
	return history.From(history.Records(1, slices.Concat(pages...))), nil
}
