package history

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/tunehost/tunehost/core/journal"
)

// A Source provides records. A [journal.Reader] is one.
type Source interface {
	// Next returns the next records, valid until the next call, and the number of the first. io.EOF
	// means that there are no more now.
	Next() (first uint64, records [][]byte, err error)
	Close() error
}

// Records returns a Source of records in memory. first is the number of the first record.
func Records(first uint64, records [][]byte) Source { return &inMemory{first, records} }

type inMemory struct {
	first   uint64
	records [][]byte
}

// Next implements Source.
func (m *inMemory) Next() (uint64, [][]byte, error) {
	if len(m.records) == 0 {
		return 0, nil, io.EOF
	}
	all := m.records
	m.records = nil
	return m.first, all, nil
}

// Close implements Source.
func (m *inMemory) Close() error { return nil }

// directory is the journal in a directory; closing the reader closes both.
type directory struct {
	*journal.Reader
	files *journal.Dir
}

// Close implements Source.
func (d directory) Close() error { return errors.Join(d.Reader.Close(), d.files.Close()) }

func openDir(dir string) (*journal.Dir, error) {
	files, err := journal.OpenDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", dir, journal.ErrNoJournal)
	}
	return files, err
}

// Verify reads the whole record in a directory as a host does on resume. Unlike a History, it tells
// damage from the torn end that a crash leaves. It is not reliable while a host writes to the
// record. run is the expected run; zero accepts any.
func Verify(dir string, run journal.RunID) (journal.Opened, error) {
	files, err := openDir(dir)
	if err != nil {
		return journal.Opened{}, err
	}
	defer files.Close()
	found, err := journal.Verify(files, journal.Options{RunID: run}, nil)
	if err != nil {
		err = fmt.Errorf("%s: %w", dir, err)
	}
	return found, err
}
