package command

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Objects that somebody put in the place of a trial's files are not followed, not waited for, and
// not written to.
func TestForeignFiles(t *testing.T) {
	victim := filepath.Join(t.TempDir(), "victim")
	kept := []byte("kept")
	for what, place := range map[string]func(path string) error{
		"link":      func(path string) error { return os.Symlink(victim, path) },
		"nowhere":   func(path string) error { return os.Symlink(victim+".new", path) },
		"hard link": func(path string) error { return os.Link(victim, path) },
		"pipe":      func(path string) error { return syscall.Mkfifo(path, 0o600) },
	} {
		dir := t.TempDir()
		if err := os.WriteFile(victim, kept, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"stdout", "params.json", "params.json.tmp"} {
			if err := place(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		log, err := openLog(dir, "stdout")
		if err == nil {
			t.Errorf("%s: the log was opened", what)
		}
		log.close()
		path, err := writeParams(dir, []byte(`{"x": 1}`))
		if text, errR := os.ReadFile(path); err != nil || errR != nil || string(text) != "{\"x\": 1}\n" {
			t.Errorf("%s: params.json is %q, %v, %v", what, text, err, errR)
		}
		if text, err := os.ReadFile(victim); err != nil || string(text) != string(kept) {
			t.Errorf("%s: the victim's file is %q, %v", what, text, err)
		}
		if _, err := os.Stat(victim + ".new"); err == nil {
			t.Errorf("%s: a file was made elsewhere", what)
		}
	}
}
