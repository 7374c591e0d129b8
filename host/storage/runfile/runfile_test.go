package runfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/storage"
)

// written writes the two files of an experiment, and returns the directory and what was written.
func written(t *testing.T) (d storage.Dir, r *File, text, source []byte) {
	t.Helper()
	d, err := storage.At(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	source = []byte("version: 1\nobjective: {metric: loss, mode: min}\nspace: {x: {uniform: [0, 1]}}\n")
	e, err := config.Parse("x.yaml", source, config.WithoutTrainable(), config.WithSet("trials=7"))
	if err != nil {
		t.Fatal(err)
	}
	r, err = New(e, time.Unix(1, 0))
	if err != nil {
		t.Fatal(err)
	}
	text, err = r.Text()
	err = errors.Join(err, os.WriteFile(d.Experiment(), source, 0o600), os.WriteFile(Path(d), text, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	return d, r, text, source
}

// What comes after the JSON of run.json is damage: two of them, or garbage at its end.
func TestTextAfterTheFile(t *testing.T) {
	d, _, text, _ := written(t)
	for more, damaged := range map[string]bool{"": false, "\n": false, string(text): true, "\x00": true, "}": true} {
		if err := os.WriteFile(Path(d), append(text[:len(text):len(text)], more...), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := Read(d); errors.Is(err, ErrUnreadable) != damaged || !damaged && err != nil {
			t.Errorf("with %q: %v", more, err)
		}
	}
}

// Each bit that flips in the two files is found, or changes nothing: bounds, names and options stay what they were.
func TestFlippedBits(t *testing.T) {
	d, r, text, source := written(t)
	for path, whole := range map[string][]byte{Path(d): text, d.Experiment(): source} {
		for bit := range 8 * len(whole) {
			changed := bytes.Clone(whole)
			changed[bit/8] ^= 1 << (bit % 8)
			if err := os.WriteFile(path, changed, 0o600); err != nil {
				t.Fatal(err)
			}
			got, _, err := Read(d)
			if err == nil && (path != Path(d) || !reflect.DeepEqual(got, r)) {
				t.Errorf("%s: bit %d, in %q, goes unnoticed", path, bit, changed)
			}
			if err != nil && (!strings.HasPrefix(err.Error(), path) || strings.Contains(err.Error(), "\n")) {
				t.Errorf("bit %d: %q", bit, err)
			}
		}
		if err := os.WriteFile(path, whole, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// A run.json of an earlier version has no sums.
func TestWithoutSums(t *testing.T) {
	d, r, _, _ := written(t)
	r.Source = ""
	text, err := json.Marshal(r)
	if err = errors.Join(err, os.WriteFile(Path(d), text, 0o600)); err != nil {
		t.Fatal(err)
	}
	if got, _, err := Read(d); err != nil || !reflect.DeepEqual(got, r) {
		t.Fatal(got, err)
	}
}
