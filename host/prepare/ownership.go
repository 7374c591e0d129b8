package prepare

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/options"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/mirror"
	"github.com/tunehost/tunehost/host/storage/remote"
	"github.com/tunehost/tunehost/host/storage/runfile"
	"github.com/tunehost/tunehost/host/usererror"
)

// ownership is the relation between a file and the experiment that has its name.
type ownership struct {
	// moved: the file that the experiment began with is now this one.
	moved bool
	// foreign: this is another file than the one that the experiment began with, which is there.
	foreign  bool
	warnings []string
}

// ownedBy refuses a file whose default name is that of another file's experiment: its user would
// take results of the other file for those of this one. A file that was moved or renamed, or that
// is on another machine, resumes it. An explicit name means that experiment; a
// warning says to which file it belongs.
func ownedBy(r *runfile.File, e *config.Experiment, p *Plan) (ownership, error) {
	dir := p.Dir
	now, err := filepath.Abs(e.File)
	if err != nil || sameFile(now, r.File) || sameFile(now, dir.Experiment()) || !isPlain(now) {
		return ownership{}, err
	}
	// What was fetched began with a file of another machine: a file of that path on this one
	// says nothing.
	there := isPlain(r.File) && !p.Remote.Fetched()
	switch {
	case there && brought(dir.Path(), r.File, now), !there && stem(r.File) == stem(now):
		return ownership{moved: true}, nil
	case !e.Named():
		return ownership{}, foreignError(r, e, dir, there)
	case there:
		text := fmt.Sprintf("%s: %s belongs to %s: its results are from that file; if that is not intended, give %s "+
			"another name", e.PosOf("name"), dir.Path(), r.File, e.File)
		return ownership{foreign: true, warnings: []string{text}}, nil
	}
	return ownership{moved: true, warnings: []string{fmt.Sprintf("%s: %s was begun with %s, which is gone: it "+
		"continues with %s",
		e.PosOf("name"), dir.Path(), r.File, e.File)}}, nil
}

// foreignError is the error if the experiment in the directory belongs to another file.
func foreignError(r *runfile.File, e *config.Experiment, dir storage.Dir, there bool) error {
	gone := ""
	if !there {
		gone = ", which is not there"
	}
	return usererror.Errorf("%s: this experiment belongs to %s%s: give %s a name of its own with --name, or continue "+
		"with that experiment with --name %q",
		dir.Path(), r.File, gone, e.File, r.Name)
}

// sameFile reports whether two paths lead to the same file.
func sameFile(a, b string) bool {
	if a == b {
		return true
	}
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// isPlain reports whether a path leads to a regular file, and not to a pipe of a shell.
func isPlain(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// stem is the name of a file without its ending.
func stem(path string) string {
	base := filepath.Base(path)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// brought reports whether an experiment was copied together with its file, as with the whole
// folder of a project.
func brought(dir, old, now string) bool {
	before, after := old, now
	for filepath.Base(before) == filepath.Base(after) && filepath.Dir(before) != before &&
		filepath.Dir(after) != after {
		before, after = filepath.Dir(before), filepath.Dir(after)
	}
	return stem(old) == stem(now) && within(dir, after) && !within(dir, before)
}

// within reports whether a path is in a folder.
func within(path, folder string) bool {
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		folder = real
	}
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}

// keepName keeps the name that an earlier version of tunehost gave to the experiment of this file,
// where an experiment has that name and none has the one that the file would get now.
func keepName(ctx context.Context, o *options.Options, e *config.Experiment) error {
	if e.FormerName == "" || o.Resume == "never" {
		return nil
	}
	exists, _, err := namesAt(ctx, e.Storage)
	if err != nil {
		return err
	}
	if !exists(e.Name) && exists(e.FormerName) && began(e) {
		e.Name = e.FormerName
	}
	return nil
}

// began reports whether a file of this name began the experiment that has the former name. What
// is not on this machine is compared once it is here.
func began(e *config.Experiment) bool {
	path := filepath.Join(e.Storage, e.FormerName)
	if mirror.IsURL(e.Storage) {
		var err error
		if path, err = remote.WorkingDir(mirror.Join(e.Storage, e.FormerName)); err != nil {
			return true
		}
	}
	dir, err := storage.At(path)
	if err != nil || !dir.Exists() {
		return true
	}
	r, _, err := runfile.Read(dir)
	return err != nil || filepath.Base(r.File) == filepath.Base(e.File)
}
