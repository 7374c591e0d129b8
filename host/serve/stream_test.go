package serve_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/host/serve"
	"github.com/tunehost/tunehost/host/serve/guard"
	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/host/view/viewtest"
	"github.com/tunehost/tunehost/internal/testplace"
)

// following sends a request for a stream, and returns what reads the answer.
func following(t *testing.T, url, path string) (net.Conn, *bufio.Reader) {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	fmt.Fprintf(c, "GET /api/v1/experiments/%s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"+
		"Authorization: Bearer %s\r\n\r\n", path, tokens.Full)
	return c, bufio.NewReader(c)
}

// B-143: a reader that takes nothing is dropped; meanwhile others get everything.
func TestSlowReader(t *testing.T) {
	root := t.TempDir()
	w := viewtest.New(filepath.Join(root, "long"), []byte(strings.Replace(source, "digits", "long", 1)), 7)
	w.Iterations = 2500
	w.Start(4)
	w.Run(-1)
	w.Close()
	s := serve.New(serve.Options{Folders: []string{root}, Guard: guard.Options{Tokens: tokens},
		ReaderTimeout: 2 * time.Second})
	defer s.Close()
	server := httptest.NewServer(s.Handler())
	defer server.Close()
	_, slow := following(t, server.URL, "long/events")
	if line, err := slow.ReadString('\n'); err != nil || !strings.Contains(line, "200") {
		t.Fatal(line, err)
	}
	c := client{t, server.URL, tokens.Full}
	if all := c.get("/long/events"); !strings.HasSuffix(all, "event: end\ndata: {}") {
		t.Errorf("another reader gets no end: %q", all[max(0, len(all)-100):])
	}
	testplace.Soon(t, "the end of the slow reader's stream", func() bool { return s.Streams() == 0 })
	rest, _ := io.ReadAll(slow) // what was under way
	if strings.Contains(string(rest), "event: end") {
		t.Error("the slow reader was waited for")
	}
}

// B-143: a log is followed until nothing more can come.
func TestFollowedLog(t *testing.T) {
	root := t.TempDir()
	w := viewtest.New(filepath.Join(root, "live"), []byte(strings.Replace(source, "digits", "live", 1)), 7)
	w.Files = true
	w.Start(4)
	w.Run(2)
	defer w.Close()
	dir := filepath.Join(root, "live")
	lock, err := journal.LockDir(dir, time.Now()) // as a host has it
	if err != nil {
		t.Fatal(err)
	}
	c := serving(t, root)
	e, err := view.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	stdout, _ := e.Config.Log.Files()
	for path, file := range map[string]string{"live/trials/0/log?follow=true": filepath.Join(e.Trial(0).Dir, stdout),
		"live/host-log?follow=true": e.Dir.Log()} {
		_, r := following(t, c.url, path)
		f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			fmt.Fprintf(f, "line %d\n", i)
			for line := ""; !strings.Contains(line, fmt.Sprint("line ", i)); {
				if line, err = r.ReadString('\n'); err != nil {
					t.Fatalf("%s: %v", path, err)
				}
			}
		}
		_ = f.Close()
	}
	_, r := following(t, c.url, "live/host-log?follow=true")
	if _, err := r.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(r); err != nil { // it ends: no host runs the experiment
		t.Error(err)
	}
}
