package mirror

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/host/storage/nolink"
)

// maxPieces is how many pieces a segment may have before they are joined.
const maxPieces = 32

// segment is what the store has of a file of the record: consecutive pieces from its beginning.
type segment struct {
	pieces []int64 // their offsets
	end    int64
	sealed bool // nothing will follow
}

func pieceKey(name string, at int64) string {
	return fmt.Sprintf("%s%s/%016x", journalPrefix, name, at)
}

// sealedPrefix begins the name of an empty object that holds the final length of a file. A host that
// was stopped during a round may add a piece beyond it after another host took over; that piece does
// not count.
const sealedPrefix = "sealed-"

func sealedKey(name string, size int64) string {
	return fmt.Sprintf("%s%s/%s%016x", journalPrefix, name, sealedPrefix, size)
}

// pushJournal copies the new part of the record, up to a place in its last file.
func (m *Mirror) pushJournal(ctx context.Context, tail string, size int64) error {
	names, err := m.segments()
	if err != nil {
		return err
	}
	for _, name := range names {
		s := m.pushed[name]
		if s == nil {
			s = &segment{}
			m.pushed[name] = s
		}
		switch {
		case s.sealed:
		case name == tail:
			return m.pushSegment(ctx, name, s, size)
		default:
			if err := m.pushWhole(ctx, name, s); err != nil {
				return err
			}
		}
	}
	return nil
}

// segments returns the files of the record, in order. Other files in its folder belong to users or are
// temporary.
func (m *Mirror) segments() (names []string, err error) {
	list, err := nolink.ReadDir(m.dir.Journal())
	for _, e := range list {
		if e.Type().IsRegular() && journal.IsSegment(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// pushWhole copies the rest of a file that is complete.
func (m *Mirror) pushWhole(ctx context.Context, name string, s *segment) error {
	info, err := nolink.Lstat(filepath.Join(m.dir.Journal(), name))
	if err != nil {
		return err
	}
	if err := m.pushSegment(ctx, name, s, info.Size()); err != nil {
		return err
	}
	err = m.store.put(ctx, sealedKey(name, info.Size()), nil)
	s.sealed = err == nil
	return err
}

func (m *Mirror) pushSegment(ctx context.Context, name string, s *segment, size int64) error {
	from := s.end
	if size <= from {
		return nil
	}
	if len(s.pieces) >= maxPieces {
		from = 0
	}
	if err := m.store.putPart(ctx, pieceKey(name, from), filepath.Join(m.dir.Journal(), name), from, size); err != nil {
		return err
	}
	old := s.pieces
	s.end = size
	if from > 0 || len(old) == 0 {
		s.pieces = append(s.pieces, from)
		return nil
	}
	s.pieces = []int64{0}
	return m.deletePieces(ctx, name, old)
}

// deletePieces removes all pieces but the first, which contains the others.
func (m *Mirror) deletePieces(ctx context.Context, name string, at []int64) error {
	for _, p := range at {
		if p == 0 {
			continue
		}
		if err := m.store.delete(ctx, pieceKey(name, p)); err != nil {
			return err
		}
	}
	return nil
}

// pieces returns the pieces of the record in the store, by file. Other objects there belong to users.
func (s *Store) pieces(ctx context.Context) (map[string][]object, error) {
	list, err := s.list(ctx, journalPrefix)
	found := map[string][]object{}
	for _, o := range list {
		if name := path.Base(path.Dir(o.key)); journal.IsSegment(name) && isPiece(o.key, name) {
			found[name] = append(found[name], o)
		}
	}
	return found, err
}

// isPiece reports whether a key is that of a piece of a file, or of its final length.
func isPiece(key, name string) bool {
	at, isAt := offset(key)
	size, isSize := finalLength(key)
	return isAt && key == pieceKey(name, at) || isSize && key == sealedKey(name, size)
}

// offset returns the place of a piece in its file, which its name tells.
func offset(key string) (at int64, ok bool) {
	at, err := strconv.ParseInt(path.Base(key), 16, 64)
	return at, err == nil && at >= 0
}

// finalLength returns the length of a file that the name of an object tells.
func finalLength(key string) (size int64, ok bool) {
	hex, ok := strings.CutPrefix(path.Base(key), sealedPrefix)
	size, err := strconv.ParseInt(hex, 16, 64)
	return size, ok && err == nil && size >= 0
}

// sealedAt returns the final length of a file, or -1 if it is still being written.
func sealedAt(list []object) int64 {
	for _, o := range list {
		if size, ok := finalLength(o.key); ok {
			return size
		}
	}
	return -1
}

// contiguous returns the pieces that follow each other from the beginning. They are not all if a later piece is there,
// or if the file was longer in the end.
func contiguous(list []object) (pieces []object, end int64, all bool) {
	limit := sealedAt(list)
	for limit < 0 || end < limit {
		i := slices.IndexFunc(list, func(o object) bool {
			at, ok := offset(o.key)
			return ok && at == end && o.size > 0
		})
		if i < 0 {
			return pieces, end, limit < 0 && !beyond(list, end)
		}
		pieces = append(pieces, list[i])
		end += list[i].size
	}
	return pieces, limit, true
}

// beyond reports whether a piece begins after a place.
func beyond(list []object, end int64) bool {
	return slices.ContainsFunc(list, func(o object) bool {
		at, ok := offset(o.key)
		return ok && at > end
	})
}

// A GapError names a piece of the record that is missing although the store has later ones.
type GapError struct {
	Piece string // its URL
	At    int64  // its place in the file of the record
}

func (e *GapError) Error() string {
	return fmt.Sprintf("%s: the record is missing here, from byte %d of its file on, and goes on later; nothing was "+
		"changed: restore this file from a copy, or continue on the machine that ran the experiment last", e.Piece,
		e.At)
}

// recallJournal finds out what an earlier host copied from this directory. A complete file is in the
// store if its size is; the last file in the store is copied again, since it may have been repaired
// after a crash. The store never has more than the directory, unless that was just fetched or the experiment has not
// begun: a torn end, and what a host wrote that died before the beginning, are replaced.
func (m *Mirror) recallJournal(ctx context.Context) error {
	found, err := m.store.pieces(ctx)
	if err != nil {
		return err
	}
	names, err := m.segments()
	if err != nil {
		return err
	}
	begun, err := m.store.Exists(ctx)
	if err != nil {
		return err
	}
	last := ""
	for name := range found {
		last = max(last, name)
	}
	for name, list := range found {
		pieces, end, _ := contiguous(list) // a gap is filled from here
		info, err := nolink.Lstat(filepath.Join(m.dir.Journal(), name))
		if begun && m.lease.SameDir && !m.Fetched && (err != nil || info.Size() < end) {
			return fmt.Errorf("%s has more of the record than %s, which has lost its end: put that file back from a "+
				"copy, or continue from the storage with `tunehost run FILE --resume remote`",
				Join(m.store.url, journalPrefix+name), filepath.Join(m.dir.Journal(), name))
		}
		if err == nil && name != last && len(pieces)+1 == len(list) && info.Size() == end && sealedAt(list) == end {
			m.pushed[name] = &segment{end: end, sealed: true}
			continue
		}
		if err := m.pushAnew(ctx, name, list, slices.Contains(names, name)); err != nil {
			return err
		}
	}
	return nil
}

// pushAnew replaces a file in the store.
func (m *Mirror) pushAnew(ctx context.Context, name string, list []object, exists bool) error {
	s := &segment{}
	if tail, size := m.record.Tail(); exists && name == tail {
		if err := m.pushSegment(ctx, name, s, size); err != nil {
			return err
		}
	} else if exists {
		if err := m.pushWhole(ctx, name, s); err != nil {
			return err
		}
	}
	for _, o := range list {
		if exists && (o.key == pieceKey(name, 0) || s.sealed && o.key == sealedKey(name, s.end)) {
			continue
		}
		if err := m.store.delete(ctx, o.key); err != nil {
			return err
		}
	}
	if exists {
		m.pushed[name] = s
	}
	return nil
}
