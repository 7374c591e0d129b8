package runfile

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/host/storage"
)

// A folder with an experiment.yaml and nothing else says what is missing, and what to do for a new experiment.
func TestFileAlone(t *testing.T) {
	d, err := storage.At(t.TempDir())
	if err == nil {
		err = os.WriteFile(d.Experiment(), []byte("version: 1\n"), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = Read(d)
	if !errors.Is(err, ErrNone) || !strings.Contains(err.Error(), "it has an experiment.yaml, but no run.json") ||
		!strings.Contains(err.Error(), "--name") {
		t.Error(err)
	}
}
