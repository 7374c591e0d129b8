package command

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tunehost/tunehost/plugins/trainables/command/argv"
)

// Scripts find the program tunehost: where PATH has none, it is appended.
func TestReporterOnPath(t *testing.T) {
	here, bin := t.TempDir(), t.TempDir()
	program := filepath.Join(t.TempDir(), "agent-12")
	for _, name := range []string{program, filepath.Join(bin, "tunehost")} {
		if err := os.WriteFile(name, []byte("#!/bin/sh\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PLUGIN_UNIX_SOCKET_DIR", here)
	was := reporter
	t.Cleanup(func() { reporter = was })
	for _, x := range []struct{ program, path, want string }{
		{"", "/nowhere", "/nowhere"}, // it is no program that reports
		{program, bin, bin},
		{program, "/nowhere", "/nowhere:" + filepath.Join(here, "bin")},
	} {
		reporter = func() string { return x.program }
		p, err := newProgram(jsonOf(t, map[string]any{"command": []string{"sh"},
			"env": map[string]string{"PATH": x.path}}))
		if err != nil {
			t.Fatal(err)
		}
		if p.path != x.want {
			t.Errorf("PATH %s, want %s", p.path, x.want)
		}
	}
	found, err := argv.Find("tunehost", filepath.Join(here, "bin"))
	if target, _ := filepath.EvalSymlinks(found); err != nil || target != program {
		t.Error(found, target, err)
	}
}
