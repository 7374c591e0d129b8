package repeat

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// counting answers with the number of the request.
type counting struct {
	n      int
	status int
	// during is called while a request is carried out.
	during func()
}

func (c *counting) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	if c.n++; c.during != nil {
		c.during()
	}
	w.Header().Set("Content-Type", "text/plain")
	w.WriteHeader(c.status)
	fmt.Fprintf(w, "request %d", c.n)
}

func send(h http.Handler, key, body string) (status int, text string) {
	r := httptest.NewRequest("POST", "/trials", strings.NewReader(body))
	r.Header.Set(Header, key)
	a := httptest.NewRecorder()
	h.ServeHTTP(a, r)
	return a.Code, a.Body.String()
}

func expect(t *testing.T, h http.Handler, key, body string, status int, text string) {
	t.Helper()
	if got, answer := send(h, key, body); got != status || !strings.Contains(answer, text) {
		t.Errorf("%s %s: %d %q, want %d %q", key, body, got, answer, status, text)
	}
}

// TestNextServer: the next server of the same folders knows the requests of the one before, for a day.
func TestNextServer(t *testing.T) {
	dir, now := t.TempDir(), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	c := &counting{status: 201}
	first := Open(dir, "results", c, clock)
	expect(t, first, "a", "x", 201, "request 1")
	c.status = 500
	expect(t, first, "b", "x", 500, "request 2")
	c.status = 200
	expect(t, Open(dir, "results", c, clock), "a", "x", 200, "request 3") // a second server beside it
	first.Close()
	next := Open(dir, "results", c, clock)
	expect(t, next, "a", "x", 201, "request 1")
	expect(t, next, "a", "y", 422, "another request")
	expect(t, next, "b", "x", 200, "request 4")
	expect(t, Open(dir, "other", c, clock), "a", "x", 200, "request 5")
	next.Close()
	now = now.Add(25 * time.Hour)
	expect(t, Open(dir, "results", c, clock), "a", "x", 200, "request 6")
}

// TestServerDies: nobody knows whether a request was carried out during which the server was killed, so the next
// server says that.
func TestServerDies(t *testing.T) {
	dir, copied := t.TempDir(), t.TempDir()
	c := &counting{status: 200}
	c.during = func() { // what is on disk when the server is killed now
		names, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil || len(names) != 1 {
			t.Fatal(names, err)
		}
		text, err := os.ReadFile(names[0])
		if err == nil {
			err = os.WriteFile(filepath.Join(copied, filepath.Base(names[0])), append(text, `{"name":"torn`...), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	send(Open(dir, "results", c, time.Now), "a", "x")
	next := Open(copied, "results", c, time.Now)
	expect(t, next, "a", "x", 409, "the server ended while it carried out")
	if c.n != 1 {
		t.Errorf("it was carried out %d times", c.n)
	}
}

// TestStoreIsBounded: the file is written anew when it is large, and has what is known.
func TestStoreIsBounded(t *testing.T) {
	dir := t.TempDir()
	c := &counting{status: 200}
	x := Open(dir, "results", c, time.Now)
	send(x, "a", "x")
	x.store.size = mostStored + 1
	send(x, "b", "x")
	if x.store.size > 1<<10 {
		t.Errorf("the file has %d bytes", x.store.size)
	}
	x.Close()
	next := Open(dir, "results", c, time.Now)
	expect(t, next, "a", "x", 200, "request 1")
	expect(t, next, "b", "x", 200, "request 2")
	if info, err := os.Stat(next.store.path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// TestNoFolder: a key that cannot be kept is refused, and the request is not carried out.
func TestNoFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c := &counting{status: 200}
	expect(t, Open(file, "results", c, time.Now), "a", "x", 500, "cannot be kept")
	if c.n != 0 {
		t.Error("it was carried out")
	}
}
