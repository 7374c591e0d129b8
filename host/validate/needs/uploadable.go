package needs

import (
	"fmt"
	"path/filepath"

	"github.com/tunehost/tunehost/host/agent/upload"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/mirror"
)

// Uploadable checks that the files that the file lists in upload can be sent to nodes. Results is the directory of
// the experiment, which is not sent.
func Uploadable(e *config.Experiment, results string) error {
	base, err := filepath.Abs(filepath.Dir(e.File))
	if err != nil {
		return err
	}
	if err := upload.Check(base, e.Upload, upload.Aside(base, results)); err != nil {
		return fmt.Errorf("%s: upload: %w; name other files, or put a copy in the folder", e.PosOf("executor.upload"),
			err)
	}
	return nil
}

// ToUpload is [Uploadable] of an experiment whose directory need not exist yet.
func ToUpload(e *config.Experiment) error {
	if len(e.Upload) == 0 {
		return nil
	}
	in := e.Storage
	if dir, ok := mirror.Directory(in); ok {
		in = dir
	} else if mirror.IsURL(in) {
		return Uploadable(e, "") // its working directory is elsewhere
	}
	results, err := storage.At(filepath.Join(in, e.Name))
	if err != nil {
		return nil // said where the directory is made
	}
	return Uploadable(e, results.Path())
}
