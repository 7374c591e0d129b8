package prepare

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/options"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/mirror"
)

// freeName gives the experiment the next free name if an experiment of its name exists (Resume never), which
// stays unchanged. A name is free if no file or folder has it, so that nothing is overwritten. note tells
// the user.
func freeName(ctx context.Context, o options.Options, e *config.Experiment) (_ *config.Experiment, note string,
	err error) {
	if o.Resume != "never" || o.InMemory() {
		return e, "", nil
	}
	exists, taken, err := namesAt(ctx, e.Storage)
	if err != nil || !exists(e.Name) {
		return e, "", err
	}
	for n := 2; ; n++ {
		if name := fmt.Sprintf("%s-%d", e.Name, n); !taken(name) {
			note = fmt.Sprintf("%s is not changed (--resume never): this experiment is %s", e.Name, name)
			o.Name = name
			e, err = Load(ctx, &o)
			return e, note, err
		}
	}
}

// namesAt returns functions that report of a name in a storage whether an experiment has it, and
// whether anything has it.
func namesAt(ctx context.Context, place string) (exists, taken func(string) bool, err error) {
	if mirror.IsURL(place) {
		names, err := mirror.Names(ctx, place)
		if errors.Is(err, mirror.ErrNone) {
			names, err = nil, nil
		}
		has := func(name string) bool { return slices.Contains(names, name) }
		return has, has, err
	}
	exists = func(name string) bool {
		d, err := storage.At(filepath.Join(place, name))
		return err == nil && (d.Exists() || begins(d))
	}
	taken = func(name string) bool {
		_, err := os.Lstat(filepath.Join(place, name))
		return !errors.Is(err, fs.ErrNotExist)
	}
	return exists, taken, nil
}

// begins reports whether a host is about to begin an experiment in a directory that has none yet.
func begins(d storage.Dir) bool {
	holder, err := journal.Holder(d.Path())
	return err == nil && holder != nil
}
