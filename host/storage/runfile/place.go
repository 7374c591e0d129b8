package runfile

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"

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

// Cluster identifies the experiment on a cluster: a copy is another one than the original, whose leases it leaves
// alone.
func (r *File) Cluster() string {
	if r.place == (config.Place{}) {
		return strings.ToLower(r.RunID)[:16]
	}
	sum := sha256.Sum256([]byte(r.RunID + "\x00" + r.place.To))
	return hex.EncodeToString(sum[:8])
}
