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

// temporaryName is the name of the segment called name while the run makes it. No file of a user has it.
func temporaryName(name string, run RunID) string { return plainfile.TemporaryOf(name, run) }

// segmentInMaking returns the name that a file in the making will have, or false for other files.
func segmentInMaking(name string) (string, bool) {
	const digits = segmentNameDigits + len(segmentSuffix)
	if !plainfile.IsTemporary(name) || len(name) < 1+digits {
		return "", false
	}
	base := name[1 : 1+digits]
	_, ok := parseSegmentName(base)
	return base, ok
}

// removeTemporaries removes the segments of the run that never came to their name.
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

// oldTemporary says whether an earlier version left the file called name, which is a segment's name and ".tmp". A user's own file
// may have that name, too, so it must have the header of such a segment of the run, and nothing else. What cannot be read stays.
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

// Clear removes the segments in fs, those in the making among them, and nothing else, so that another record can begin there.
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

// errNotNamed marks errors of newSegment before the file had its name: then nothing has changed.
var errNotNamed = errors.New("segment not begun")

// newSegment makes the file called name, with contents, durable in one step: the name has what it had before, or all of contents. The
// file is returned open.
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
		// What cannot be removed now is removed by the next Open.
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

// makeRoom goes on to a new segment when the current one has events and no room for n more bytes.
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
	return j.rotate()
}

// rotate exchanges the segment, all of which is durable, for a new one. A full disk leaves things as they are.
func (j *Journal) rotate() error {
	old, oldName := j.file, j.name
	err := j.begin()
	if errors.Is(err, errNotNamed) && isNoSpace(err) {
		return noSpace(err)
	}
	if err != nil {
		return j.fail("go on from", err)
	}
	if err := old.Close(); err != nil {
		return j.fail("close", fmt.Errorf("%s: %w", oldName, err))
	}
	return nil
}
