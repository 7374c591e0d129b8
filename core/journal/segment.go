package journal

import (
	"errors"
	"fmt"
	"slices"
	"strings"
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

// removeTemporaries removes the segments that never came to their name.
func removeTemporaries(fs FS) error {
	names, err := fs.List()
	if err != nil {
		return err
	}
	for _, name := range names {
		base, ok := strings.CutSuffix(name, temporarySuffix)
		if _, segment := parseSegmentName(base); !ok || !segment {
			continue
		}
		if err := fs.Remove(name); err != nil {
			return err
		}
	}
	return nil
}

// Clear removes the segments in fs, and nothing else, so that another record can begin there.
func Clear(fs FS) error {
	firsts, err := segments(fs)
	if err != nil {
		return err
	}
	for _, first := range firsts {
		if err := fs.Remove(segmentName(first)); err != nil {
			return err
		}
	}
	return errors.Join(removeTemporaries(fs), fs.SyncDir())
}

// errNotNamed marks errors of newSegment before the file had its name: then nothing has changed.
var errNotNamed = errors.New("segment not begun")

// newSegment makes the file called name, with contents, durable in one step: the name has what it had before, or all of contents. The
// file is returned open.
func newSegment(fs FS, name string, contents []byte) (File, error) {
	file, err := fs.Create(name + temporarySuffix)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNotNamed, err)
	}
	if err := fillSegment(fs, file, name, contents); err != nil {
		// What cannot be removed now is removed by the next Open.
		_, _ = file.Close(), fs.Remove(name+temporarySuffix)
		return nil, fmt.Errorf("%w: %w", errNotNamed, err)
	}
	if err := fs.SyncDir(); err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

func fillSegment(fs FS, file File, name string, contents []byte) error {
	n, err := file.WriteAt(contents, 0)
	if err != nil {
		return err
	}
	if n < len(contents) {
		return fmt.Errorf("only %d of %d bytes written", n, len(contents))
	}
	if err := file.Sync(); err != nil {
		return err
	}
	return fs.Rename(name+temporarySuffix, name)
}

// begin starts the segment of event j.next. syncing is held.
func (j *Journal) begin() error {
	name := segmentName(j.next)
	header := segmentHeader{format: newestFormat(), link: j.link, run: j.run, first: j.next}.encode()
	file, err := newSegment(j.fs, name, header)
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
