package repeat

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tunehost/tunehost/host/serve/problem"
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

// TestNextServer: the next server of the same user knows the requests of the one before, for a day.
func TestNextServer(t *testing.T) {
	dir, now := t.TempDir(), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	c := &counting{status: 201}
	first := Open(dir, nil, c, clock)
	expect(t, first, "a", "x", 201, "request 1")
	c.status = 500
	expect(t, first, "b", "x", 500, "request 2")
	c.status = 200
	first.Close()
	next := Open(dir, nil, c, clock)
	expect(t, next, "a", "x", 201, "request 1")
	expect(t, next, "a", "y", 422, "another request")
	expect(t, next, "b", "x", 200, "request 3")
	next.Close()
	now = now.Add(25 * time.Hour)
	last := Open(dir, nil, c, clock)
	expect(t, last, "a", "x", 200, "request 4")
	last.Close()
	if names, err := filepath.Glob(filepath.Join(dir, "*.alive")); err != nil || len(names) > 0 {
		t.Errorf("left: %v, %v", names, err)
	}
}

// TestTwoServers: servers of the same time share their requests, also those that are under way, and those of one
// experiment that has another name at each of them.
func TestTwoServers(t *testing.T) {
	dir := t.TempDir()
	c := &counting{status: 200}
	called := func(prefix string) func(string) string {
		return func(path string) string { return strings.TrimPrefix(path, prefix) }
	}
	one, two := Open(dir, called("/one"), c, time.Now), Open(dir, called("/two"), c, time.Now)
	defer one.Close()
	defer two.Close()
	at := func(h http.Handler, path, key string) (int, string) {
		r := httptest.NewRequest("POST", path, strings.NewReader("x"))
		r.Header.Set(Header, key)
		a := httptest.NewRecorder()
		h.ServeHTTP(a, r)
		return a.Code, a.Body.String()
	}
	c.during = func() {
		if status, text := at(two, "/two/trials", "a"); status != 409 || !strings.Contains(text, "being carried out") {
			t.Errorf("meanwhile: %d %s", status, text)
		}
	}
	_, first := at(one, "/one/trials", "a")
	c.during = nil
	if _, again := at(two, "/two/trials", "a"); again != first || c.n != 1 {
		t.Errorf("%q, then %q; carried out %d times", first, again, c.n)
	}
	if at(two, "/two/other", "a"); c.n != 2 {
		t.Errorf("another path: carried out %d times", c.n)
	}
	c.status = 503
	at(two, "/two/trials", "b")
	c.status = 200
	if at(one, "/one/trials", "b"); c.n != 4 {
		t.Errorf("a request that failed at the other server: carried out %d times", c.n)
	}
}

// TestAtOnce: of many servers that get a request at the same time, one carries it out.
func TestAtOnce(t *testing.T) {
	dir := t.TempDir()
	var n atomic.Int32
	h := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { n.Add(1) })
	var all sync.WaitGroup
	for range 8 {
		x := Open(dir, nil, h, time.Now)
		t.Cleanup(x.Close)
		all.Go(func() {
			for i := range 20 {
				send(x, strconv.Itoa(i), "x")
			}
		})
	}
	all.Wait()
	if n.Load() != 20 {
		t.Errorf("20 requests were carried out %d times", n.Load())
	}
}

// TestServerDies: nobody knows whether a request was carried out during which the server was killed, so the next
// server says that.
func TestServerDies(t *testing.T) {
	dir, copied := t.TempDir(), t.TempDir()
	c := &counting{status: 200}
	c.during = func() { // what is on disk when the server is killed now
		text, err := os.ReadFile(filepath.Join(dir, fileName))
		if err == nil {
			err = os.WriteFile(filepath.Join(copied, fileName), append(text, `{"name":"torn`...), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	send(Open(dir, nil, c, time.Now), "a", "x")
	next := Open(copied, nil, c, time.Now)
	expect(t, next, "a", "x", 409, "the server ended while it carried out")
	if c.n != 1 {
		t.Errorf("it was carried out %d times", c.n)
	}
	c.during = nil
	expect(t, next, "b", "x", 200, "request 2") // behind what is torn
	next.Close()
	expect(t, Open(copied, nil, c, time.Now), "b", "x", 200, "request 2")
}

// TestStoreIsBounded: the file is written anew when it is large, and has what is known.
func TestStoreIsBounded(t *testing.T) {
	dir := t.TempDir()
	c := &counting{status: 200}
	x := Open(dir, nil, c, time.Now)
	send(x, "a", "x")
	x.store.read = mostStored + 1
	send(x, "b", "x")
	if x.store.read > 1<<10 {
		t.Errorf("the file has %d bytes", x.store.read)
	}
	x.Close()
	next := Open(dir, nil, c, time.Now)
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
	expect(t, Open(file, nil, c, time.Now), "a", "x", 500, "cannot be kept")
	if c.n != 0 {
		t.Error("it was carried out")
	}
}

// TestSentAgain: only an answer that stays the same is kept: not that of a request that the state of the experiment,
// its host or the disk does not allow.
func TestSentAgain(t *testing.T) {
	dir := t.TempDir()
	var refusal *problem.Problem
	n := 0
	h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if n++; refusal != nil {
			refusal.Write(w)
		}
	})
	x := Open(dir, nil, h, time.Now)
	defer x.Close()
	for i, c := range []struct {
		refusal error
		kept    bool
	}{{problem.Later(errors.New("why")), false}, {problem.New(429, "why"), false}, {problem.New(503, "why"), false},
		{problem.New(507, "why"), false}, {problem.Conflict(errors.New("why")), false},
		{problem.New(404, "why"), false}, {problem.New(422, "why"), true}} {
		key, before := strconv.Itoa(i), n
		if !errors.As(c.refusal, &refusal) {
			t.Fatal(c.refusal)
		}
		expect(t, x, key, "x", refusal.Status, "why")
		again := refusal.Status
		if refusal = nil; !c.kept {
			again = 200
		}
		expect(t, x, key, "x", again, "")
		if carried := n-before == 2; carried == c.kept {
			t.Errorf("%v: carried out %d times", c.refusal, n-before)
		}
	}
}

// TestNoKey: a header without a key, and one with two, is a mistake of a client that believes that it has one.
func TestNoKey(t *testing.T) {
	c := &counting{status: 200}
	x := New(c, time.Now)
	for want, keys := range map[string][]string{"it is empty": {""}, "it is given twice": {"a", "b"}} {
		r := httptest.NewRequest("POST", "/trials", strings.NewReader("x"))
		r.Header[Header] = keys
		a := httptest.NewRecorder()
		x.ServeHTTP(a, r)
		if a.Code != 422 || !strings.Contains(a.Body.String(), want) {
			t.Errorf("%q: %d %s", keys, a.Code, a.Body)
		}
	}
	if c.n != 0 {
		t.Errorf("%d requests were carried out", c.n)
	}
}
