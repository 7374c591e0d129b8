package serve_test

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tunehost/tunehost/host/plugin/standard"
	"github.com/tunehost/tunehost/host/serve"
	"github.com/tunehost/tunehost/host/serve/guard"
)

// small is a folder on a disk of its own, and a function that fills the disk up or makes room again.
func small(t *testing.T) (dir string, fill func(full bool)) {
	t.Helper()
	dir = t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=32m"); err != nil {
		t.Skip("a small disk cannot be mounted: ", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	ballast := filepath.Join(dir, "ballast")
	return dir, func(full bool) {
		f, err := os.Create(ballast)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for full && err == nil {
			_, err = f.Write(make([]byte, 4096))
		}
		if full && !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
	}
}

// B-087: while the disk is full, each request that would be recorded is answered at once, nothing of it is done, and it
// works when there is room. Reading goes on, and the server can end.
func TestFullDisk(t *testing.T) {
	root, fill := small(t)
	s := serve.New(serve.Options{Folders: []string{root}, Keys: filepath.Join(root, "keys"), Version: "test",
		Guard: guard.Options{Tokens: tokens}, Registry: standard.Plugins()})
	server := newServer(t, s)
	c := client{t, server, tokens.Full}
	c.post("", forWorkers)
	mine := c.post("/w/ask", `{}`)
	report := `{"attempt":1,"iteration":1,"metrics":{"loss":1}}`
	requests := []struct{ method, path, body string }{
		{"POST", "/w/trials/" + mine.Trial + "/report", report}, {"POST", "/w/ask", `{}`},
		{"POST", "/w/trials", `{}`}, {"PATCH", "/w/settings", `{"trials":41}`}, {"POST", "/w/pause", `{"force":true}`},
		{"POST", "/w/resume", ""}, {"POST", "", strings.Replace(forWorkers, "name: w", "name: v", 1)},
	}
	fill(true)
	for range 2 {
		for _, x := range requests {
			a, text := c.send(x.method, x.path, x.body)
			if a.StatusCode != http.StatusInsufficientStorage || a.Header.Get("Retry-After") == "" ||
				!strings.Contains(text, "the disk is full") {
				t.Errorf("%s %s: %s %s", x.method, x.path, a.Status, text)
			}
		}
		c.get("/w/trials")
	}
	fill(false)
	for _, x := range requests {
		if a, text := c.send(x.method, x.path, x.body); a.StatusCode >= 300 {
			t.Errorf("with room, %s %s: %s %s", x.method, x.path, a.Status, text)
		}
	}
	fill(true)
	s.Close()
	fill(false)
}
