package journal

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tunehost/tunehost/internal/plainfile"
)

// segments returns the first events of the segments in fs, in order.
func segments(fs ReadFS) ([]uint64, error) {
	names, err := fs.List()
	if err != nil {
		return nil, err
	}
	var firsts []uint64
	for _, name := range names {
		if first, ok := parseSegmentName(name); ok {
			firsts = append(firsts, first)
		}
	}
	slices.Sort(firsts)
	return firsts, nil
}

// temporaryName returns the name of a segment that the run is creating. No file of a user has such
// a name.
func temporaryName(name string, run RunID) string { return plainfile.TemporaryOf(name, run) }

// segmentInMaking returns the final name of a temporary file, or false for other files.
func segmentInMaking(name string) (string, bool) {
	const digits = segmentNameDigits + len(segmentSuffix)
	if !plainfile.IsTemporary(name) || len(name) < 1+digits {
		return "", false
	}
	base := name[1 : 1+digits]
	_, ok := parseSegmentName(base)
	return base, ok
}

// removeTemporaries removes the temporary segments of the run.
func removeTemporaries(fs FS, run RunID) error {
	names, err := fs.List()
	if err != nil {
		return err
	}
	for _, name := range names {
		base, making := segmentInMaking(name)
		if making && name == temporaryName(base, run) || oldTemporary(fs, name, run) {
			if err := fs.Remove(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// oldTemporary reports whether an earlier version left the file called name, a segment name plus
// ".tmp". A user's own file may have such a name too, so the file must contain the header of such a
// segment of the run and nothing else. Unreadable files stay.
func oldTemporary(fs ReadFS, name string, run RunID) bool {
	base, ok := strings.CutSuffix(name, oldTemporarySuffix)
	first, segment := parseSegmentName(base)
	if !ok || !segment {
		return false
	}
	file, err := fs.Open(name)
	if err != nil {
		return false
	}
	defer file.Close()
	size, err := file.Size()
	if err != nil || size != segmentHeaderBytes {
		return false
	}
	h, err := readHeader(file, first)
	return err == nil && h.run == run
}

// Clear removes all segments in fs, including temporary ones, and nothing else, so that another
// record can begin there.
func Clear(fs FS) error {
	names, err := fs.List()
	if err != nil {
		return err
	}
	for _, name := range names {
		_, segment := parseSegmentName(name)
		if _, making := segmentInMaking(name); !segment && !making {
			continue
		}
		if err := fs.Remove(name); err != nil {
			return err
		}
	}
	return fs.SyncDir()
}

// errNotNamed marks errors of newSegment before the rename: nothing has changed.
var errNotNamed = errors.New("segment not begun")

// newSegment creates the file called name with contents, durably and atomically: the name has its
// old contents or all of the new ones. The file is returned open.
func newSegment(fs FS, name string, run RunID, contents []byte) (File, error) {
	tmp := temporaryName(name, run)
	file, err := fs.Create(tmp)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNotNamed, err)
	}
	if err = fillSegment(file, contents); err == nil {
		err = fs.Rename(tmp, name)
	}
	if err != nil {
		// If the removal fails, the next Open removes the file.
		_, _ = file.Close(), fs.Remove(tmp)
		return nil, fmt.Errorf("%w: %w", errNotNamed, err)
	}
	if err := fs.SyncDir(); err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

func fillSegment(file File, contents []byte) error {
	n, err := file.WriteAt(contents, 0)
	if err != nil {
		return err
	}
	if n < len(contents) {
		return fmt.Errorf("only %d of %d bytes written", n, len(contents))
	}
	return file.Sync()
}

// begin starts the segment of event j.next. syncing is held.
func (j *Journal) begin() error {
	name := segmentName(j.next)
	header := segmentHeader{format: newestFormat(), link: j.link, run: j.run, first: j.next}.encode()
	file, err := newSegment(j.fs, name, j.run, header)
	if err != nil {
		return err
	}
	j.file, j.name, j.size = file, name, int64(len(header))
	return nil
}

// makeRoom starts a new segment if the current one has events and no room for n more bytes.
func (j *Journal) makeRoom(n int64) error {
	j.mu.Lock()
	full := j.err == nil && j.size > segmentHeaderBytes && j.size+n > j.segmentBytes
	j.mu.Unlock()
	if !full {
		return nil
	}
	j.syncing.Lock()
	defer j.syncing.Unlock()
	if err := j.sync(); err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.cutTorn(); err != nil {
		return err
	}
	return j.rotate()
}

// rotate replaces the segment, which is durable, by a new one. A full disk changes nothing.
func (j *Journal) rotate() error {
	old, oldName := j.file, j.name
	err := j.begin()
	if errors.Is(err, errNotNamed) && isNoSpace(err) {
		return noSpace(err)
	}
	if err != nil {
		return j.fail("continue from", err)
	}
	if err := old.Close(); err != nil {
		return j.fail("close", fmt.Errorf("%s: %w", oldName, err))
	}
	return nil
}
