package recorded

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/tunehost/tunehost/core/journal"
)

// Reader reads a record from its beginning, also while a host writes it. It takes no
// lock and writes nothing. It is for one goroutine.
type Reader struct {
	name   string // for errors; "" where the caller says it
	files  *journal.Dir
	reader *journal.Reader

	batch [][]byte // not told
	next  uint64   // number of its first
}

// Open begins to read the record in a directory; journal.ErrNoJournal where that is not
// there. Errors of the Reader name the directory.
func Open(dir string) (*Reader, error) {
	files, err := openDir(dir)
	if err != nil {
		return nil, err
	}
	return &Reader{name: dir, files: files, reader: journal.NewReader(files)}, nil
}

func openDir(dir string) (*journal.Dir, error) {
	files, err := journal.OpenDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", dir, journal.ErrNoJournal)
	}
	return files, err
}

// NewReader begins to read a record that is anywhere. Closing the Reader leaves fs open.
func NewReader(fs journal.ReadFS) *Reader { return &Reader{reader: journal.NewReader(fs)} }

// Close lets go of the record.
func (r *Reader) Close() error {
	err := r.reader.Close()
	if r.files == nil {
		return err
	}
	return errors.Join(err, r.files.Close())
}

// Each tells f the entries that are there and that it was not told before; nil when
// there are no more now: call again later. Where f returns an error, or [ErrStop], the next
// call goes on after that entry.
//
// Errors: those of f, as they are. All others say what is wrong with the record, and
// where; what was told before stands. journal.ErrCorrupt: it is damaged, or of no
// experiment. journal.ErrRewound: a crash has taken back what was told; read it anew.
// record.ErrNewer, journal.ErrNewerFormat: a newer host has written it.
func (r *Reader) Each(f func(Entry) error) error {
	for {
		if more, err := r.fill(); !more {
			return err
		}
		n, err := walk(r.next, r.batch, f)
		r.batch, r.next = r.batch[n:], r.next+uint64(n)
		if _, own := err.(*entryError); own {
			return r.placed(err)
		}
		if err != nil {
			return stopped(err)
		}
	}
}

// fill reads on where all was told, and says whether there is something to tell.
func (r *Reader) fill() (more bool, err error) {
	if len(r.batch) > 0 {
		return true, nil
	}
	first, records, err := r.reader.Next()
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	if err != nil {
		return false, r.placed(err)
	}
	r.batch, r.next = records, first
	return true, nil
}

func (r *Reader) placed(err error) error {
	if r.name == "" {
		return err
	}
	return fmt.Errorf("%s: %w", r.name, err)
}

// Walk tells f the entries of the record in a directory, from the first one on.
func Walk(dir string, f func(Entry) error) error {
	r, err := Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(r.Each(f), r.Close())
}

// Verify reads the whole record in a directory, as a host does that goes on with it, and
// tells damage from the torn end that a crash leaves, which a Reader cannot. Of a record
// that a host writes to, nobody can say. run is whose record it must be; zero: anybody's.
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
