package slurm

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The output of an srun goes to a file of its own: links in its place or in that of the folder are not followed.
func TestLogIsNoLink(t *testing.T) {
	dir, victim := t.TempDir(), filepath.Join(t.TempDir(), "victim")
	f, err := openLog(dir, "a-1")
	if err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	if err := os.WriteFile(victim, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(victim, logPath(dir, "a-2")); err != nil {
		t.Fatal(err)
	}
	if _, err := openLog(dir, "a-2"); err == nil || !strings.Contains(err.Error(), "a-2.log is a link: ") {
		t.Error(err)
	}
	if text, err := os.ReadFile(victim); err != nil || string(text) != "kept" {
		t.Errorf("%q %v", text, err)
	}
	other := t.TempDir()
	if err := os.Symlink(filepath.Dir(victim), filepath.Join(other, logDir)); err != nil {
		t.Fatal(err)
	}
	if _, err := openLog(other, "a-1"); err == nil || !strings.Contains(err.Error(), logDir+" must be a folder ") {
		t.Error(err)
	}
}

// The last words of a lease are the end of its programs' output, not Slurm's message about their
// end.
func TestLastWords(t *testing.T) {
	dir := t.TempDir()
	for text, want := range map[string]string{
		"first\nlast\n":                  "last",
		"slurmstepd: error: CANCELLED\n": "slurmstepd: error: CANCELLED",
		"no GPU here\nsrun: error: n2: task 1: Exited with exit code 1\n":            "no GPU here",
		strings.Repeat("address ", 100) + "; the firewall says no":                   "; the firewall says no",
		strings.Repeat("x", 5000) + "\n" + "end\nsrun: Terminating StepId=3.0\n\n\n": "end",
	} {
		f, err := openLog(dir, "a-1")
		if err != nil {
			t.Fatal(err)
		}
		_, _ = f.WriteString(text)
		_ = f.Close()
		if got := lastWords(dir, "a-1"); !strings.HasSuffix(got, want) || len([]rune(got)) > mostWords+1 {
			t.Errorf("%q, want the end %q", got, want)
		}
	}
	if err := os.Symlink("/etc/hostname", logPath(dir, "a-2")); err != nil {
		t.Fatal(err)
	}
	if got := lastWords(dir, "a-2"); got != "" {
		t.Errorf("a link was read: %q", got)
	}
}

// B-137: the script of a job writes its output only into a new file, even if something else lies in
// its place.
func TestScriptFollowsNoLink(t *testing.T) {
	dir, victim := t.TempDir(), filepath.Join(t.TempDir(), "victim")
	for i, lay := range []func() error{
		func() error { return nil },
		func() error { return os.Symlink(victim, logPath(dir, "a-1")) },
		func() error { return os.WriteFile(logPath(dir, "a-2"), []byte("kept"), 0o600) },
	} {
		if err := os.MkdirAll(filepath.Join(dir, logDir), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := lay(); err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprint("a-", i)
		cmd := exec.CommandContext(t.Context(), "bash")
		cmd.Stdin = strings.NewReader(script(&options{Setup: "echo said; false"}, dir, name, shape{strategy: pack,
			groups: []group{{1, bundle{cpus: 1}}}}, agent{}))
		_ = cmd.Run() // the setup fails
		_, err := os.Stat(victim)
		text, _ := os.ReadFile(logPath(dir, name))
		if want := []string{"said", "", "kept"}[i]; err == nil || !strings.HasPrefix(string(text), want) ||
			i > 0 && string(text) != want {
			t.Errorf("%s: %q, want %q; %v", name, text, want, err)
		}
	}
}
