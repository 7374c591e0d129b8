package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tunehost/tunehost/internal/testplace"
)

// Settings that are sent while a host starts, from before it has claimed the directory until it runs, are either taken
// or refused for the moment. They do not keep the host from its start, and what it has taken last holds in the end.
func TestServeSetWhileAHostStarts(t *testing.T) {
	dir, command := unprivileged(t)
	file := strings.Replace(small, "echo",
		"[ ! -e ../../../../wait ] || until [ -e ../../../../go ]; do sleep 0.02; done; echo", 1)
	if err := os.WriteFile(filepath.Join(dir, "small.yaml"), []byte(file), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := command("run", "small.yaml", "-v", "0").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.WriteFile(filepath.Join(dir, "wait"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	s := serving(t, command("serve", "results", "--listen", "127.0.0.1:0"))
	last := 3
	set(t, s, last) // no host runs: the next one has something to do
	host := command("resume", "results/small", "-v", "0")
	screen := &testplace.Screen{}
	host.Stdout, host.Stderr = screen, screen
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	refused, live, end := 0, 0, time.Now().Add(time.Minute)
	for n := 6; live < 3; {
		if time.Now().After(end) {
			t.Fatalf("after %d refusals no host takes settings; it says %s", refused, screen)
		}
		switch taken, later := set(t, s, n); {
		case !taken:
			refused++
			continue
		case later && live > 0:
			t.Fatalf("trials=%d waits for the next host, and the host has taken others", n)
		case !later:
			live++
		}
		last, n = n, n+1
	}
	t.Logf("%d requests were refused for the moment, %d trials", refused, last)
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := host.Wait(); err != nil {
		t.Error(err)
	}
	testplace.Soon(t, "the end with all trials", func() bool {
		_, text := s.send("GET", "/small", "")
		return strings.Contains(text, `"state":"finished"`) &&
			strings.Contains(text, fmt.Sprintf(`"TERMINATED":%d}`, last))
	})
}

// set asks for a number of trials. taken says that the request was carried out, later that this is for the next host.
func set(t *testing.T, s served, trials int) (taken, later bool) {
	t.Helper()
	status, text, header := s.answer("PATCH", "/small/settings", fmt.Sprintf(`{"trials":%d}`, trials))
	var x struct {
		Later   bool
		Changed []struct{ New int }
	}
	if err := json.Unmarshal([]byte(text), &x); err != nil {
		t.Fatalf("%d %s", status, text)
	}
	switch {
	case status == http.StatusOK && len(x.Changed) == 1 && x.Changed[0].New == trials:
		return true, x.Later
	case (status == http.StatusConflict || status == http.StatusServiceUnavailable) && header.Get("Retry-After") != "":
		time.Sleep(time.Millisecond)
		return false, false
	}
	t.Fatalf("trials=%d: %d %s, %v", trials, status, text, header)
	return false, false
}
