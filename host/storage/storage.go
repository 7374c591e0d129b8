// Package storage is where an experiment's files are: the layout of its
// directory, the names of trials' directories, and checkpoints that are whole or
// not there. The host uses it, and who reads what a host has left.
package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/host/storage/nolink"
)

// Modes: the owner alone reads what an experiment wrote (B-092).
const (
	dirMode  = 0o700
	fileMode = 0o600
)

// Dir is an experiment's directory.
type Dir struct{ path string }

// At names an experiment's directory, which need not exist.
func At(path string) (Dir, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return Dir{}, err
	}
	real, err := withoutLinks(abs)
	return Dir{real}, err
}

// withoutLinks is where a path leads, of which the last elements need not exist. Below
// it no links are followed (package nolink).
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
			return &PlaceError{Text: fmt.Sprintf("%s cannot be there: %s is not a directory", path, at), Err: syscall.ENOTDIR}
		}
	}
	return unreached(path, syscall.ENOTDIR)
}

// unreached is the error of a path that the system does not follow.
func unreached(path string, err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return Closed(path, err)
	}
	return &PlaceError{Text: fmt.Sprintf("%s: %v", path, reason(err)), Err: err}
}

// Path is absolute, and has no links.
func (d Dir) Path() string { return d.path }

// Exists says whether an experiment is there.
func (d Dir) Exists() bool {
	_, err := nolink.Lstat(d.Experiment())
	return err == nil
}

// Vacant checks that a directory without an experiment has no files of somebody else's
// with names that an experiment's files have (B-155). What a host has begun that was killed
// has a lock file.
func (d Dir) Vacant() error {
	if _, err := os.Lstat(filepath.Join(d.path, "LOCK")); err == nil {
		return nil
	}
	for _, name := range ownNames {
		if _, err := os.Lstat(filepath.Join(d.path, name)); err == nil {
			return fmt.Errorf("%s is there, and no experiment that it could be part of: give the experiment another --name or --storage, or move that away",
				filepath.Join(d.path, name))
		}
	}
	return nil
}

// ownNames are in an experiment's directory.
var ownNames = []string{"run.json", "tunehost.lock", "journal", "trials", "snapshots", "checkpoints", "start", "learned.jsonl",
	"host.log", "crash.txt", "control", ".reported"}

// Create makes the directory. It may exist if it is empty.
func (d Dir) Create() error {
	if err := os.MkdirAll(d.path, dirMode); err != nil {
		return fmt.Errorf("%s: the experiment's directory cannot be made: %w; choose another with --storage", d.path, reason(err))
	}
	if err := nolink.Mkdir(d.Trials(), dirMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s: %w; choose another directory with --storage", d.Trials(), reason(err))
	}
	return nil
}

// reason is an error without the operation and the path, which the message has.
func reason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// Experiment is the file as the user gave it.
func (d Dir) Experiment() string { return filepath.Join(d.path, "experiment.yaml") }

// Journal is the directory of the record.
func (d Dir) Journal() string { return filepath.Join(d.path, "journal") }

// Trials is the directory of the trials' directories.
func (d Dir) Trials() string { return filepath.Join(d.path, "trials") }

// Log is the host's log.
func (d Dir) Log() string { return filepath.Join(d.path, "host.log") }

// Crash is the report of a host that failed itself.
func (d Dir) Crash() string { return filepath.Join(d.path, "crash.txt") }

// Control is a file with the address at which the running host listens.
func (d Dir) Control() string { return filepath.Join(d.path, "control") }

// Snapshots is the directory of the states of plugins. It may be removed.
func (d Dir) Snapshots() string { return filepath.Join(d.path, "snapshots") }

// Start holds the checkpoint that every trial starts from, as a trial's directory
// would: its only one.
func (d Dir) Start() string { return filepath.Join(d.path, "start") }

// Learned has what the searcher knows of other experiments, a trial a line.
func (d Dir) Learned() string { return filepath.Join(d.path, "learned.jsonl") }

// Trial is a trial's directory; name comes from [TrialName].
func (d Dir) Trial(name string) string { return filepath.Join(d.path, "trials", name) }

// MakeTrialDir makes a trial's directory with its params.json. What else is in
// it, checkpoints among it, is made by whoever comes with it first: a short trial
// takes little longer than its files.
func (d Dir) MakeTrialDir(dir string, params []byte) error {
	if err := nolink.Mkdir(dir, dirMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return d.unusable(err)
	}
	return nolink.WriteFile(filepath.Join(dir, "params.json"), append(params[:len(params):len(params)], '\n'), fileMode)
}

// UnusableError: no trial of the experiment can have a directory.
type UnusableError struct{ Err error }

func (e *UnusableError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *UnusableError) Unwrap() error { return e.Err }

// unusable tells what is wrong with the directory of all trials from what is with
// one's name.
func (d Dir) unusable(err error) error {
	for _, path := range []string{d.path, d.Trials()} {
		if _, gone := nolink.Lstat(path); errors.Is(gone, fs.ErrNotExist) {
			return &UnusableError{journal.GoneError(path)}
		}
	}
	var placed *nolink.Error // in the place of the folder of all trials
	if errors.As(err, &placed) && placed.Path == d.Trials() || errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.EROFS) {
		return &UnusableError{fmt.Errorf("%w; mend that, and go on with the experiment", err)}
	}
	return err
}

// Check is an [UnusableError] where the directory of all trials is not there any more.
func (d Dir) Check() error {
	_, err := nolink.Lstat(d.Trials())
	if errors.Is(err, fs.ErrNotExist) {
		return d.unusable(err)
	}
	return nil
}

// WriteFile replaces a file of the experiment at once: readers see the old one
// or the new one.
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

// ReadFile reads a file of an experiment. What is no file, a link among it, or larger
// than any that a host makes, is an error.
func ReadFile(path string, limit int64) ([]byte, error) { return nolink.ReadFile(path, limit) }
