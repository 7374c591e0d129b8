//go:build unix

package storage

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/host/storage/nolink"
)

// onTrials are what a host does in the directory of a trial while it runs.
var onTrials = map[string]func(d Dir, dir string) error{
	"make":        func(d Dir, dir string) error { return d.MakeTrialDir(dir, []byte("{}")) },
	"stage":       func(_ Dir, dir string) error { _, err := Stage(dir, 2); return err },
	"take":        func(_ Dir, dir string) error { return Take(dir, 2, filepath.Join(dir, "made")) },
	"take a file": func(_ Dir, dir string) error { return Take(dir, 2, filepath.Join(dir, "params.json")) },
	"take kept":   func(_ Dir, dir string) error { return Take(dir, 2, CheckpointFiles(dir, 1)) },
	"commit":      func(d Dir, dir string) error { _, err := d.Commit(dir, 2, Manifest{}); return err },
	"away":        func(d Dir, dir string) error { _, err := d.CommitAway(dir, 2, Manifest{}); return err },
	"export": func(d Dir, dir string) error {
		_, err := d.CommitExport(dir, "onnx", Manifest{})
		return err
	},
	"retake": func(d Dir, dir string) error { _, err := d.Retake(dir, 2, &Manifest{}, "made", false); return err },
	"unfinished": func(d Dir, dir string) error {
		return errors.Join(d.RemoveUnfinished(dir, 2), SweepUnfinished(dir), errors.New("nothing was there"))
	},
	"remove":  func(d Dir, dir string) error { return d.RemoveCheckpoint(dir, 1) },
	"restore": func(_ Dir, dir string) error { return Restore(CheckpointDir(dir, 1), RestoredDir(dir, 1)) },
	"sweep": func(d Dir, dir string) error {
		none := func(uint32) bool { return false }
		return d.SweepTrial(dir, 1, none, none)
	},
	"make way": func(_ Dir, dir string) error { _, err := MakeWay(RestoredDir(dir, 1)); return err },
}

// livelyTrial makes a trial in the middle of everything.
func livelyTrial(t *testing.T) (Dir, string) {
	t.Helper()
	d, dir := trial(t)
	stage(t, dir, 1, map[string][]byte{"w": weights(1)})
	commitNow(t, d, dir, 1)
	stage(t, dir, 2, map[string][]byte{"w": weights(2)})
	for _, path := range []string{filepath.Join(dir, "made", "w"), filepath.Join(NewExports(dir), "onnx", "w"),
		filepath.Join(ExportFiles(dir, "onnx"), "old"), filepath.Join(RestoredDir(dir, 1), "w"),
		filepath.Join(dir, handovers, ".new-abcdefgh", "w")} {
		err := errors.Join(nolink.MkdirAll(filepath.Dir(path), dirMode), os.WriteFile(path, weights(3), fileMode))
		if err != nil {
			t.Fatal(err)
		}
	}
	return d, dir
}

// contentOf returns the files below a folder, with their modes and contents.
func contentOf(t *testing.T, root string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil {
			found[path] = info.Mode().String()
		}
		if err == nil && info.Mode().IsRegular() {
			var text []byte
			text, err = os.ReadFile(path)
			found[path] += string(text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// If the directory of a running trial, or one above it, is moved elsewhere and linked back, nothing is made, moved or
// removed behind the link.
func TestTrialsThatAreLinkedBack(t *testing.T) {
	t.Parallel()
	for what, do := range onTrials {
		for _, linked := range []string{"trials", "trials/00000_a"} {
			t.Run(what+" behind "+strings.ReplaceAll(linked, "/", " "), func(t *testing.T) {
				t.Parallel()
				d, dir := livelyTrial(t)
				elsewhere := filepath.Join(t.TempDir(), "elsewhere")
				place := filepath.Join(d.Path(), filepath.FromSlash(linked))
				if err := errors.Join(os.Rename(place, elsewhere), os.Symlink(elsewhere, place)); err != nil {
					t.Fatal(err)
				}
				before := contentOf(t, elsewhere)
				err := do(d, dir)
				if after := contentOf(t, elsewhere); !maps.Equal(before, after) {
					t.Errorf("what is behind the link has changed: %v, %v", err, missingIn(before, after))
				}
				if err == nil {
					t.Error("it is not refused")
				}
			})
		}
	}
}

// missingIn names what is in only one of two folders, or differs.
func missingIn(a, b map[string]string) (list []string) {
	for _, pair := range [][2]map[string]string{{a, b}, {b, a}} {
		for path, text := range pair[0] {
			if pair[1][path] != text {
				list = append(list, path)
			}
		}
	}
	return list
}
