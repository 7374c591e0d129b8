// Package storage lays out an experiment's files: its directory, the names of trials' directories, and
// checkpoints that are complete or absent. The host and the readers of experiments use it.
package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/host/storage/nolink"
	"github.com/tunehost/tunehost/host/storage/ownership"
)

// Only the owner can read what an experiment writes (B-092).
const (
	dirMode  = 0o700
	fileMode = 0o600
)

// Dir is an experiment's directory.
type Dir struct {
	path   string
	saving *Saving
}

// During returns the same directory for the steps of a save that may be given up.
func (d Dir) During(s *Saving) Dir { return Dir{d.path, s} }

// At returns an experiment's directory, which need not exist.
func At(path string) (Dir, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return Dir{}, err
	}
	if err := ownership.CheckPath(abs); err != nil {
		return Dir{}, &PlaceError{Text: err.Error(), Do: "remove it, or name the directory that it leads to"}
	}
	real, err := withoutLinks(abs)
	return Dir{path: real}, err
}

// withoutLinks resolves the links of a path whose last elements need not exist. Below it, links are
// not followed (package nolink).
func withoutLinks(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, syscall.ENOTDIR) {
		return "", notDir(path)
	}
	if err != nil && (!errors.Is(err, fs.ErrNotExist) || filepath.Dir(path) == path) {
		return "", unreached(path, err)
	}
	if err == nil {
		return real, nil
	}
	if _, err := os.Lstat(path); err == nil {
		return "", &PlaceError{Text: path + " is a link that leads nowhere",
			Do: "remove it, or make the directory that it names"}
	}
	above, err := withoutLinks(filepath.Dir(path))
	return filepath.Join(above, filepath.Base(path)), err
}

// notDir names what is in the place of a directory on the way to a path.
func notDir(path string) error {
	for at := path; filepath.Dir(at) != at; at = filepath.Dir(at) {
		if info, err := os.Stat(at); err == nil && !info.IsDir() {
			return &PlaceError{Text: fmt.Sprintf("%s cannot be there: %s is not a directory", path, at),
				Err: syscall.ENOTDIR}
		}
	}
	return unreached(path, syscall.ENOTDIR)
}

// unreached explains the error of a path that cannot be opened.
func unreached(path string, err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return Closed(path, err)
	}
	return &PlaceError{Text: fmt.Sprintf("%s: %v", path, reason(err)), Err: err}
}

// Path returns the directory's absolute path without links.
func (d Dir) Path() string { return d.path }

// Exists reports whether the directory holds an experiment.
func (d Dir) Exists() bool {
	_, err := nolink.Lstat(d.Experiment())
	return err == nil
}

// Vacant checks that a directory without an experiment has no foreign files with names that an
// experiment uses (B-155). A directory that a killed host began has a lock file, and no trials.
func (d Dir) Vacant() error {
	lock := filepath.Join(d.path, "LOCK")
	if _, err := os.Lstat(lock); err == nil {
		if foreign, err := journal.ForeignLock(d.path); foreign && err == nil {
			return belongsToNone(lock)
		}
		if d.HasTrials() {
			return fmt.Errorf("%s has the trials of an experiment, but %s is gone: put it back, with what else is "+
				"gone, or give the new experiment another --name", d.Trials(), d.Experiment())
		}
		return nil
	}
	for _, name := range ownNames {
		if _, err := os.Lstat(filepath.Join(d.path, name)); err == nil {
			return belongsToNone(filepath.Join(d.path, name))
		}
	}
	return nil
}

func belongsToNone(path string) error {
	return fmt.Errorf("%s exists, but no experiment that it could belong to: give the experiment another "+
		"--name or --storage, or move it away", path)
}

// HasTrials reports whether the directory has directories of trials.
func (d Dir) HasTrials() bool {
	list, err := nolink.ReadDir(d.Trials())
	return err == nil && slices.ContainsFunc(list, func(e fs.DirEntry) bool {
		_, err := nolink.Lstat(filepath.Join(d.Trials(), e.Name(), "params.json"))
		return err == nil
	})
}

// ownNames are the names of files in an experiment's directory.
var ownNames = []string{"run.json", "tunehost.lock", "journal", "trials", "snapshots", "checkpoints", "start",
	"learned.jsonl",
	"host.log", ".crash.txt", "control", ".reported", "agents", "uploads.json", "unreleased.json", "leaving.json",
	"place.json",
	".room", ".full", ".full-inodes", ".full-quota"}

// Strange returns the errors of what is neither a file nor a folder in the place of one that an experiment has. What is
// needed to open the experiment is not looked at: that fails by itself.
func (d Dir) Strange() (list []error) {
	for _, name := range append([]string{"LOCK", "experiment.yaml"}, ownNames...) {
		path := filepath.Join(d.path, name)
		info, err := os.Lstat(path)
		if opened[name] || err != nil || info.Mode().IsRegular() || info.IsDir() {
			continue
		}
		list = append(list, nolink.Refused(path, info.Mode()))
	}
	return list
}

// opened are the names of what is needed to open an experiment.
var opened = map[string]bool{"run.json": true, "tunehost.lock": true, "journal": true}

// Create makes the directory. It may exist if it is empty.
func (d Dir) Create() error {
	if err := os.MkdirAll(d.path, dirMode); err != nil {
		return fmt.Errorf("%s: cannot make the experiment's directory: %w; choose another with --storage", d.path,
			reason(err))
	}
	if err := nolink.Mkdir(d.Trials(), dirMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s: %w; choose another directory with --storage", d.Trials(), reason(err))
	}
	return nil
}

// reason strips the operation and the path, which the message has, from an error.
func reason(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// Experiment is the file as the user gave it.
func (d Dir) Experiment() string { return filepath.Join(d.path, "experiment.yaml") }

// Journal is the directory of the record.
func (d Dir) Journal() string { return filepath.Join(d.path, "journal") }

// Trials is the directory that holds the trials' directories.
func (d Dir) Trials() string { return filepath.Join(d.path, "trials") }

// Log is the host's log.
func (d Dir) Log() string { return filepath.Join(d.path, "host.log") }

// Crash is the report of an internal failure of the host.
func (d Dir) Crash() string { return filepath.Join(d.path, ".crash.txt") }

// Control is a file with the address at which the running host listens.
func (d Dir) Control() string { return filepath.Join(d.path, "control") }

// Agents is the directory of the connections to agents. It has a private key.
func (d Dir) Agents() string { return filepath.Join(d.path, "agents") }

// Place is a file that says where the last host ran the experiment.
func (d Dir) Place() string { return filepath.Join(d.path, "place.json") }

// Uploads is a file with the checksums of the uploaded files.
func (d Dir) Uploads() string { return filepath.Join(d.path, "uploads.json") }

// Snapshots is the directory of plugin states. It may be removed.
func (d Dir) Snapshots() string { return filepath.Join(d.path, "snapshots") }

// Start is a directory like a trial's; its only checkpoint is the one that every trial starts from.
func (d Dir) Start() string { return filepath.Join(d.path, "start") }

// Learned is the file of what the searcher learned from other experiments, one trial a line.
func (d Dir) Learned() string { return filepath.Join(d.path, "learned.jsonl") }

// Trial returns a trial's directory; name comes from [TrialName].
func (d Dir) Trial(name string) string { return filepath.Join(d.path, "trials", name) }

// MakeTrialDir makes a trial's directory with its params.json. Other folders in it are made when they
// are first used, which keeps short trials fast.
func (d Dir) MakeTrialDir(dir string, params []byte) error {
	if err := nolink.Mkdir(dir, dirMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return d.unusable(err)
	}
	return nolink.WriteFile(filepath.Join(dir, "params.json"), append(slices.Clip(params), '\n'), fileMode)
}

// UnusableError says that no trial of the experiment can have a directory.
type UnusableError struct{ Err error }

func (e *UnusableError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *UnusableError) Unwrap() error { return e.Err }

// unusable returns an UnusableError if the error is about the directory of all trials, not about one
// trial's name.
func (d Dir) unusable(err error) error {
	for _, path := range []string{d.path, d.Trials()} {
		if _, gone := nolink.Lstat(path); errors.Is(gone, fs.ErrNotExist) {
			return &UnusableError{journal.GoneError(path)}
		}
	}
	var placed *nolink.Error // about the folder of all trials
	if errors.As(err, &placed) && placed.Path == d.Trials() || errors.Is(err, fs.ErrPermission) ||
		errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.EROFS) {
		return &UnusableError{fmt.Errorf("%w; correct that, then resume the experiment", err)}
	}
	return err
}

// Check returns an [UnusableError] if the directory of all trials is gone.
func (d Dir) Check() error {
	_, err := nolink.Lstat(d.Trials())
	if errors.Is(err, fs.ErrNotExist) {
		return d.unusable(err)
	}
	return nil
}

// WriteFile replaces a file of the experiment atomically: readers see the old one or the new one.
func WriteFile(path string, content []byte) error {
	tmp, err := nolink.Temporary(path, fileMode)
	if err != nil {
		return err
	}
	_, err = tmp.Write(content)
	if err := nolink.Settle(tmp, path, errors.Join(err, tmp.Sync())); err != nil {
		return err
	}
	return nolink.Sync(filepath.Dir(path))
}

// ReadFile reads a file of an experiment. Links and other special files are errors, and so are files
// larger than the limit.
func ReadFile(path string, limit int64) ([]byte, error) { return nolink.ReadFile(path, limit) }
