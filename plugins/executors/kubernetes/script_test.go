package main

import (
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// agentDouble stands for the agent: it notes its bundle, and leaves with the status 7 when it is told that its node
// is taken away.
const agentDouble = `#!/bin/sh
trap 'echo "$TUNEHOST_AGENT_BUNDLE left" >> "$NOTES"; exit 7' TERM
echo "$TUNEHOST_AGENT_BUNDLE began: $*" >> "$NOTES"
while :; do sleep 0.05; done`

// shells are those of images.
func shells() map[string][]string {
	list := map[string][]string{"sh": {"sh"}}
	if path, err := osexec.LookPath("busybox"); err == nil {
		list["busybox"] = []string{path, "sh"}
	}
	return list
}

// B-132: SIGTERM, the kubelet's only notice of an eviction, reaches the agents, and the pod ends with them.
func TestNoticeReachesAgents(t *testing.T) {
	for name, shell := range shells() {
		for _, bundles := range [][]string{{"0"}, {"0", "1"}} {
			t.Run(name+" "+strings.Join(bundles, " "), func(t *testing.T) {
				dir := t.TempDir()
				notes, program := filepath.Join(dir, "notes"), filepath.Join(dir, "tunehost")
				if err := os.WriteFile(program, []byte(agentDouble), 0o700); err != nil {
					t.Fatal(err)
				}
				args := append(shell[1:len(shell):len(shell)], "-c", startScript, program, "exec")
				cmd := osexec.Command(shell[0], append(args, bundles...)...)
				cmd.Env = append(os.Environ(), "NOTES="+notes, "TUNEHOST_WAIT=10")
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				read := func() string { text, _ := os.ReadFile(notes); return string(text) }
				until(t, "the agents run", func() bool { return strings.Count(read(), "began") == len(bundles) })
				if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
					t.Fatal(err)
				}
				err := cmd.Wait()
				until(t, "the agents have left", func() bool { return strings.Count(read(), "left") == len(bundles) })
				want := map[int]int{1: 7, 2: 1}[len(bundles)]
				if cmd.ProcessState.ExitCode() != want || !strings.Contains(read(), "0 began: agent --socket") {
					t.Errorf("%v, want exit status %d; notes:\n%s", err, want, read())
				}
			})
		}
	}
}

// sleepDouble stands for sleep: each time a bit more of the program has come, and at last it is there.
const sleepDouble = `#!/bin/sh
echo >> "$DIR/bin/new"
[ "$(wc -l < "$DIR/bin/new")" -lt 20 ] || printf '#!/bin/sh\nexit 7\n' > "$DIR/bin/tunehost"
[ ! -e "$DIR/bin/tunehost" ] || chmod 755 "$DIR/bin/tunehost"`

// A pod waits for a program that comes slowly, however long that takes, and not for one that does not come.
func TestSlowCopy(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"path/sleep": sleepDouble, "bin/other": ""} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for program, want := range map[string]int{"bin/tunehost": 7, "other/tunehost": 1} {
		cmd := osexec.Command("sh", "-c", startScript, filepath.Join(dir, program), "dial", "0")
		cmd.Env = append(os.Environ(), "DIR="+dir, "TUNEHOST_WAIT=3",
			"PATH="+filepath.Join(dir, "path")+":"+os.Getenv("PATH"))
		if out, err := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != want {
			t.Errorf("%s: %v: %s, want the exit status %d", program, err, out, want)
		}
	}
}

// The program gets into a pod whether the cache of the node takes it or not, which is said.
func TestCacheScript(t *testing.T) {
	const program, sum = "hello\n", "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"
	for name, shell := range shells() {
		dir := t.TempDir()
		cache := filepath.Join(dir, "cache")
		script := strings.ReplaceAll(copyScript, "/tunehost/bin", filepath.Join(dir, "bin"))
		output := func(how, cache string) string {
			args := append(shell[1:len(shell):len(shell)], "-c", script, "sh", sum, how, cache)
			cmd := osexec.Command(shell[0], args...)
			cmd.Stdin = strings.NewReader(program)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%s: %s: %v: %s", name, how, err, out)
			}
			return strings.TrimSpace(string(out))
		}
		copied := func() bool {
			path := filepath.Join(dir, "bin", "tunehost")
			text, err := os.ReadFile(path)
			_ = os.Remove(path)
			return err == nil && string(text) == program
		}
		if said := output("plain", cache); said != "uncached" || !copied() { // there is no such folder
			t.Errorf("%s: without a cache it says %q", name, said)
		}
		if err := os.Mkdir(cache, 0o700); err != nil {
			t.Fatal(err)
		}
		if said := output("plain", cache); said != "" || !copied() {
			t.Errorf("%s: with a cache it says %q", name, said)
		}
		if said := output("test", cache); said != "there" || !copied() {
			t.Errorf("%s: with the program in the cache it says %q", name, said)
		}
	}
}

// A pod that is taken away before it has the agents' program ends at once.
func TestNoticeBeforeTheProgram(t *testing.T) {
	script := strings.Replace(startScript, "left=$TUNEHOST_WAIT", "left=$TUNEHOST_WAIT; kill -TERM $$", 1)
	cmd := osexec.Command("sh", "-c", script, "/no/such/program", "exec", "0")
	cmd.Env = append(os.Environ(), "TUNEHOST_WAIT=100000")
	if err := cmd.Run(); cmd.ProcessState.ExitCode() != 143 {
		t.Error(err)
	}
}
