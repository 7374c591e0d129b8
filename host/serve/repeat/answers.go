package repeat

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// Shortest is how long any answer is passed on, and times is how many times as long as it took to make.
	Shortest = 250 * time.Millisecond
	times    = 1000
	// telling is about what it takes to pass an answer on.
	telling = 100 * time.Microsecond
	// unchanged is how long an answer is passed on of which nothing has changed.
	unchanged = time.Minute
	// room is how many bytes all answers may take, largest how many one of them.
	room, largest = 8 << 20, 4 << 20
)

// NextHeader is a header of answers that were made for somebody else: after so many milliseconds there may be another.
const NextHeader = "Tunehost-Next"

// Answers is a handler in front of another. It keeps the last answers, so that many readers of the same cost about as
// much as one.
//
// A reader that sends Cache-Control: max-age=N takes an answer that was made for somebody else, up to N seconds ago;
// the dashboard's pages do. How long an answer is passed on depends on what it took to make: a cheap one for
// a quarter of a second, an expensive one for 1000 times as long, so that each takes at most a thousandth of a
// processor, unless the reader wants a newer one. It also counts to how many readers the one before was passed on. Such
// an answer has the header Age, so that the reader knows that it may ask again for what came since.
// Other readers get an answer that was made before only as long as nothing has changed that it depends on.
//
// Every answer that is no problem has an ETag, which follows from its body: a reader of any kind is not sent what it
// has.
type Answers struct {
	Source
	next http.Handler
	now  func() time.Time

	mu    sync.Mutex
	known map[string]*answer
}

// Source knows what answers depend on.
type Source interface {
	// Most is how long the answer to a request may be passed on; 0: not at all.
	Most(*http.Request) time.Duration
	// Version changes with what an answer depends on; "": that is not known, or other things matter, too. over, which
	// may be nil, reports whether an answer is not passed on any more: the last word has been spoken since.
	Version(*http.Request) (version string, over func() bool)
}

// answer is what was answered, or is being made.
type answer struct {
	made chan struct{} // closed when the rest is there
	body []byte
	// header is what the next handler has set; nil: the answer is a problem, or is not there.
	header  http.Header
	tag     string
	version string
	over    func() bool
	began   time.Time
	// took is what it took to make it, and to pass on the one before; told counts the readers who have it.
	took time.Duration
	told atomic.Int64
}

// Share returns a handler that keeps the answers of another. now is the time.
func Share(next http.Handler, s Source, now func() time.Time) *Answers {
	return &Answers{Source: s, next: next, now: now, known: map[string]*answer{}}
}

// ServeHTTP implements http.Handler.
func (a *Answers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	most := a.Most(r)
	if most == 0 {
		a.next.ServeHTTP(w, r)
		return
	}
	key := r.URL.RequestURI()
	most = min(most, maxAge(r))
	for !a.answer(w, r, key, most) {
	}
}

// answer answers a request, unless somebody else has begun to make the answer meanwhile: pages look at the same
// moments.
func (a *Answers) answer(w http.ResponseWriter, r *http.Request, key string, most time.Duration) bool {
	old := a.get(key)
	if a.passes(old, r, most) {
		w.Header().Set("Age", a.age(old))
		w.Header().Set(NextHeader, strconv.FormatInt(a.rest(old, most).Milliseconds(), 10))
		old.write(w, r)
		return true
	}
	version, over := a.Version(r)
	if x := a.same(key, version); x != nil {
		x.write(w, r)
		return true
	}
	x := &answer{made: make(chan struct{}), version: version, over: over, began: a.now()}
	if forOthers := most > 0 || version != ""; forOthers && !a.begin(key, x, old) && most > 0 {
		return false
	}
	a.make(key, x, w, r)
	return true
}

// begin notes that an answer is being made in place of an old one, and reports whether that was still the last one.
func (a *Answers) begin(key string, x, old *answer) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.known[key] != old {
		return false
	}
	a.known[key] = x
	if old != nil {
		x.took = telling * time.Duration(old.told.Load())
	}
	return true
}

// maxAge returns how old an answer may be.
func maxAge(r *http.Request) time.Duration {
	for part := range strings.SplitSeq(r.Header.Get("Cache-Control"), ",") {
		if text, ok := strings.CutPrefix(strings.TrimSpace(part), "max-age="); ok {
			n, err := strconv.ParseUint(text, 10, 16)
			if err == nil {
				return time.Duration(n) * time.Second
			}
		}
	}
	return 0
}

// passes reports whether an answer, if there is one, is young enough, perhaps after it was made.
func (a *Answers) passes(x *answer, r *http.Request, most time.Duration) bool {
	if most == 0 || x == nil {
		return false
	}
	select {
	case <-x.made:
	case <-r.Context().Done():
		return false
	}
	return x.lasts() && a.rest(x, most) >= 0 && (x.over == nil || !x.over())
}

// rest is how long an answer is still passed on.
func (a *Answers) rest(x *answer, most time.Duration) time.Duration {
	return min(most, max(Shortest, times*x.took)) - a.now().Sub(x.began)
}

// age is how many seconds ago an answer was made, rounded up: a reader does not take it for newer than it is.
func (a *Answers) age(x *answer) string {
	whole := (a.now().Sub(x.began) + time.Second - 1) / time.Second
	return strconv.FormatInt(int64(max(1, whole)), 10)
}

// same returns an answer since which nothing has changed; nil: there is none.
func (a *Answers) same(key, version string) *answer {
	if version == "" {
		return nil
	}
	x := a.get(key)
	if x == nil {
		return nil
	}
	select {
	case <-x.made:
	default:
		return nil
	}
	if !x.lasts() || x.version != version || a.now().Sub(x.began) > unchanged {
		return nil
	}
	return x
}

func (a *Answers) get(key string) *answer {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.known[key]
}

// make has the next handler answer, and keeps what it says. Others have the answer before it is written: a reader who
// takes long holds nobody up.
func (a *Answers) make(key string, x *answer, w http.ResponseWriter, r *http.Request) {
	out := a.fill(key, x, r)
	if x.header != nil {
		x.write(w, r)
		return
	}
	for name, list := range out.header {
		w.Header()[name] = list
	}
	w.WriteHeader(out.status)
	_, _ = w.Write(out.body.Bytes()) // the reader may be gone
}

// fill has the next handler make an answer, which has a header then if it is no problem.
func (a *Answers) fill(key string, x *answer, r *http.Request) *inMemory {
	out := &inMemory{header: http.Header{}, status: http.StatusOK}
	defer func() {
		close(x.made)
		a.keep(key, x)
	}()
	a.next.ServeHTTP(out, r)
	x.took += a.now().Sub(x.began)
	if out.status == http.StatusOK {
		x.body, x.header = out.body.Bytes(), out.header
		sum := sha256.Sum256(x.body)
		x.tag = `"` + hex.EncodeToString(sum[:12]) + `"`
	}
	return out
}

// keep makes room for an answer, and forgets one that cannot be passed on.
func (a *Answers) keep(key string, x *answer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !x.lasts() {
		if a.known[key] == x {
			delete(a.known, key)
		}
		return
	}
	total := 0
	for _, other := range a.known {
		total += other.size()
	}
	for total > room {
		oldest := ""
		for k, other := range a.known {
			if other != x && other.size() > 0 && (oldest == "" || other.began.Before(a.known[oldest].began)) {
				oldest = k
			}
		}
		if oldest == "" {
			return
		}
		total -= a.known[oldest].size()
		delete(a.known, oldest)
	}
}

// lasts reports whether an answer that was made can be passed on: neither a problem nor a very large one.
func (x *answer) lasts() bool { return x.header != nil && len(x.body) <= largest }

// size is about how many bytes an answer takes; 0: it is being made.
func (x *answer) size() int {
	select {
	case <-x.made:
		return len(x.body) + 1000
	default:
		return 0
	}
}

// write answers a request, without the body if the reader has it.
func (x *answer) write(w http.ResponseWriter, r *http.Request) {
	x.told.Add(1)
	for name, list := range x.header {
		w.Header()[name] = list
	}
	w.Header().Set("ETag", x.tag)
	if has(r.Header.Values("If-None-Match"), x.tag) {
		w.Header().Del("Content-Type")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(x.body)))
	_, _ = w.Write(x.body) // the reader may be gone
}

// has reports whether a reader has what has a tag, by the weak comparison of RFC 9110: a proxy that compresses answers
// makes their tags weak. "*" stands for any answer.
func has(conditions []string, tag string) bool {
	rest := strings.Join(conditions, ",")
	for {
		rest = strings.TrimLeft(rest, ", \t")
		if strings.HasPrefix(rest, "*") {
			return true
		}
		text, ok := strings.CutPrefix(strings.TrimPrefix(rest, "W/"), `"`)
		end := strings.IndexByte(text, '"')
		if !ok || end < 0 {
			return false
		}
		if text[:end] == strings.Trim(tag, `"`) {
			return true
		}
		rest = text[end+1:]
	}
}

// inMemory is an answer that is not sent yet.
type inMemory struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *inMemory) Header() http.Header         { return w.header }
func (w *inMemory) WriteHeader(status int)      { w.status = status }
func (w *inMemory) Write(b []byte) (int, error) { return w.body.Write(b) }
