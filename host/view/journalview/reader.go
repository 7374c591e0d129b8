package journalview

import (
	"github.com/tunehost/tunehost/core/history"
	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/host/storage"
)

// Reader reads a record from its beginning, also while a host writes it. It is for one goroutine.
type Reader struct {
	dir    storage.Dir
	record *history.History
	notes  notes
	from   uint64
}

// Open begins to read the record of the experiment in a directory.
func Open(dir storage.Dir) (*Reader, error) {
	record, err := history.Open(dir.Journal())
	if err != nil {
		return nil, err
	}
	return &Reader{dir: dir, record: record}, nil
}

// Close closes the record.
func (r *Reader) Close() error { return r.record.Close() }

// Skip says that entries before a number are not wanted: they are read, but not described.
func (r *Reader) Skip(before uint64) { r.from = before }

// Each calls f with the records that are there and that were not passed to it before. Call it again
// for later ones. An error that is not f's names the place in the record; entries before it are valid.
func (r *Reader) Each(f func(*Entry) error) error {
	return r.record.Each(func(s *history.Step) error {
		n := r.notes.take(s, noted{})
		if n.number < r.from {
			return nil
		}
		return f(n.describe(s.Machine))
	})
}

// Cut returns the torn end that a crash has left, which the next host removes; nil if there is none.
// Call it when no host runs. The error says where the record is damaged.
func (r *Reader) Cut() (*journal.Cut, error) {
	found, err := history.Verify(r.dir.Journal(), journal.RunID{})
	return found.Cut, err
}
