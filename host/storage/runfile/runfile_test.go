package runfile

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/storage"
)

// What comes after the JSON of run.json is damage: two of them, or garbage at its end.
func TestTextAfterTheFile(t *testing.T) {
	d, err := storage.At(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	const source = "version: 1\nobjective: {metric: loss, mode: min}\nspace: {x: {uniform: [0, 1]}}\n"
	e, err := config.Parse("x.yaml", []byte(source), config.WithoutTrainable())
	if err != nil {
		t.Fatal(err)
	}
	r, err := New(e, time.Unix(1, 0))
	if err != nil {
		t.Fatal(err)
	}
	text, err := r.Text()
	if err = errors.Join(err, os.WriteFile(d.Experiment(), []byte(source), 0o600)); err != nil {
		t.Fatal(err)
	}
	for more, damaged := range map[string]bool{"": false, "\n": false, string(text): true, "\x00": true, "}": true} {
		if err := os.WriteFile(Path(d), append(text[:len(text):len(text)], more...), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := Read(d); errors.Is(err, ErrUnreadable) != damaged || !damaged && err != nil {
			t.Errorf("with %q: %v", more, err)
		}
	}
}
