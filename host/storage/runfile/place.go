package runfile

import (
	"os"
	"path/filepath"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/storage"
)

// parseAt reads the recorded experiment file of a directory. If the directory was moved or copied since the experiment
// began, paths that were in it lead to where they are now. The record keeps them as they were: it may move again.
func (r *File) parseAt(d storage.Dir, source []byte) (*config.Experiment, error) {
	e, err := r.Parse(source)
	if err != nil {
		return nil, err
	}
	if r.place = r.placeOf(d, e); r.place == (config.Place{}) {
		return e, nil
	}
	r.File = r.place.Here(r.File)
	return r.Parse(source)
}

// placeOf compares the place of an experiment with the one that its file names. A relative one is not known: nothing
// says in which directory the experiment began.
func (r *File) placeOf(d storage.Dir, e *config.Experiment) config.Place {
	began := filepath.Join(e.Storage, r.Name)
	if !filepath.IsAbs(e.Storage) || began == d.Path() {
		return config.Place{}
	}
	if there, err := os.Stat(began); err == nil {
		if here, err := os.Stat(d.Path()); err == nil && os.SameFile(there, here) {
			return config.Place{}
		}
	}
	return config.Place{From: began, To: d.Path()}
}
