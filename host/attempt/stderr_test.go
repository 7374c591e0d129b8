package attempt

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// The words are in the file that the experiment names.
func TestStderrFile(t *testing.T) {
	for _, c := range []struct {
		logs *sdk.Logs
		want string
	}{{nil, "trial/stderr"}, {&sdk.Logs{Stderr: "errors.txt"}, "trial/errors.txt"}, {&sdk.Logs{Stdout: "out.txt"},
		""}} {
		if got := (&run{dir: "trial", start: &sdk.Trial{Logs: c.logs}}).stderrFile(); got != c.want {
			t.Errorf("%+v: %q", c.logs, got)
		}
	}
}

// What a process that is gone wrote to the trial's own stderr is said with its failure.
func TestLastWords(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "stderr")
	says := func(attempt uint32, want string) {
		t.Helper()
		if got := withLastLine("it died", path, attempt); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	says(1, "it died")
	if err := os.WriteFile(path, []byte("first\nout of memory\n\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	says(1, "it died; its stderr, in "+path+", ends: out of memory")
	says(2, "it died; its stderr is in "+path)
	if err := os.Rename(path, path+".real"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path+".real", path); err != nil {
		t.Fatal(err)
	}
	says(1, "it died")
}
