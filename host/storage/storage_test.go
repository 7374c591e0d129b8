package storage

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// B-080: the error distinguishes a missing directory of all trials from a problem of one trial, and
// says what to do.
func TestNoTrialDirs(t *testing.T) {
	for name, c := range map[string]struct {
		take func(d Dir) error
		says string
	}{
		"experiment moved": {func(d Dir) error { return os.Rename(d.Path(), d.Path()+".away") },
			"was removed or moved away"},
		"trials removed": {func(d Dir) error { return os.RemoveAll(d.Trials()) }, "was removed or moved away"},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := At(filepath.Join(t.TempDir(), "experiment"))
			if err = errors.Join(err, d.Create(), c.take(d)); err != nil {
				t.Fatal(err)
			}
			var unusable *UnusableError
			if err := d.MakeTrialDir(d.Trial("00000_a"), []byte("{}")); !errors.As(err, &unusable) ||
				!strings.Contains(err.Error(), c.says) {
				t.Error(err)
			}
		})
	}
	d, err := At(t.TempDir())
	if err = errors.Join(err, d.Create()); err != nil {
		t.Fatal(err)
	}
	var unusable *UnusableError
	if err := d.MakeTrialDir(d.Trial(strings.Repeat("a", 300)), []byte("{}")); err == nil || errors.As(err, &unusable) {
		t.Error(err)
	}
}

// B-155: the trials of an experiment that has lost its file and its record are no place for a new one. A host that died
// before the experiment existed has left no trial.
func TestTrialsWithoutExperiment(t *testing.T) {
	d, err := At(filepath.Join(t.TempDir(), "e"))
	err = errors.Join(err, d.Create(), os.WriteFile(filepath.Join(d.Path(), "LOCK"), nil, 0o600))
	if err = errors.Join(err, os.Mkdir(filepath.Join(d.Trials(), "notes"), 0o700), d.Vacant()); err != nil {
		t.Fatal(err)
	}
	if err := d.MakeTrialDir(d.Trial("00000_a"), []byte("{}")); err != nil {
		t.Fatal(err)
	}
	if err := d.Vacant(); err == nil || !strings.Contains(err.Error(), d.Experiment()+" is gone: put it back") {
		t.Error(err)
	}
}

// A host that ends says what it waits for, until then.
func TestLeaving(t *testing.T) {
	t.Parallel()
	d, _ := trial(t)
	now := time.Now()
	for _, c := range []struct {
		until time.Time
		want  string
	}{{time.Time{}, ""}, {now.Add(12 * time.Second), "its host still waits for somebody, for 12s more at most"},
		{now.Add(-time.Second), ""}, {time.Time{}, ""}} {
		if err := d.NoteLeaving("waits for somebody", c.until); err != nil {
			t.Fatal(err)
		}
		if got, by := d.Leaving(now), d.LeavesBy(now); got != c.want || by.IsZero() != (got == "") {
			t.Errorf("%v: %q, by %v", c.until, got, by)
		}
	}
}
