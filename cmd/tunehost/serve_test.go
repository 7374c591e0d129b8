package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/tunehost/tunehost/internal/testplace"
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
		c.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+filepath.Join(dir, "config"), "TMPDIR="+dir,
			"XDG_STATE_HOME="+filepath.Join(dir, "state"))
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

// served is a server that a test has started.
type served struct {
	t     *testing.T
	url   string
	token string
}

var servedAt = regexp.MustCompile(`(https?://[^/]+)/\?token=(\S+)`)

// serving starts a server and waits for its URL.
func serving(t *testing.T, c *exec.Cmd) served {
	t.Helper()
	out, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Signal(syscall.SIGTERM); _ = c.Wait() })
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if m := servedAt.FindStringSubmatch(lines.Text()); m != nil {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return served{t, m[1], m[2]}
		}
	}
	t.Fatal("the server prints no URL")
	return served{}
}

// send returns the status of an answer and its body.
func (s served) send(method, path, body string) (int, string) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.url+"/api/v1/experiments"+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.token)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return a.StatusCode, string(text)
}

// names are the files below a folder, with their sizes and times.
func names(t *testing.T, root string) (list string) {
	t.Helper()
	err := filepath.Walk(root, func(path string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			list += fmt.Sprintln(path, info.Size(), info.ModTime())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

const small = `
version: 1
name: small
objective: {metric: x, mode: min}
space: {a: {uniform: [0, 1]}}
trainable: {command: [sh, -c, 'echo "{\"x\": 1}"']}
trials: 2
`

// B-059, B-140: experiments in a storage elsewhere are shown as they are there, what is new comes by itself, nothing is
// written there, and what needs the machine that runs them is refused.
func TestServeStorage(t *testing.T) {
	dir, command := unprivileged(t)
	file, stored := filepath.Join(dir, "small.yaml"), filepath.Join(dir, "stored")
	if err := os.WriteFile(file, []byte(small), 0o644); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) {
		t.Helper()
		c := command(append([]string{"run", file, "--storage", "file://" + stored, "-v", "0"}, args...)...)
		c.Env = append(c.Env, "XDG_STATE_HOME="+filepath.Join(dir, "another")) // as if it was another machine
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	run()
	before := names(t, stored)
	s := serving(t, command("serve", "file://"+stored, "--listen", "127.0.0.1:0"))
	one := serving(t, command("serve", "file://"+stored+"/small", "--listen", "127.0.0.1:0"))
	place := `"dir":"file://` + stored + `/small`
	for path, want := range map[string]string{
		"": `"id":"small","name":"small","state":"finished","trials":2`, "/small": place, "/small/trials": place + "/trials/",
		"/small/best": `"value":1`, "/small/events": "event: end", "/small/file": "objective: {metric: x",
	} {
		for _, s := range []served{s, one} {
			if code, text := s.send("GET", path, ""); code != http.StatusOK || !strings.Contains(text, want) {
				t.Errorf("%s: %d %s", path, code, text)
			}
		}
	}
	for _, x := range []struct{ method, path, body string }{
		{"POST", "/small/stop", ""}, {"POST", "/small/resume", ""}, {"POST", "/small/trials", `{"params":{"a":0.5}}`},
		{"PATCH", "/small/settings", `{"trials":9}`}, {"POST", "/small/ask", `{}`}, {"GET", "/small/host-log", ""},
		{"GET", "/small/trials/0/log", ""},
		{"POST", "", `{"file":"version: 1"}`},
	} {
		if code, text := s.send(x.method, x.path, x.body); code != http.StatusConflict || !strings.Contains(text, "file://") {
			t.Errorf("%s %s: %d %s", x.method, x.path, code, text)
		}
	}
	if after := names(t, stored); after != before {
		t.Errorf("looking has changed\n%s\nto\n%s", before, after)
	}
	run("--set", "trials=5")
	testplace.Soon(t, "the new trials", func() bool {
		_, text := s.send("GET", "/small/trials", "")
		return strings.Contains(text, `"total":5`)
	})
	testplace.Soon(t, "the new trials in the list", func() bool {
		_, text := s.send("GET", "", "")
		return strings.Contains(text, `"trials":5`)
	})
}
