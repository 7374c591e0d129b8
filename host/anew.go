package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/mirror"
	"github.com/tunehost/tunehost/host/storage"
)

// anew gives the experiment the next free name where there is one of its name (Resume
// never): what is there is left as it is. A name is free when nothing has it, so that no
// file of anybody's is written over.
func (o *Options) anew(ctx context.Context, e *config.Experiment) (*config.Experiment, error) {
	if o.Resume != "never" || o.inMemory() {
		return e, nil
	}
	exists, taken, err := namesAt(ctx, e.Storage)
	if err != nil || !exists(e.Name) {
		return e, err
	}
	for n := 2; ; n++ {
		if name := fmt.Sprintf("%s-%d", e.Name, n); !taken(name) {
			o.note = fmt.Sprintf("%s is left as it is (--resume never): this experiment is %s", e.Name, name)
			o.Name = name
			return load(*o)
		}
	}
}

// namesAt says of names in a storage whether an experiment has them, and whether anything
// has.
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
		return err == nil && d.Exists()
	}
	taken = func(name string) bool {
		_, err := os.Lstat(filepath.Join(place, name))
		return !errors.Is(err, fs.ErrNotExist)
	}
	return exists, taken, nil
}
