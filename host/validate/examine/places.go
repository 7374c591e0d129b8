package examine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/storage/nolink"
	"github.com/tunehost/tunehost/host/view"
)

// opened finds files that a host would refuse to open when it resumes the experiment.
func (x *examination) opened() {
	for _, path := range []string{filepath.Join(x.dir.Path(), "LOCK"), x.dir.Log()} {
		if err := refusedFile(path); err != nil {
			x.bad("files", "%v", err)
		}
	}
}

// refusedFile returns why a host would refuse to write to a file: it is none, or has other names. Links and pipes are
// found by Strange, and missing permissions by Writable.
func refusedFile(path string) error {
	info, err := nolink.Lstat(path)
	if err != nil || !info.Mode().IsRegular() && !info.IsDir() {
		return nil
	}
	return strangeFile(path)
}

// strangeFile is refusedFile for files of trials, of which nothing else finds links and pipes.
func strangeFile(path string) error {
	f, err := nolink.OpenFile(path, os.O_WRONLY, 0)
	switch {
	case err == nil:
		return f.Close()
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return nil
	}
	return err
}

// trialPlaces finds trials whose directories are gone, and in those of trials that are not over what a host would
// refuse to write to: such a trial fails when it continues. Errors are reported once for each trial.
func (x *examination) trialPlaces(e *view.Recorded) {
	if x.alive {
		return // trials make and remove files
	}
	gone, first := 0, ""
	for no := core.TrialNo(0); int(no) < e.Now().Machine.Trials(); no++ {
		v, dir := e.Now().Machine.View(no), e.Now().TrialDir(no)
		if v.Attempt == 0 {
			continue
		}
		if _, err := nolink.Lstat(dir); errors.Is(err, fs.ErrNotExist) && !x.elsewhere() {
			if gone++; gone == 1 {
				first = fmt.Sprintf("trial %d: %s is gone, with the files of the trial", no, dir)
			}
			continue
		}
		if err := x.refusedIn(dir); err != nil && !v.State.Final() {
			x.bad("files", "trial %d, which would fail when it continues: %v", no, err)
		}
	}
	switch {
	case gone > 1:
		x.bad("files", "%s (and those of %d more)", first, gone-1)
	case gone == 1:
		x.bad("files", "%s", first)
	}
}

// elsewhere reports whether the directory may be a copy, which lacks the directories of trials until it is resumed.
func (x *examination) elsewhere() bool {
	_, err := nolink.Lstat(filepath.Join(x.dir.Path(), "mirror.json"))
	return err == nil
}

// refusedIn returns what a host would refuse in the directory of a trial.
func (x *examination) refusedIn(dir string) error {
	for _, name := range []string{".checkpoints", "checkpoints"} {
		path := filepath.Join(dir, name)
		if info, err := nolink.Lstat(path); err == nil && !info.IsDir() {
			return nolink.Refused(path, info.Mode())
		}
	}
	stdout, stderr := x.experiment.Log.Files()
	for _, name := range []string{stdout, stderr} {
		if name == "" {
			continue
		}
		if err := strangeFile(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}
