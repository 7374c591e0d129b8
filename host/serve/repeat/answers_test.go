package repeat

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// timed answers with how often it was asked, and takes some time of a clock of its own.
type timed struct {
	mu      sync.Mutex
	asked   int
	took    time.Duration
	at      time.Time
	status  int
	version string
	over    bool
	// same says that each answer is as the first one.
	same bool
	// begun and go on, if they are there, hold an answer up.
	begun, goOn chan struct{}
	// looks, if it is there, is called with each look for the version.
	looks func()
}

func (c *timed) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	c.mu.Lock()
	c.asked++
	n := c.asked
	if c.same {
		n = 1
	}
	c.at = c.at.Add(c.took)
	c.mu.Unlock()
	if c.begun != nil {
		c.begun <- struct{}{}
		<-c.goOn
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(c.status)
	fmt.Fprint(w, n)
}

func (c *timed) Most(*http.Request) time.Duration { return 5 * time.Second }

func (c *timed) Version(*http.Request) (string, func() bool) {
	if c.looks != nil {
		c.looks()
	}
	return c.version, func() bool { return c.over }
}

func (c *timed) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *timed) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

func readBy(h http.Handler, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, "/x?a=1", nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func asPage(h http.Handler) *httptest.ResponseRecorder {
	return readBy(h, "Cache-Control", "max-age=5")
}

// stalled is a reader who takes nothing until it is let go.
type stalled struct {
	*httptest.ResponseRecorder
	begun, goOn chan struct{}
}

func (w *stalled) Write(b []byte) (int, error) {
	close(w.begun)
	<-w.goOn
	return w.ResponseRecorder.Write(b)
}

// A reader who takes long to read its answer holds up nobody who asks for the same.
func TestSlowReaderHoldsUpNobody(t *testing.T) {
	c := &timed{status: http.StatusOK, took: 10 * time.Millisecond}
	a := Share(c, c, c.now)
	slow := &stalled{httptest.NewRecorder(), make(chan struct{}), make(chan struct{})}
	var wait sync.WaitGroup
	wait.Go(func() {
		r := httptest.NewRequest(http.MethodGet, "/x?a=1", nil)
		r.Header.Set("Cache-Control", "max-age=5")
		a.ServeHTTP(slow, r)
	})
	<-slow.begun
	if w := asPage(a); w.Body.String() != "1" {
		t.Errorf("another page is told %q", w.Body)
	}
	close(slow.goOn)
	wait.Wait()
	if slow.Body.String() != "1" {
		t.Errorf("the slow reader got %q", slow.Body)
	}
}

// Ten pages cost as much as one: they get what one of them was told, for 1000 times as long as that took.
func TestPagesShareAnswers(t *testing.T) {
	c := &timed{status: http.StatusOK, took: 4 * time.Millisecond}
	a := Share(c, c, c.now)
	if w := asPage(a); w.Body.String() != "1" || w.Header().Get("Age") != "" {
		t.Fatalf("the first answer is %q, aged %q", w.Body, w.Header().Get("Age"))
	}
	for range 9 {
		w := asPage(a)
		media := w.Header().Get("Content-Type")
		if w.Body.String() != "1" || w.Header().Get("Age") == "" || media != "application/json" {
			t.Fatalf("another page is told %q, %v", w.Body, w.Header())
		}
	}
	if c.pass(3900 * time.Millisecond); asPage(a).Body.String() != "1" {
		t.Error("an answer that took 4 ms is not passed on for four seconds")
	}
	if c.pass(200 * time.Millisecond); asPage(a).Body.String() != "2" {
		t.Error("an answer is passed on for longer than 1000 times what it took")
	}
}

// An answer that many pages read is passed on for longer, since it is made anew for all of them: with ten pages a cheap
// one for a second, and for as long as before when one page is left.
func TestManyPagesAskLessOften(t *testing.T) {
	c := &timed{status: http.StatusOK}
	a := Share(c, c, c.now)
	for range 10 {
		asPage(a)
	}
	c.pass(time.Hour)
	asPage(a)
	if c.pass(900 * time.Millisecond); asPage(a).Body.String() != "2" {
		t.Error("an answer after one for ten pages is not passed on for 900 ms")
	}
	if c.pass(200 * time.Millisecond); asPage(a).Body.String() != "3" {
		t.Error("an answer after one for ten pages is passed on for 1100 ms")
	}
	if c.pass(300 * time.Millisecond); asPage(a).Body.String() != "4" {
		t.Error("an answer after one for two pages is passed on for 300 ms")
	}
}

// When the last word has been spoken, an expensive answer from before it is not passed on, and until then readers are
// told
// when there may be another.
func TestLastWord(t *testing.T) {
	c := &timed{status: http.StatusOK, took: 4 * time.Millisecond}
	a := Share(c, c, c.now)
	asPage(a)
	c.pass(time.Second)
	if w := asPage(a); w.Body.String() != "1" || w.Header().Get(NextHeader) != "2996" {
		t.Errorf("%q, next in %q ms, want 2996", w.Body, w.Header().Get(NextHeader))
	}
	if c.over = true; asPage(a).Body.String() != "2" {
		t.Error("an answer from before the end is passed on")
	}
}

// An answer that was expensive is not older than the reader accepts; a cheap one is passed on for a quarter of a
// second.
func TestAgeIsBounded(t *testing.T) {
	c := &timed{status: http.StatusOK, took: time.Second}
	a := Share(c, c, c.now)
	asPage(a)
	c.pass(2500 * time.Millisecond)
	if w := asPage(a); w.Body.String() != "1" || w.Header().Get("Age") != "4" {
		t.Errorf("an expensive answer is not passed on with its age: %q, %v", w.Body, w.Header())
	}
	c.pass(500 * time.Millisecond)
	if c.pass(2 * time.Second); asPage(a).Body.String() != "2" {
		t.Error("an answer is older than its reader accepts")
	}
	c.took = 0
	c.pass(time.Hour)
	asPage(a)
	if c.pass(200 * time.Millisecond); asPage(a).Body.String() != "3" {
		t.Error("a cheap answer is not passed on for 200 ms")
	}
	if c.pass(100 * time.Millisecond); asPage(a).Body.String() != "4" {
		t.Error("a cheap answer is passed on for 300 ms")
	}
}

// A program that does not accept old answers gets what is true now.
func TestProgramsGetWhatIsTrueNow(t *testing.T) {
	c := &timed{status: http.StatusOK, took: time.Second}
	a := Share(c, c, c.now)
	asPage(a)
	if w := readBy(a); w.Body.String() != "2" || w.Header().Get("Age") != "" {
		t.Errorf("a program is told %q, aged %q", w.Body, w.Header().Get("Age"))
	}
}

// As long as nothing changes, nothing is made again, for all who ask.
func TestUnchanged(t *testing.T) {
	c := &timed{status: http.StatusOK, version: "a"}
	a := Share(c, c, c.now)
	readBy(a)
	if c.pass(30 * time.Second); readBy(a).Body.String() != "1" {
		t.Error("nothing has changed, and the answer was made again")
	}
	if c.version = "b"; readBy(a).Body.String() != "2" {
		t.Error("something has changed, and the answer is the old one")
	}
}

// A reader that has an answer already is not sent it again, whether it accepts older answers or not.
func TestNotModified(t *testing.T) {
	for _, cache := range []string{"max-age=5", ""} {
		c := &timed{status: http.StatusOK, took: time.Second, same: true}
		a := Share(c, c, c.now)
		tag := readBy(a, "Cache-Control", cache).Header().Get("ETag")
		for condition, has := range map[string]bool{tag: true, "W/" + tag: true, "*": true, `"x", ` + tag: true,
			`W/"x",,W/` + tag + `, "y"`: true, `"a, b" ,` + tag: true, `"other"`: false, `W/"other", "x"`: false,
			"": false, `"`: false, strings.Trim(tag, `"`): false, `"` + tag: false, `"*"`: false, "w/" + tag: false} {
			w := readBy(a, "Cache-Control", cache, "If-None-Match", condition)
			if (w.Code == http.StatusNotModified) != has || (w.Body.Len() == 0) != has ||
				w.Header().Get("ETag") != tag {
				t.Errorf("Cache-Control %q, If-None-Match %s: %d with %q, %v", cache, condition, w.Code, w.Body,
					w.Header())
			}
		}
		r := httptest.NewRequest(http.MethodGet, "/x?a=1", nil)
		r.Header = http.Header{"Cache-Control": {cache}, "If-None-Match": {`"x"`, tag}}
		w := httptest.NewRecorder()
		if a.ServeHTTP(w, r); w.Code != http.StatusNotModified || tag == "" {
			t.Errorf("Cache-Control %q, two headers: %d", cache, w.Code)
		}
	}
}

// A very large answer has a tag, too, and is kept for nobody.
func TestLargeAnswers(t *testing.T) {
	large := make([]byte, largest+1)
	next := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(large) })
	c := &timed{version: "a"}
	a := Share(next, c, c.now)
	for _, cache := range []string{"max-age=5", ""} {
		w := readBy(a, "Cache-Control", cache)
		tag := w.Header().Get("ETag")
		if tag == "" || w.Body.Len() != len(large) || len(a.known) > 0 {
			t.Errorf("Cache-Control %q: %d bytes with the tag %q, and %d kept", cache, w.Body.Len(), tag, len(a.known))
		}
		if w := readBy(a, "Cache-Control", cache, "If-None-Match", tag); w.Code != http.StatusNotModified {
			t.Errorf("Cache-Control %q, again: %d", cache, w.Code)
		}
	}
}

// A problem is nobody else's.
func TestProblemsAreNotKept(t *testing.T) {
	c := &timed{status: http.StatusConflict, took: time.Second, version: "a"}
	a := Share(c, c, c.now)
	for _, want := range []string{"1", "2"} {
		if w := asPage(a); w.Code != http.StatusConflict || w.Body.String() != want {
			t.Errorf("%d %q, want 409 %q", w.Code, w.Body, want)
		}
	}
}

// Who asks for what is being made waits for it.
func TestOneIsMadeAtATime(t *testing.T) {
	c := &timed{status: http.StatusOK, begun: make(chan struct{}), goOn: make(chan struct{})}
	a := Share(c, c, c.now)
	told := make(chan string)
	ask := func() { told <- asPage(a).Body.String() }
	go ask()
	<-c.begun
	go ask()
	go ask()
	close(c.goOn)
	for range 3 {
		if text := <-told; text != "1" {
			t.Errorf("told %q", text)
		}
	}
}

// Pages that come at the same moment find the same old answer: one of them has the next one made, for all.
func TestOneIsMadeForAllWhoComeAtOnce(t *testing.T) {
	const pages = 5
	c := &timed{status: http.StatusOK, took: time.Millisecond}
	a := Share(c, c, c.now)
	asPage(a)
	c.pass(time.Hour)
	var all, wait sync.WaitGroup
	all.Add(pages)
	var came atomic.Int32
	c.looks = func() { // nobody goes on before all have seen that the answer is old
		if came.Add(1) <= pages {
			all.Done()
			all.Wait()
		}
	}
	for range pages {
		wait.Go(func() {
			if w := asPage(a); w.Body.String() != "2" {
				t.Errorf("a page is told %q", w.Body)
			}
		})
	}
	wait.Wait()
	if c.asked != 2 {
		t.Errorf("%d answers were made for pages that came at once, want one", c.asked-1)
	}
}

// Many answers take a limited room, and the newest are kept.
func TestRoom(t *testing.T) {
	large := make([]byte, largest)
	next := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(large) })
	c := &timed{}
	a := Share(next, c, c.now)
	for i := range 9 {
		c.pass(time.Millisecond)
		r := httptest.NewRequest(http.MethodGet, fmt.Sprint("/", i), nil)
		r.Header.Set("Cache-Control", "max-age=5")
		a.ServeHTTP(httptest.NewRecorder(), r)
	}
	total := 0
	for _, x := range a.known {
		total += x.size()
	}
	if total > room || a.known["/8"] == nil {
		t.Errorf("%d answers take %d bytes of %d", len(a.known), total, room)
	}
}
