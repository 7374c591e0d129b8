package crash

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/tunehost/tunehost/host/storage"
)

// B-155: what has the report's name and is none is kept, also where it cannot be read.
func TestCrashKeepsWhatIsNotAReport(t *testing.T) {
	dir := t.TempDir()
	d, err := storage.At(dir)
	if err := errors.Join(err, os.Symlink("notes", filepath.Join(dir, ".crash.txt"))); err != nil {
		t.Fatal(err)
	}
	keepOther(d)
	kept, err := filepath.Glob(filepath.Join(dir, ".crash.txt.*.old"))
	if err != nil || len(kept) != 1 {
		t.Errorf("kept as %v, %v", kept, err)
	}
}
