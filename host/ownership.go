package host

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/mirror"
	"github.com/tunehost/tunehost/host/runfile"
	"github.com/tunehost/tunehost/host/storage"
)

// ownership is how a file stands to the experiment that it finds under its name.
type ownership struct {
	// moved: the file that the experiment began with is now this one.
	moved    bool
	warnings []string
}

// ownedBy refuses a file whose name by default is that of another file's experiment: its user
// would see results of the other one as his. A file that was moved or renamed, or that is on
// another machine, goes on. Who writes the name means that experiment, and is told whose it is.
func (o *Options) ownedBy(r *runfile.File, e *config.Experiment, dir storage.Dir) (ownership, error) {
	now, err := filepath.Abs(e.File)
	if err != nil || sameFile(now, r.File) || sameFile(now, dir.Experiment()) || !isPlain(now) {
		return ownership{}, err
	}
	// What was fetched began with a file of another machine: a file of that path on this one
	// says nothing.
	there := isPlain(r.File) && (o.remote == nil || !o.remote.fetched)
	switch {
	case there && brought(dir.Path(), r.File, now), !there && stem(r.File) == stem(now):
		return ownership{moved: true}, nil
	case !e.Named():
		return ownership{}, others(r, e, dir, there)
	case there:
		return ownership{warnings: []string{fmt.Sprintf("%s: %s belongs to %s: what was found there is from that file; "+
			"where that is not meant, give %s another name", e.PosOf("name"), dir.Path(), r.File, e.File)}}, nil
	}
	return ownership{moved: true, warnings: []string{fmt.Sprintf("%s: %s was begun with %s, which is gone: it goes on with %s",
		e.PosOf("name"), dir.Path(), r.File, e.File)}}, nil
}

// others is the refusal of a file that finds another one's experiment.
func others(r *runfile.File, e *config.Experiment, dir storage.Dir, there bool) error {
	gone := ""
	if !there {
		gone = ", which is not there"
	}
	return userError("%s: this experiment belongs to %s%s: give %s a name of its own with --name, or go on with that experiment with --name %q",
		dir.Path(), r.File, gone, e.File, r.Name)
}

// sameFile says whether two paths lead to the same file.
func sameFile(a, b string) bool {
	if a == b {
		return true
	}
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// isPlain says whether a path leads to a file that stays: not to a pipe of a shell.
func isPlain(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// stem is the name of a file without its ending.
func stem(path string) string {
	base := filepath.Base(path)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// brought says whether an experiment was copied together with its file: to the folder of a
// project that is a copy of the one with the old file.
func brought(dir, old, now string) bool {
	before, after := old, now
	for filepath.Base(before) == filepath.Base(after) && filepath.Dir(before) != before && filepath.Dir(after) != after {
		before, after = filepath.Dir(before), filepath.Dir(after)
	}
	return stem(old) == stem(now) && within(dir, after) && !within(dir, before)
}

// within says whether a path is in a folder.
func within(path, folder string) bool {
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		folder = real
	}
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}

// keepName keeps the name that an earlier version gave to the experiment of this file, where
// there is one of that name and none of the name that it would get now.
func (o *Options) keepName(ctx context.Context, e *config.Experiment) error {
	if e.FormerName == "" || o.Resume == "never" || o.inMemory() {
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

// began says whether a file of this name began the experiment that has its former name. What
// is elsewhere, and not on this machine, is compared when it is here.
func began(e *config.Experiment) bool {
	path := filepath.Join(e.Storage, e.FormerName)
	if mirror.IsURL(e.Storage) {
		var err error
		if path, err = WorkingDir(mirror.Join(e.Storage, e.FormerName)); err != nil {
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
