package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// nobody is a user without rights.
const nobody = 65534

// unprivileged is a command that a user without rights runs in a folder of theirs: this user, unless that is root.
func unprivileged(t *testing.T) (dir string, command func(args ...string) *exec.Cmd) {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "tunehost-other-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	file := filepath.Join(dir, "tunehost")
	copyProgram(t, file)
	as := &syscall.SysProcAttr{}
	if os.Getuid() == 0 {
		as.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
		if err := os.Chown(dir, nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	return dir, func(args ...string) *exec.Cmd {
		c := exec.CommandContext(t.Context(), file, args...)
		c.Dir, c.SysProcAttr = dir, as
		c.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+filepath.Join(dir, "config"), "TMPDIR="+dir)
		return c
	}
}

// copyProgram copies this test, which is also tunehost.
func copyProgram(t *testing.T, file string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	from, err := os.Open(self)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	to, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(to, from); err != nil {
		t.Fatal(err)
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
}

// A folder that cannot be listed is refused, and not shown as one without experiments.
func TestServeClosedFolder(t *testing.T) {
	dir, command := unprivileged(t)
	if err := os.Mkdir(filepath.Join(dir, "closed"), 0o300); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 {
		if err := os.Chown(filepath.Join(dir, "closed"), nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"serve", "closed", "--listen", "127.0.0.1:0"},
		{"report", "closed", "-o", "x.html"}} {
		out, err := command(args...).CombinedOutput()
		text := string(out)
		if err == nil || !strings.HasPrefix(text, "tunehost: closed: you have no permission to list this folder") ||
			strings.Count(text, "\n") != 1 {
			t.Errorf("%s: %v, %q", args, err, text)
		}
	}
}

const waitsForFile = `version: 1
name: waits
objective: {metric: score, mode: max}
space: {x: {uniform: [0, 1]}}
trainable: {command: [sh, -c, "until [ -e ../../../../go ]; do sleep 0.02; done; echo '{\"score\": 1}'"]}
trials: 1
`

// A page that looks at `run --serve` sees how the experiment ends, before its server ends.
func TestServeRunToTheEnd(t *testing.T) {
	dir, command := unprivileged(t)
	if err := os.WriteFile(filepath.Join(dir, "x.yaml"), []byte(waitsForFile), 0o644); err != nil {
		t.Fatal(err)
	}
	c := command("run", "x.yaml", "--serve=127.0.0.1:0", "-v", "0")
	stderr, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stderr).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	at, err := url.Parse(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	last := ""
	for {
		state, err := stateAt(at)
		if err != nil && last != "" {
			break
		}
		if state == "running" && last == "" {
			if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if err == nil {
			last = state
		}
		time.Sleep(20 * time.Millisecond)
	}
	if err := c.Wait(); err != nil || last != "finished" {
		t.Errorf("%v; the page shows %q, want finished", err, last)
	}
}

// stateAt asks a server for the state of its experiment.
func stateAt(at *url.URL) (string, error) {
	r, err := http.NewRequest(http.MethodGet, "http://"+at.Host+"/api/v1/experiments/waits", nil)
	if err != nil {
		return "", err
	}
	r.Header.Set("Authorization", "Bearer "+at.Query().Get("token"))
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	var x struct{ State string }
	err = json.NewDecoder(answer.Body).Decode(&x)
	return x.State, err
}
