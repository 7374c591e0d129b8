package slurm

import (
	"errors"
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
		"the agent's\n/var/spool/job7/slurm_script: line 115:  3456 Killed    GOGC=800 agent\n": "the agent's",
		"/var/spool/job7/slurm_script: line 15: module: not found\n":                            "module: not found",
		"no GPU here\ntunehost agent: the node is taken away soon (terminated)\n":               "no GPU here",
		"no GPU here\nsrun: error: n2: task 1: Exited with exit code 1\n":                       "no GPU here",
		strings.Repeat("address ", 100) + "; the wall says no":                                  "; the wall says no",
		strings.Repeat("x", 5000) + "\n" + "end\nsrun: Terminating StepId=3.0\n\n\n":            "end",
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

// A log is not removed behind a link.
func TestNoLogIsRemovedBehindALink(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	theirs := filepath.Join(other, "a-1.log")
	err := errors.Join(os.WriteFile(theirs, nil, 0o600), os.Symlink(other, filepath.Join(dir, logDir)))
	if err != nil {
		t.Fatal(err)
	}
	e := executor{}
	e.x.Dir = dir
	e.removeLog("a-1")
	if _, err := os.Stat(theirs); err != nil {
		t.Error(err)
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
		text := script(&options{Setup: "echo said; false"}, values(dir, name, oneShape, agent{}), oneShape)
		cmd.Stdin = strings.NewReader(strings.ReplaceAll(text, "=/tmp/", "="+t.TempDir()+"/"))
		_ = cmd.Run() // the setup fails
		_, err := os.Stat(victim)
		got, _ := os.ReadFile(logPath(dir, name))
		if want := []string{"said", "", "kept"}[i]; err == nil || !strings.HasPrefix(string(got), want) ||
			i > 0 && string(got) != want {
			t.Errorf("%s: %q, want %q; %v", name, got, want, err)
		}
	}
}

var oneShape = shape{strategy: pack, groups: []group{{1, bundle{cpus: 1}}}}

// here names the node of a script that runs on this machine.
func here(t *testing.T) string {
	t.Helper()
	name, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	return " on the node " + name
}

// B-135: a setup that fails says how, where, and with what last line. Where the node does not see the host's folder,
// the agent tells the host, and the output stays on the node.
func TestSetupFails(t *testing.T) {
	for setup, want := range map[string]string{
		"echo first\necho last\nfalse":    "the setup failed at: false (exit status 1)@: last",
		"echo no licence; exit 3\ntrue":   "the setup failed at: exit 3 (exit status 3)@: no licence",
		"no-such-command-at-all --x\nls":  "the setup failed at: no-such-command-at-all --x (exit status 127)@: ",
		"f() { echo in f; return 4; }; f": "the setup failed at: return 4 (exit status 4)@: in f",
	} {
		dir := t.TempDir()
		program := filepath.Join(dir, "agent")
		said := "$TUNEHOST_AGENT_FAILURE|$TUNEHOST_AGENT_SOCKET|$TUNEHOST_AGENT_BUNDLE|$*"
		text := "#!/bin/sh\necho \"" + said + "\" > " + dir + "/told\n"
		if err := os.WriteFile(program, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
		for _, shared := range []bool{false, true} {
			if shared {
				if err := os.Mkdir(filepath.Join(dir, logDir), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.CommandContext(t.Context(), "bash")
			text := script(&options{Setup: setup}, values(dir, "a-1", oneShape,
				agent{path: program, value: "secret", sockets: "/tmp/x."}), oneShape)
			cmd.Stdin = strings.NewReader(strings.ReplaceAll(text, "=/tmp/$", "="+dir+"/$"))
			if out, err := cmd.CombinedOutput(); err == nil || len(out) > 0 {
				t.Errorf("%v: %s", err, out)
			}
			told, err := os.ReadFile(dir + "/told")
			_ = os.Remove(dir + "/told")
			want := strings.Replace(want, "@", here(t), 1)
			if shared {
				if last := lastWords(dir, "a-1"); err == nil || !strings.HasPrefix(last, want) {
					t.Errorf("%q, want %q; told %s", last, want, told)
				}
				continue
			}
			kept, _ := os.ReadFile(filepath.Join(dir, "a-1.log"))
			if !strings.HasPrefix(string(told), want) || !strings.Contains(string(kept), want) ||
				!strings.Contains(string(told), "; its output is in "+dir+"/a-1.log there|") ||
				!strings.HasSuffix(string(told), "|/tmp/x.0/agent|0|agent\n") {
				t.Errorf("told %q, want %q; kept %q", told, want, kept)
			}
		}
	}
}

// The script says by its exit status that the program is not on the node, and no setup or login file has that.
func TestScriptMissesTheProgram(t *testing.T) {
	dir := t.TempDir()
	for _, s := range []shape{oneShape, {strategy: pack, groups: []group{{2, bundle{cpus: 1}}}}} {
		cmd := exec.CommandContext(t.Context(), "bash")
		text := script(&options{}, values(dir, "a-1", s, agent{path: "/no/tunehost"}), s)
		cmd.Stdin = strings.NewReader(strings.ReplaceAll(text, "=/tmp/$", "="+dir+"/$"))
		_ = cmd.Run()
		if got := fmt.Sprint(cmd.ProcessState.ExitCode()); got != absent {
			t.Errorf("the exit status is %s", got)
		}
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-c", bundleScript)
	cmd.Env = append(os.Environ(), "TUNEHOST_PROGRAM=/no/tunehost", "TUNEHOST_GPUS=0", "SLURM_PROCID=0",
		"SLURM_LOCALID=0")
	if _ = cmd.Run(); fmt.Sprint(cmd.ProcessState.ExitCode()) != absent {
		t.Error(cmd.ProcessState)
	}
}

// A setup that exits ends the job with its status, and its login shell's ~/.bash_logout is no part of it.
func TestSetupExitsInALoginShell(t *testing.T) {
	home := t.TempDir()
	logout := "echo bye; cat /no/such/file; false\n" // as Debian's, whose last command may fail
	if err := os.WriteFile(filepath.Join(home, ".bash_logout"), []byte(logout), 0o600); err != nil {
		t.Fatal(err)
	}
	for setup, want := range map[string]string{
		"echo no scratch\ntest -d /no/such || exit 7": "the setup failed at: exit 7 (exit status 7)@: no scratch",
		"f() { test -d /no/such || exit 7; }\nf":      "the setup failed at: exit 7 (exit status 7)@",
		"(exit 7)":                                    "the setup failed at: ( exit 7 ) (exit status 7)@",
	} {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, logDir), 0o700); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), "bash", "-l")
		cmd.Stdin = strings.NewReader(script(&options{Setup: setup}, values(dir, "a-1", oneShape, agent{}), oneShape))
		cmd.Env = append(os.Environ(), "HOME="+home)
		_ = cmd.Run()
		if got := cmd.ProcessState.ExitCode(); got != 7 {
			t.Errorf("%q: exit status %d", setup, got)
		}
		if got, want := lastWords(dir, "a-1"), strings.Replace(want, "@", here(t), 1); got != want {
			t.Errorf("%q: %q, want %q", setup, got, want)
		}
	}
}

// An open quote or here-document in a setup ends with it: the script of the job is not read as part of it.
func TestOpenSetup(t *testing.T) {
	for setup, want := range map[string]string{
		"echo hi's":                    "(exit status 2)@: unexpected EOF while looking for matching `''",
		`echo "hi`:                     "(exit status 2)@: unexpected EOF while looking for matching `\"'",
		"}":                            "(exit status 2)@: syntax error near unexpected token `}'",
		"cat <<X\nhello\ncat /no/such": "",
	} {
		if _, err := read([]byte(fmt.Sprintf("{%q: %q}", "setup", setup))); err == nil ||
			!strings.Contains(err.Error(), `option "setup" is `) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", setup, err)
		}
		dir := t.TempDir()
		program, told := filepath.Join(dir, "agent"), filepath.Join(dir, "told")
		if err := os.WriteFile(program, []byte("#!/bin/sh\necho begun > "+told+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(filepath.Join(dir, logDir), 0o700); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), "timeout", "20", "bash")
		cmd.Stdin = strings.NewReader(script(&options{Setup: setup},
			values(dir, "a-1", oneShape, agent{path: program}), oneShape))
		err := cmd.Run()
		text, _ := os.ReadFile(logPath(dir, "a-1"))
		if begun, _ := os.ReadFile(told); (want == "") != (err == nil && len(begun) > 0) ||
			!strings.Contains(lastWords(dir, "a-1"), strings.Replace(want, "@", here(t), 1)) ||
			strings.Contains(string(text), "trap") {
			t.Errorf("%q: %v, %q; the log is %q", setup, err, begun, text)
		}
	}
}

// Programs in a job have the user's umask, as programs elsewhere; the output of the job is for the user alone.
func TestUmask(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "agent")
	if err := os.WriteFile(program, []byte("#!/bin/sh\numask > "+dir+"/told\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, logDir), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-c", "umask 0026; exec bash")
	cmd.Stdin = strings.NewReader(script(&options{}, values(dir, "a-1", oneShape, agent{path: program}), oneShape))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if told, err := os.ReadFile(dir + "/told"); err != nil || string(told) != "0026\n" {
		t.Errorf("the umask is %q; %v", told, err)
	}
	if info, err := os.Stat(logPath(dir, "a-1")); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info, err)
	}
}
