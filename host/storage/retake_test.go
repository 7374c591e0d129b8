//go:build unix

package storage

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// handed makes a trial's directory with a checkpoint that a program hands over.
func handed(t *testing.T) (d Dir, trialDir, from string) {
	t.Helper()
	d, err := At(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	trialDir = d.Trial("0")
	from = filepath.Join(trialDir, ".checkpoints", "last")
	if err := errors.Join(os.MkdirAll(from, 0o700),
		os.WriteFile(filepath.Join(from, "model"), []byte("weights"), 0o600)); err != nil {
		t.Fatal(err)
	}
	return d, trialDir, from
}

var ofSeven = Manifest{Trial: 0, Attempt: 2, Iteration: 7}

// retaken checks that the next host takes the checkpoint.
func retaken(t *testing.T, d Dir, trialDir, from string) {
	t.Helper()
	m := Manifest{Trial: 0, Attempt: 2, Iteration: 7}
	if bytes, err := d.Retake(trialDir, 3, &m, from, false); err != nil || bytes != 7 || m.Iteration != 7 {
		t.Fatalf("%d bytes of iteration %d: %v", bytes, m.Iteration, err)
	}
	x, err := CheckCheckpoint(CheckpointDir(trialDir, 3), true)
	if err != nil || len(x.Files) != 1 || x.Attempt != 2 || x.Iteration != 7 {
		t.Fatalf("%+v: %v", x, err)
	}
	text, err := os.ReadFile(filepath.Join(CheckpointFiles(trialDir, 3), "model"))
	if err != nil || string(text) != "weights" {
		t.Fatalf("%q: %v", text, err)
	}
}

// B-051, B-080: a host dies before each step of completing a checkpoint that a program handed over or
// saved on request. The next host completes it.
func TestRetakeAfterEachStep(t *testing.T) {
	for _, asked := range []bool{false, true} {
		for steps, done := 0, false; !done; steps++ {
			d, trialDir, from := handed(t)
			if err := Take(trialDir, 3, from); err != nil {
				t.Fatal(err)
			}
			if asked { // then finishing comes first
				if from = ""; finish(realDisk{}, trialDir, 3, ofSeven) != nil {
					t.Fatal("it cannot be finished")
				}
			}
			if _, err := d.commit(newDying(t, d.Path(), steps), trialDir, 3, ofSeven); err == nil {
				done = true
			} else if !errors.Is(err, errDead) {
				t.Fatal(err)
			}
			retaken(t, d, trialDir, from)
		}
	}
}

// The experiment was moved or copied after its host died: the checkpoint is taken where it is now, also where that host
// had begun to take it.
func TestRetakeInACopy(t *testing.T) {
	for _, how := range []struct{ moved, begun bool }{{}, {moved: true}, {begun: true}, {moved: true, begun: true}} {
		d, trialDir, from := handed(t)
		there, err := At(filepath.Join(t.TempDir(), "copy"))
		if err == nil && how.begun {
			err = Take(trialDir, 3, from)
		}
		if err == nil {
			err = os.CopyFS(there.Path(), os.DirFS(d.Path()))
		}
		if err == nil && how.moved {
			err = os.RemoveAll(d.Path())
		} else if err == nil { // it goes on there
			err = errors.Join(os.MkdirAll(from, 0o700),
				os.WriteFile(filepath.Join(from, "model"), []byte("another"), 0o600))
		}
		if err != nil {
			t.Fatal(err)
		}
		retaken(t, there, there.Trial(filepath.Base(trialDir)), from)
	}
}

// B-080: a host dies before or while it takes the checkpoint. Once it is taken, whatever the program
// makes under the same name is something else.
func TestRetakeFromWhereItLies(t *testing.T) {
	for how, prepare := range map[string]func(trialDir, from string) error{
		"not begun": func(string, string) error { return nil },
		"staged":    func(trialDir, _ string) error { _, err := Stage(trialDir, 3); return err },
		"moved, and another begun": func(trialDir, from string) error {
			return errors.Join(Take(trialDir, 3, from), os.Mkdir(from, 0o700),
				os.WriteFile(filepath.Join(from, "model"), []byte("half"), 0o600))
		},
	} {
		t.Run(how, func(t *testing.T) {
			d, trialDir, from := handed(t)
			if err := prepare(trialDir, from); err != nil {
				t.Fatal(err)
			}
			retaken(t, d, trialDir, from)
		})
	}
	t.Run("half copied", func(t *testing.T) {
		d, trialDir, from := handed(t)
		outside := filepath.Join(t.TempDir(), "last")
		if err := os.Rename(from, outside); err != nil {
			t.Fatal(err)
		}
		files, err := Stage(trialDir, 3)
		if err = errors.Join(err, os.WriteFile(filepath.Join(files, "mod"), []byte("wei"), 0o600)); err != nil {
			t.Fatal(err)
		}
		retaken(t, d, trialDir, outside)
	})
}

// An incomplete checkpoint is not taken: a missing folder, an unfinished save, or data that was not
// synced before the machine stopped.
func TestRetakeOnlyWhatIsWhole(t *testing.T) {
	for how, c := range map[string]struct {
		prepare  func(trialDir, from string) error
		asked    bool
		rebooted bool
	}{
		"gone": {prepare: func(_, from string) error { return os.RemoveAll(from) }},
		"not written": {asked: true, prepare: func(trialDir, _ string) error {
			_,
				err := Stage(trialDir, 3)
			return err
		}},
		"rebooted": {rebooted: true, prepare: func(string, string) error { return nil }},
		"rebooted, moved": {rebooted: true, prepare: func(trialDir, from string) error {
			return errors.Join(Take(trialDir, 3, from), finish(realDisk{}, trialDir, 3, ofSeven))
		}},
		"of another attempt": {asked: true, prepare: func(trialDir, from string) error {
			return errors.Join(Take(trialDir, 3, from), finish(realDisk{}, trialDir, 3, Manifest{Attempt: 1}))
		}},
	} {
		t.Run(how, func(t *testing.T) {
			d, trialDir, from := handed(t)
			if err := c.prepare(trialDir, from); err != nil {
				t.Fatal(err)
			}
			if c.asked {
				from = ""
			}
			m := ofSeven
			if _, err := d.Retake(trialDir, 3, &m, from, c.rebooted); err == nil {
				t.Error("it is taken")
			}
		})
	}
	d, trialDir, from := handed(t)
	if err := Take(trialDir, 3, from); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Commit(trialDir, 3, ofSeven); err != nil {
		t.Fatal(err)
	}
	m := ofSeven
	if _, err := d.Retake(trialDir, 3, &m, from, true); err != nil {
		t.Errorf("what was made to last: %v", err)
	}
}

// B-080: a checkpoint that the next host takes over is compared with its manifest, whether it has its name already
// or not: what was changed or removed meanwhile is not taken, and what was added does not count.
func TestRetakeCompares(t *testing.T) {
	for how, change := range map[string]func(files string) error{
		"a file is gone": func(files string) error { return os.Remove(filepath.Join(files, "model")) },
		"a file has changed": func(files string) error {
			path := filepath.Join(files, "model")
			return errors.Join(os.Remove(path), os.WriteFile(path, []byte("changed"), 0o600))
		},
		"all are gone": os.RemoveAll,
		"":             func(files string) error { return os.WriteFile(filepath.Join(files, "more"), nil, 0o600) },
	} {
		for _, named := range []bool{true, false} {
			d, trialDir, from := handed(t)
			if err := Take(trialDir, 3, from); err != nil {
				t.Fatal(err)
			}
			if _, err := d.Commit(trialDir, 3, ofSeven); err != nil {
				t.Fatal(err)
			}
			dir := CheckpointDir(trialDir, 3)
			if !named {
				dir += beingKept
				if err := os.Rename(CheckpointDir(trialDir, 3), dir); err != nil {
					t.Fatal(err)
				}
			}
			if err := change(FilesOf(dir)); err != nil {
				t.Fatal(err)
			}
			if how == "" {
				retaken(t, d, trialDir, from)
				continue
			}
			m := ofSeven
			_, err := d.Retake(trialDir, 3, &m, from, false)
			if _, ok := errors.AsType[*DamagedError](err); !ok {
				t.Errorf("%s, named %t: %v", how, named, err)
			}
		}
	}
}
