package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

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

// At a terminal the server stays when the experiment has ended, until Ctrl-C: a short experiment ends before its user
// has opened the URL. The exit status is that of the experiment.
func TestServeStaysAtATerminal(t *testing.T) {
	dir, command := unprivileged(t)
	if err := os.WriteFile(filepath.Join(dir, "x.yaml"), []byte(strings.Replace(waitsForFile, "until", "false && until",
		1)), 0o644); err != nil {
		t.Fatal(err)
	}
	c := command("run", "x.yaml", "--serve=127.0.0.1:0", "-v", "0")
	tty := pseudoTerminal(t)
	c.Stdin, c.Stdout = tty, tty
	c.SysProcAttr.Setsid, c.SysProcAttr.Setctty = true, true
	stderr, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stderr)
	lines.Scan()
	at, err := url.Parse(lines.Text())
	if err != nil {
		t.Fatal(err)
	}
	for lines.Scan() && !strings.Contains(lines.Text(), "its server stays until Ctrl-C") {
	}
	if state, err := stateAt(at); err != nil || state != "finished" {
		t.Errorf("the page shows %q, %v", state, err)
	}
	if !strings.HasSuffix(lines.Text(), "Ctrl-C: "+at.String()) {
		t.Errorf("the last line is %q, want the URL %s in it", lines.Text(), at)
	}
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	lines.Scan()
	if want := "the server has ended; `tunehost serve results/waits` shows the experiment"; lines.Text() != want {
		t.Errorf("it says %q, want %q", lines.Text(), want)
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
}

// pseudoTerminal is a terminal of its own.
func pseudoTerminal(t *testing.T) *os.File {
	t.Helper()
	control, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = control.Close() })
	n, err := unix.IoctlGetInt(int(control.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(control.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tty.Close() })
	go func() { _, _ = io.Copy(io.Discard, control) }()
	return tty
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
