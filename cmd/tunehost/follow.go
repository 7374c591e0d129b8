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

// following prints what trials print while they do: one trial from its beginning, or of
// all trials what is new.
type following struct {
	*app
	e     *view.Recorded
	names []string // of the files in a trial's directory
	trial *core.TrialNo
	files map[string]*followed
	seen  map[core.TrialNo]uint32 // of all trials, the attempt that was looked at last
	ran   map[core.TrialNo]bool   // and whether it ran then
	last  string                  // the file whose heading was printed
}

// followed is a file as far as it was printed.
type followed struct {
	at   int64
	rest []byte // a line without its end yet
}

// until prints until the trial has ended, or the host, or ctx is done.
func (f *following) until(ctx context.Context) error {
	f.files, f.seen, f.ran = map[string]*followed{}, map[core.TrialNo]uint32{}, map[core.TrialNo]bool{}
	if f.trial == nil {
		f.skip()
	}
	for {
		over := f.over() // asked first: what ends meanwhile has printed all
		if err := f.look(); err != nil {
			return err
		}
		if over {
			return f.end()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(look):
		}
		if _, err := f.e.Refresh(); err != nil {
			return err
		}
	}
}

func (f *following) over() bool {
	return f.e.State() != view.Running || f.trial != nil && f.e.Now().Brief(*f.trial).State.Final()
}

// skip leaves out what trials have printed so far.
func (f *following) skip() {
	for no := range core.TrialNo(f.e.Now().Trials()) {
		v := f.e.Now().Brief(no)
		if f.seen[no] = v.Attempt; v.State != core.Running {
			continue
		}
		f.ran[no] = true
		for _, name := range f.names {
			path := filepath.Join(f.e.Now().TrialDir(no), name)
			if info, err := nolink.Lstat(path); err == nil {
				f.files[path] = &followed{at: info.Size()}
			}
		}
	}
}

// look prints what is new: of all trials, those that run, and those that have run since
// the last look.
func (f *following) look() error {
	if f.trial != nil {
		return f.lookAt(*f.trial)
	}
	for no := range core.TrialNo(f.e.Now().Trials()) {
		v := f.e.Now().Brief(no)
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

// flush prints lines that have no end, of a trial that has.
func (f *following) flush(no core.TrialNo) {
	for _, name := range f.names {
		path := filepath.Join(f.e.Now().TrialDir(no), name)
		if x := f.files[path]; x != nil && len(x.rest) > 0 {
			f.print(no, name, append(x.rest, '\n'))
			x.rest = nil
		}
	}
}

func (f *following) lookAt(no core.TrialNo) error {
	dir := f.e.Now().TrialDir(no)
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

// more is what was added to a file, in whole lines. One that has become shorter was
// begun anew.
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

// print says where lines are from: of one trial before them, of all in each.
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
	if t := f.e.Now().Trial(*f.trial); t.Error != "" {
		fmt.Fprintf(f.err, "%s failed: %s\n", title(&t), clean(t.Error))
	}
	return nil
}
