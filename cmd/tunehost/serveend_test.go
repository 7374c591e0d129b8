package main

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
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
