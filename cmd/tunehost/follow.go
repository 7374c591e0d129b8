package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/storage/nolink"
	"github.com/tunehost/tunehost/host/view"
)

// following prints the output of trials while they run: of one trial from its beginning, or of all
// trials from now on.
type following struct {
	*app
	e     *view.Recorded
	names []string // of the files in a trial's directory
	trial *core.TrialNo
	files map[string]*followed
	seen  map[core.TrialNo]uint32 // of all trials, the attempt that was read last
	ran   map[core.TrialNo]bool   // and whether it was running then
	last  string                  // the file whose heading was printed last
}

// followed is a file and how much of it was printed.
type followed struct {
	at   int64
	rest []byte // an incomplete line
}

// until prints until the trial or the host has ended, or ctx is done.
func (f *following) until(ctx context.Context) error {
	f.files, f.seen, f.ran = map[string]*followed{}, map[core.TrialNo]uint32{}, map[core.TrialNo]bool{}
	if f.trial == nil {
		f.skip()
	}
	for {
		over := f.over() // asked first, so that everything is printed at the end
		if err := f.look(); err != nil {
			return err
		}
		if over {
			return f.end()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(followEvery):
		}
		if _, err := f.e.Refresh(); err != nil {
			return err
		}
	}
}

func (f *following) over() bool {
	return f.e.State() != view.Running || f.trial != nil && f.e.Brief(*f.trial).State.Final()
}

// skip skips what trials have printed so far.
func (f *following) skip() {
	for no := range core.TrialNo(f.e.Count()) {
		v := f.e.Brief(no)
		if f.seen[no] = v.Attempt; v.State != core.Running {
			continue
		}
		f.ran[no] = true
		for _, name := range f.names {
			path := filepath.Join(f.e.TrialDir(no), name)
			if info, err := nolink.Lstat(path); err == nil {
				f.files[path] = &followed{at: info.Size()}
			}
		}
	}
}

// look prints new output of the trial, or of all trials that have run since the last look.
func (f *following) look() error {
	if f.trial != nil {
		return f.lookAt(*f.trial)
	}
	for no := range core.TrialNo(f.e.Count()) {
		v := f.e.Brief(no)
		runs := v.State == core.Running
		if !runs && !f.ran[no] && f.seen[no] == v.Attempt {
			continue
		}
		if err := f.lookAt(no); err != nil {
			return err
		}
		f.seen[no], f.ran[no] = v.Attempt, runs
		if !runs {
			f.flush(no)
		}
	}
	return nil
}

// flush prints incomplete lines of a trial that has ended.
func (f *following) flush(no core.TrialNo) {
	for _, name := range f.names {
		path := filepath.Join(f.e.TrialDir(no), name)
		if x := f.files[path]; x != nil && len(x.rest) > 0 {
			f.print(no, name, append(x.rest, '\n'))
			x.rest = nil
		}
	}
}

func (f *following) lookAt(no core.TrialNo) error {
	dir := f.e.TrialDir(no)
	for _, name := range f.names {
		text, err := f.more(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		if len(text) > 0 {
			f.print(no, name, text)
		}
	}
	return nil
}

// more returns what was added to a file, in whole lines. A file that has become shorter is read from
// its beginning.
func (f *following) more(path string) ([]byte, error) {
	file, err := nolink.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	x := f.files[path]
	if x == nil {
		x = &followed{}
		f.files[path] = x
	}
	if info, err := file.Stat(); err == nil && info.Size() < x.at {
		*x = followed{}
	}
	text, err := io.ReadAll(io.NewSectionReader(file, x.at, 1<<62))
	x.at += int64(len(text))
	text = append(x.rest, text...)
	whole := bytes.LastIndexByte(text, '\n') + 1
	x.rest = bytes.Clone(text[whole:])
	return text[:whole], err
}

// print names the origin of lines: for one trial before them, for all trials in each line.
func (f *following) print(no core.TrialNo, name string, text []byte) {
	if f.trial == nil {
		for line := range strings.Lines(string(text)) {
			fmt.Fprintf(f.out, "%05d %s: %s", no, name, line)
		}
		return
	}
	if len(f.names) > 1 && name != f.last {
		f.say("%s", f.bold("==> "+name+" <=="))
		f.last = name
	}
	_, _ = f.out.Write(text)
}

// end says why the trial failed.
func (f *following) end() error {
	if f.trial == nil {
		return nil
	}
	f.flush(*f.trial)
	if t := f.e.Trial(*f.trial); t.Error != "" {
		fmt.Fprintf(f.err, "%s failed: %s\n", title(&t), clean(t.Error))
	}
	return nil
}
