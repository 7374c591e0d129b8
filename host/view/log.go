package view

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"unicode/utf8"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/storage/nolink"
)

// Text is a part of a file that grows: whole lines.
type Text struct {
	Lines []byte
	// Next is where to continue reading.
	Next int64
}

// mostText is how much of a file is read at a time, in bytes.
const mostText = 1 << 20

// Log returns the host's log from a byte offset on; a negative offset counts from its end.
func (e *Experiment) Log(from int64) (Text, error) { return textOf(e.Dir.Log(), from, false) }

// Printed returns what a trial has printed, from a byte offset on, as Log does. name is that of a file of the
// experiment's config.Log. With last, also a line without an end is returned.
func (e *Experiment) Printed(no core.TrialNo, name string, from int64, last bool) (t Text, err error) {
	var dir string
	if err := e.source.Look(func(s *State) { dir = s.TrialDir(no) }); err != nil {
		return t, err
	}
	return textOf(filepath.Join(dir, name), from, last)
}

// CheckRank refuses the rank of a worker that a trial does not have; name is that of the file for its output.
func (e *Experiment) CheckRank(no core.TrialNo, rank uint16, name string) error {
	if rank == 0 {
		return nil
	}
	t, err := e.Trial(no)
	if err != nil {
		return err
	}
	return e.Facts.CheckRank(&t, rank, name)
}

// CheckRank is the same for a trial that is known.
func (f *Facts) CheckRank(t *Trial, rank uint16, name string) error {
	if rank == 0 {
		return nil
	}
	title := fmt.Sprintf("trial %d (%s)", t.Number, t.ID)
	p := f.Config.Placement
	if p == nil || !p.Workers {
		return fmt.Errorf("%s has one process: the experiment starts no workers (placement.workers)", title)
	}
	if _, err := nolink.Lstat(filepath.Join(t.Dir, name)); err != nil && int(rank) >= len(p.Bundles) {
		return fmt.Errorf("%s has no rank %d: its workers are 0 to %d", title, rank, len(p.Bundles)-1)
	}
	return nil
}

// textOf reads whole lines of a file; none if the file does not exist. A file that has become shorter is read
// from its beginning. A line longer than mostText comes in parts.
func textOf(path string, from int64, last bool) (Text, error) {
	f, err := nolink.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Text{}, nil
	}
	if err != nil {
		return Text{}, err
	}
	defer f.Close()
	at, err := begin(f, from)
	if err != nil {
		return Text{}, err
	}
	lines, err := io.ReadAll(io.NewSectionReader(f, at, mostText))
	whole := bytes.LastIndexByte(lines, '\n') + 1
	if partial := last && whole == 0; !partial && (whole > 0 || len(lines) < mostText) {
		lines = lines[:whole]
	}
	return Text{lines, at + int64(len(lines))}, err
}

// begin returns where to begin: after the end of a line, if only the last bytes are wanted; within the last line if
// that is longer.
func begin(f *os.File, from int64) (int64, error) {
	info, err := f.Stat()
	switch {
	case err != nil:
		return 0, err
	case from >= 0 && from <= info.Size():
		return from, nil
	case from >= 0 || info.Size()+from <= 0:
		return 0, nil
	}
	at := info.Size() + from
	tail := bufio.NewReader(io.NewSectionReader(f, at-1, -from+1))
	line, err := tail.ReadBytes('\n')
	if next := at - 1 + int64(len(line)); err == nil && next < info.Size() {
		return next, nil
	}
	if err != nil && err != io.EOF {
		return 0, err
	}
	for _, c := range line[min(1, len(line)):] { // not within a character
		if utf8.RuneStart(c) {
			break
		}
		at++
	}
	return at, nil
}
