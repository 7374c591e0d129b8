package history

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/tunehost/tunehost/core/journal"
)

// Source is where records come from. A [journal.Reader] is one.
type Source interface {
	// Next returns the next records, valid until it is called again, and the number of the first. io.EOF: there are no
	// more now.
	Next() (first uint64, records [][]byte, err error)
	Close() error
}

// Records is a Source of records in memory, of which the first has the number first.
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

// directory is the journal in a directory, which is closed with its reader.
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

// Verify reads the whole record in a directory, as a host does that goes on with it, and tells damage from the torn end
// that a crash leaves, which a History cannot. Of a record that a host writes to, nobody can say. run is whose record
// it must be; zero: anybody's.
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
