package serve_test

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/host/view/viewtest"
	"github.com/tunehost/tunehost/internal/toolchain"
)

// asPage asks as a page of the dashboard does.
func (c client) asPage(path, tag string) (*http.Response, string) {
	c.t.Helper()
	return c.unless(http.MethodGet, path, tag, "max-age=5")
}

// unless asks for what has another tag.
func (c client) unless(method, path, tag, cache string) (*http.Response, string) {
	c.t.Helper()
	r, err := http.NewRequest(method, c.url+"/api/v1/experiments"+path, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header = http.Header{"Authorization": {"Bearer " + c.token}, "Cache-Control": {cache}, "If-None-Match": {tag}}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return a, string(text)
}

// jsonParts are paths of answers in JSON.
var jsonParts = []string{"", "/digits", "/digits/trials", "/digits/trials/1", "/digits/curves", "/digits/history",
	"/digits/importance", "/digits/points", "/digits/journal"}

// What a page has already is not sent again, whatever part of the dashboard it is; a text
// that grows is not shared.
func TestPagesShare(t *testing.T) {
	c := serving(t, recorded(t))
	for _, path := range jsonParts {
		first, text := c.asPage(path, "")
		tag := first.Header.Get("ETag")
		if first.StatusCode != http.StatusOK || text == "" || tag == "" {
			t.Errorf("%q: %s with the tag %q", path, first.Status, tag)
			continue
		}
		if again, more := c.asPage(path, tag); again.StatusCode != http.StatusNotModified || more != "" {
			t.Errorf("%q, again: %s %.100s", path, again.Status, more)
		}
	}
	if a, _ := c.asPage("/digits/file", ""); a.Header.Get("ETag") != "" {
		t.Error("the answer to a stream is shared")
	}
}

// What a program has already is not sent again, and HEAD has the tag of GET.
func TestProgramsAreNotSentWhatTheyHave(t *testing.T) {
	c := serving(t, recorded(t))
	for _, path := range append(slices.Clone(jsonParts), "/digits/best", "/digits/space", "/digits/plugins",
		"/digits/decisions") {
		first, text := c.send(http.MethodGet, path, "")
		head, none := c.send(http.MethodHead, path, "")
		tag := first.Header.Get("ETag")
		if text == "" || tag == "" || head.Header.Get("ETag") != tag || none != "" {
			t.Errorf("%q: the tags are %q and, for HEAD, %q", path, tag, head.Header.Get("ETag"))
			continue
		}
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			if a, more := c.unless(method, path, tag, ""); a.StatusCode != http.StatusNotModified || more != "" {
				t.Errorf("%s %q, again: %s %.100s", method, path, a.Status, more)
			}
		}
	}
}

// A program that asks for no old answers is told what is recorded now, also while a page is told what is a little
// older.
func TestProgramsAreToldWhatIsNew(t *testing.T) {
	root := t.TempDir()
	w := viewtest.New(filepath.Join(root, "a"), []byte(source), 7)
	w.Start(4)
	w.Run(2)
	c := serving(t, root)
	type steps struct{ Steps []struct{ Number int } }
	c.asPage("/a/history", "")
	before := read[steps](c, "/a/history")
	w.Run(-1)
	w.Close()
	after := read[steps](c, "/a/history")
	if slices.Equal(before.Steps, after.Steps) {
		t.Errorf("%d steps before and after all trials have ended", len(after.Steps))
	}
}

// A run of which the server has seen nothing has an end, too.
func TestPagesAreToldTheEndOfAnUnseenRun(t *testing.T) {
	root := t.TempDir()
	w := viewtest.New(filepath.Join(root, "a"), []byte(source), 7)
	w.Start(4)
	w.Run(2)
	c := serving(t, root)
	parts := []string{"/space", "/decisions", "/journal", "/points", "/history"}
	for _, part := range parts {
		c.asPage("/a"+part, "")
	}
	w.Run(-1)
	w.Close()
	c.tellTheEnd(parts)
}

// A run of which the server has seen the beginning has an end, too, if its settings have changed since: the experiment
// is opened anew then.
func TestPagesAreToldTheEndOfAChangedRun(t *testing.T) {
	root := t.TempDir()
	w := viewtest.New(filepath.Join(root, "a"), []byte(source), 7)
	w.Start(4)
	w.Run(2)
	lock, err := journal.LockDir(filepath.Join(root, "a"), time.Now()) // as a host has it
	if err != nil {
		t.Fatal(err)
	}
	c := serving(t, root)
	parts := []string{"/space", "/decisions", "/journal", "/points", "/history"}
	for _, part := range parts {
		c.asPage("/a"+part, "")
	}
	changed := time.Now().Add(time.Second)
	if err := os.Chtimes(filepath.Join(root, "a", "run.json"), changed, changed); err != nil {
		t.Fatal(err)
	}
	w.Run(-1)
	w.Close()
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	c.tellTheEnd(parts)
}

// tellTheEnd checks that pages are told what others are told now.
func (c client) tellTheEnd(parts []string) {
	c.t.Helper()
	read[struct{}](c, "/a") // pages look at the status
	for _, part := range parts {
		var x any
		_, told := c.asPage("/a"+part, "")
		if err := json.Unmarshal([]byte(told), &x); err != nil || !reflect.DeepEqual(x, read[any](c, "/a"+part)) {
			c.t.Errorf("%s is as before the end: %.300s", part, told)
		}
	}
}

// Once the host has ended, pages are told of every part of the experiment how it has, and not what was there before.
func TestPagesAreToldTheEnd(t *testing.T) {
	file, err := toolchain.Tunehost()
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	const source = `{version: 1, name: a, objective: {metric: loss, mode: min}, trials: 3, space: {n: {int: [1, 9]}},
concurrency: 1, trainable: {command: [sh, -c, 'echo "{\"loss\": 1}"; sleep 1']}}`
	if err := os.WriteFile(filepath.Join(root, "x.yaml"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	run := exec.Command(file, "run", "x.yaml", "--storage", root)
	run.Dir = root
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- run.Wait() }()
	c := serving(t, root)
	parts := []string{"/space", "/decisions", "/journal", "/points"}
	for {
		for _, part := range parts {
			c.asPage("/a"+part, "")
		}
		select {
		case err := <-ended:
			if err != nil {
				t.Fatal(err)
			}
			c.tellTheEnd(parts)
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
}
