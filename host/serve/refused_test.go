package serve_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/host/serve"
	"github.com/tunehost/tunehost/host/serve/guard"
	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/host/view/viewtest"
)

// TestRefusedFiles: what the server does not follow is a problem with the line of the command line, and not an empty
// text.
func TestRefusedFiles(t *testing.T) {
	root := recorded(t)
	c := serving(t, root)
	e, err := view.Open(filepath.Join(root, "digits"))
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	stdout, _ := e.Config.Log.Files()
	place := func(no core.TrialNo) string { return filepath.Join(e.Trial(no).Dir, stdout) }
	for path, make := range map[string]func(path string) error{
		place(3):       func(path string) error { return os.Symlink("/etc/passwd", path) },
		place(4):       func(path string) error { return syscall.Mkfifo(path, 0o600) },
		e.Trial(5).Dir: func(path string) error { return os.Symlink("/etc", path) },
		e.Dir.Log():    func(path string) error { return os.Symlink("/etc/passwd", path) },
	} {
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
		if err := make(path); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{"trials/3/log": "is a link: ", "trials/4/log": "is a pipe: ",
		"trials/5/log": "is a link: ", "host-log": "is a link: ", "trials/3/log?follow=true": "is a link: "} {
		a, text := c.send("GET", "/digits/"+path, "")
		if a.StatusCode != http.StatusConflict || !strings.Contains(text, want) || strings.Contains(text, "root:") {
			t.Errorf("%s: %s %s", path, a.Status, text)
		}
	}
	journal := filepath.Join(root, "crashed", "journal")
	if err := os.Rename(journal, journal+".away"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(journal+".away", journal); err != nil {
		t.Fatal(err)
	}
	if a, text := c.send("GET", "/crashed", ""); a.StatusCode != http.StatusConflict ||
		!strings.Contains(text, "/journal is a link, not a directory: put the directory ") {
		t.Errorf("a journal that is a link: %s %s", a.Status, text)
	}
}

// B-086: a record that is damaged while the server has it open is noticed, in the list and at its own address, and
// the experiment is back when the record is.
func TestDamage(t *testing.T) {
	root := recorded(t)
	c := serving(t, root)
	c.get("/digits") // it is open from now on
	c.get("/digits/best")
	segment := filepath.Join(root, "digits", "journal", "00000000000000000001.tj")
	whole, err := os.ReadFile(segment)
	if err != nil {
		t.Fatal(err)
	}
	write := func(b []byte) {
		t.Helper()
		if err := os.WriteFile(segment, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	type item struct{ ID, Name, State, Error string }
	listed := func() map[string]item {
		t.Helper()
		var list struct{ Experiments []item }
		if err := json.Unmarshal([]byte(c.get("")), &list); err != nil {
			t.Fatal(err)
		}
		found := map[string]item{}
		for _, x := range list.Experiments {
			found[x.ID] = x
		}
		return found
	}
	bad := bytes.Clone(whole)
	bad[200] ^= 1
	write(bad)
	const want = "00000000000000000001.tj: damaged at byte"
	for range 2 { // the second answer is remembered
		list := listed()
		if x := list["digits"]; !strings.Contains(x.Error, want) || x.Name != "digits" || x.State != "" {
			t.Errorf("the list has %+v", x)
		}
		if x := list["crashed"]; x.Error != "" || x.State != "interrupted" {
			t.Errorf("the list has %+v", x)
		}
	}
	for _, path := range []string{"", "/trials", "/events", "/host-log"} {
		if a, text := c.send("GET", "/digits"+path, ""); a.StatusCode != 409 || !strings.Contains(text, want) {
			t.Errorf("%s: %s %s", path, a.Status, text)
		}
	}
	write(whole)
	if x := listed()["digits"]; x.Error != "" || x.State != "finished" {
		t.Errorf("the list has %+v", x)
	}
	c.get("/digits")
}

// TestHead: a HEAD of a stream ends at once, also of one that goes on. Proxies are told to hold nothing of it back.
func TestHead(t *testing.T) {
	root := t.TempDir()
	w := viewtest.New(filepath.Join(root, "live"), []byte(strings.Replace(source, "digits", "live", 1)), 7)
	w.Start(4)
	w.Run(2)
	defer w.Close()
	lock, err := journal.LockDir(filepath.Join(root, "live"), time.Now()) // as a host has it
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Unlock() }()
	s := serve.New(serve.Options{Folders: []string{root}, Guard: guard.Options{Tokens: tokens}})
	defer s.Close()
	for _, path := range []string{"/events", "/trials/0/log?follow=true", "/host-log?follow=true"} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		r := httptest.NewRequestWithContext(ctx, "HEAD", "http://localhost/api/v1/experiments/live"+path, nil)
		r.Header.Set("Authorization", "Bearer "+tokens.Full)
		a := httptest.NewRecorder()
		s.Handler().ServeHTTP(a, r)
		if ctx.Err() != nil || a.Code != http.StatusOK || a.Body.Len() > 0 || a.Header().Get("Content-Type") == "" ||
			a.Header().Get("X-Accel-Buffering") != "no" {
			t.Errorf("%s: %d %q, %v, %v", path, a.Code, a.Body, a.Header(), ctx.Err())
		}
		cancel()
	}
}

// TestMethods: a path says which methods it has.
func TestMethods(t *testing.T) {
	c := serving(t, recorded(t))
	for path, want := range map[string]string{"": "GET, HEAD, POST", "/digits/trials": "GET, HEAD, POST",
		"/digits/settings": "PATCH", "/digits/stop": "POST"} {
		if a, _ := c.send("DELETE", path, ""); a.StatusCode != 405 || a.Header.Get("Allow") != want {
			t.Errorf("%s: %s, %q", path, a.Status, a.Header.Get("Allow"))
		}
	}
}

// TestReachedLater: a request that could not be carried out because the process that has the experiment takes none is
// carried out when it is sent again with its key.
func TestReachedLater(t *testing.T) {
	root := t.TempDir()
	w := viewtest.New(filepath.Join(root, "live"), []byte(strings.Replace(source, "digits", "live", 1)), 7)
	w.Start(4)
	w.Run(2)
	w.Close()
	lock, err := journal.LockDir(filepath.Join(root, "live"), time.Now()) // as a host has it
	if err != nil {
		t.Fatal(err)
	}
	s := serve.New(serve.Options{Folders: []string{root}, Guard: guard.Options{Tokens: tokens}})
	defer s.Close()
	stop := func() *httptest.ResponseRecorder {
		r := httptest.NewRequest("POST", "http://localhost/api/v1/experiments/live/stop", nil)
		r.Header.Set("Authorization", "Bearer "+tokens.Full)
		r.Header.Set("Idempotency-Key", "k")
		a := httptest.NewRecorder()
		s.Handler().ServeHTTP(a, r)
		return a
	}
	a := stop()
	if a.Code != http.StatusConflict || !strings.Contains(a.Body.String(), "try again in a moment") ||
		a.Header().Get("Retry-After") == "" {
		t.Errorf("%d %s, %v", a.Code, a.Body, a.Header())
	}
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	a = stop()
	if strings.Contains(a.Body.String(), "try again in a moment") || a.Header().Get("Idempotent-Replayed") != "" {
		t.Errorf("sent again: %d %s, %v", a.Code, a.Body, a.Header())
	}
}

// An experiment that has lost one of its files stays in the list, and says so at its own address.
func TestLostFiles(t *testing.T) {
	for _, x := range []struct {
		gone string
		seen bool // the server has read the experiment before
	}{{"experiment.yaml", false}, {"run.json", false}, {"experiment.yaml", true}, {"run.json", true}} {
		gone, root := x.gone, recorded(t)
		c := serving(t, root)
		if x.seen {
			c.get("")
			c.get("/digits")
		}
		if err := os.Remove(filepath.Join(root, "digits", gone)); err != nil {
			t.Fatal(err)
		}
		want := gone + ": it is gone, but the record or the trials of its experiment are there: put it back from a copy"
		if a, text := c.send("GET", "", ""); !strings.Contains(text, want) {
			t.Errorf("the list: %s %s", a.Status, text)
		}
		a, text := c.send("GET", "/digits", "")
		if a.StatusCode != http.StatusConflict || !strings.Contains(text, want) {
			t.Errorf("%s %s", a.Status, text)
		}
	}
}
