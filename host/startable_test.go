package host

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/plugins/trainables/command"
)

// A program that is not there, or cannot be started, is said before any trial, by
// validate and run alike, and what runs is no mistake to either.
func TestOneCheckOfPrograms(t *testing.T) {
	for command, want := range map[string]string{
		"[./x.sh]": "", "[x.sh]": "", "['./{kind}.sh']": "", "[sh, -c, 'echo {}']": "", "['./{lr}.sh']": "ok at first",
		"[./plain.sh]": "make it executable", "[nosuch]": "no such program", "[./nosuch.sh]": "no such file",
		"[bin]":   "no such program",
		"[./bin]": "is a directory", "['./{other}.sh']": "/b.sh", "['{fixed}']": "", "['{gone}']": "no such file",
	} {
		o := programFile(t, command)
		_, validated := Validate(t.Context(), o)
		run := runs(t, o)
		for _, err := range []error{validated, run} {
			_, user := errors.AsType[*UserError](err)
			switch {
			case want == "ok at first" && err == nil, want == "" && err == nil:
			case !user || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "x.yaml:3:"):
				t.Errorf("%s: validate says %v, run says %v; want %q", command, validated, run, want)
			}
		}
		d, _ := storage.At(filepath.Join(o.Storage, "x"))
		if d.Exists() != (run == nil) {
			t.Errorf("%s: it began, and ended with %v", command, run)
		}
	}
}

func programFile(t *testing.T, program string) Options {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	const script = "#!/bin/sh\necho '{\"score\": 1}'\n"
	write("x.sh", script, 0o700)
	write("a.sh", script, 0o700)
	write("plain.sh", script, 0o600)
	if err := os.Mkdir(filepath.Join(dir, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "x.yaml")
	write("x.yaml", `version: 1
objective: {metric: score, mode: max}
trainable: {command: `+program+`}
space: {lr: {uniform: [0, 1]}, kind: {choice: [a]}, other: {grid: [a, b]}, fixed: ./x.sh, gone: ./gone.sh}
`, 0o600)
	o, _ := quick(t, "version: 1\n", command.Plugin())
	o.File = file
	return o
}

func runs(t *testing.T, o Options) error {
	t.Helper()
	_, err := run(t.Context(), o)
	return err
}
