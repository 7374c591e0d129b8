package guard

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// another is a user without rights.
const another = 65534

// asRoot lets a test go on that gives files to another user.
func asRoot(t *testing.T) {
	t.Helper()
	switch {
	case os.Getuid() == 0:
	case os.Getenv("CI") != "":
		t.Fatal("only root can give files to other users: let CI run this as root")
	default:
		t.Skip("NOT TESTED: only root can give files to other users; run this as root")
	}
}

// B-142: tokens of another user, or in a folder that another user could change, are not taken: neither at the start,
// nor while the server runs, which keeps those that it has.
func TestTokensOfAnother(t *testing.T) {
	give := func(t *testing.T, path string) error {
		asRoot(t)
		return os.Chown(path, another, another)
	}
	for name, x := range map[string]struct {
		change func(t *testing.T, dir string) error
		want   []string
	}{
		"shared": {func(_ *testing.T, dir string) error { return os.Chmod(dir, 0o777) },
			[]string{"tunehost can be written to by others (mode 0777)", "run chmod go-w"}},
		"sticky": {func(_ *testing.T, dir string) error { return os.Chmod(dir, 0o777|os.ModeSticky) },
			[]string{"tunehost can be written to by others (mode 0777)"}},
		"full": {func(t *testing.T, dir string) error { return give(t, filepath.Join(dir, fullName)) },
			[]string{"serve-token belongs to another user (65534; you are 0)", "remove the file"}},
		"read": {func(t *testing.T, dir string) error { return give(t, filepath.Join(dir, readName)) },
			[]string{"serve-token-read belongs to another user (65534; you are 0)"}},
		"folder": {give, []string{"tunehost belongs to another user (65534; you are 0)", "HOME or XDG_CONFIG_HOME"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "tunehost")
			old, err := Load(dir, false)
			if err != nil {
				t.Fatal(err)
			}
			var warnings []error
			warn := func(err error) { warnings = append(warnings, err) }
			g := New(Options{Tokens: old, Folder: dir, Warn: warn}, hello)
			planted := strings.Repeat("p", 52)
			for _, name := range []string{fullName, readName} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(planted+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := x.change(t, dir); err != nil {
				t.Fatal(err)
			}
			g.looked = time.Time{} // as if some time had passed
			for token, want := range map[string]int{old.Full: 200, planted: 401} {
				if w := ask(g, "GET", "/api/v1/experiments", bearer(token)); w.Code != want {
					t.Errorf("while the server runs: %d, want %d", w.Code, want)
				}
			}
			g.looked = time.Time{}
			ask(g, "GET", "/api/v1/experiments", bearer(old.Full))
			if len(warnings) != 1 {
				t.Fatalf("%d warnings, want one: %v", len(warnings), warnings)
			}
			refusedInOneLine(t, warnings[0], x.want[0], "the earlier ones stay valid")
			_, err = Load(dir, false)
			refusedInOneLine(t, err, x.want...)
		})
	}
}

func refusedInOneLine(t *testing.T, err error, want ...string) {
	t.Helper()
	if err == nil || strings.Contains(err.Error(), "\n") {
		t.Fatalf("got %v, want one line with %q", err, want)
	}
	for _, w := range want {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("got %v, want %q", err, w)
		}
	}
}

// B-142: root makes no folder for tokens in the home of another user, who could replace it.
func TestHomeOfAnother(t *testing.T) {
	asRoot(t)
	home := t.TempDir()
	if err := os.Chown(home, another, another); err != nil {
		t.Fatal(err)
	}
	_, err := Load(filepath.Join(home, ".config", "tunehost"), true)
	refusedInOneLine(t, err, home+" belongs to another user (65534; you are 0)", "set HOME or XDG_CONFIG_HOME")
	if _, err := os.Lstat(filepath.Join(home, ".config")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder was made: %v", err)
	}
}
