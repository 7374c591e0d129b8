package runfile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/host/storage"
)

// FuzzRead checks that a run.json is of this version, or is refused in one line that names a file.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"version":1,"run_id":"0123456789abcdef0123456789abcdef","seed":7,"name":"x",` +
		`"overrides":["trials=3"],"file":"/a/x.yaml","created":"2026-01-01T00:00:00Z"}`))
	f.Add([]byte(`{"version":1,"overrides":["trials=","=","space.x={uniform: [0, 1","seed=-1"]}`))
	f.Add([]byte(`{"version":1,"name":"../../x","extensions":[{"overrides":-1},{"overrides":9}],` +
		`"learned":{"trials":-1,"sha256":""}}`))
	dir, err := storage.At(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	const file = "version: 1\nobjective: {metric: loss, mode: min}\nspace: {x: {uniform: [0, 1]}}\ntrials: 3\n"
	if err := errors.Join(dir.Create(), os.WriteFile(dir.Experiment(), []byte(file), 0o600)); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(Path(dir), text, 0o600); err != nil {
			t.Fatal(err)
		}
		r, e, err := Read(dir)
		if err != nil {
			if !strings.HasPrefix(err.Error(), dir.Path()+string(filepath.Separator)) {
				t.Fatalf("it names no file: %q", err)
			}
			return
		}
		if _, err := r.ID(); err != nil && strings.Contains(err.Error(), "\n") {
			t.Fatalf("several lines: %q", err)
		}
		if e == nil || r.Version != version {
			t.Fatalf("%+v", r)
		}
		for n := range len(r.Extensions) + 1 {
			_, _ = r.ParseAt(e.Source, n)
		}
	})
}
