package prepare

import (
	"context"
	"path/filepath"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/options"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/runfile"
)

// moved reads a file again that is in the directory of its own experiment, as those of Python are, if that directory
// has moved: the file names the place where the experiment began, where another one may be by now.
func moved(ctx context.Context, o *options.Options, e *config.Experiment, list []config.Option) (*config.Experiment,
	error) {
	place := placeOf(o)
	if place == (config.Place{}) {
		return e, nil
	}
	named := filepath.Join(e.Storage, e.Name)
	if d, err := storage.At(named); named != place.From && (err != nil || d.Path() != place.To) {
		return e, nil // the user has given another place
	}
	if named == place.From {
		list = append(list, config.WithFlag("storage", filepath.Dir(place.To)),
			config.WithFlag("name", filepath.Base(place.To)))
	}
	return read(ctx, o, append(list, config.Moved(place)))
}

// placeOf returns where the experiment whose file is in a folder of its directory began, and where it is; the zero
// value: in the same place, or the file is no such file.
func placeOf(o *options.Options) config.Place {
	file, err := filepath.Abs(o.File)
	if err != nil || o.Mode.Source != nil || o.InMemory() || !isPlain(file) {
		return config.Place{}
	}
	d, err := storage.At(filepath.Dir(filepath.Dir(file)))
	if err != nil || !d.Exists() {
		return config.Place{}
	}
	r, recorded, err := runfile.Read(d)
	if err != nil || !sameFile(r.File, file) {
		return config.Place{}
	}
	return recorded.Place
}
