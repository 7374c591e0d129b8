package agent

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tunehost/tunehost/host/plugin/process"
)

// A process of a group whose directory is on another node gets one here; a directory that exists is kept.
func TestEnter(t *testing.T) {
	a := &Agent{Options: Options{Dir: t.TempDir()}}
	there := t.TempDir()
	for given, want := range map[string]string{
		"": "", there: there, filepath.Join(there, "none", "00001_x"): filepath.Join(a.Dir, trials, "00001_x"),
	} {
		spec := process.Spec{Program: process.Program{Dir: given}}
		if err := a.enter(&spec); err != nil || spec.Dir != want {
			t.Errorf("%q: %q, %v, want %q", given, spec.Dir, err, want)
		}
		if info, err := os.Stat(spec.Dir); spec.Dir != "" && (err != nil || !info.IsDir()) {
			t.Errorf("%q: %v", spec.Dir, err)
		}
	}
}
