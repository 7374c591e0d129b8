package serve_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/host/plugin/standard"
	"github.com/tunehost/tunehost/host/serve"
	"github.com/tunehost/tunehost/host/serve/guard"
	"github.com/tunehost/tunehost/host/view/viewtest"
)

// changing are the paths that read a body; none of them can change an experiment that has ended.
var changing = []string{"/stop", "/interrupt", "/pause", "/resume", "/trials", "/ask", "/trials/1/stop",
	"/trials/1/pause", "/trials/1/resume", "/trials/1/retry", "/trials/1/clone", "/trials/1/report", "/trials/1/tell"}

// fuzzed is a server of one experiment. One that is single begins no others: hosts are processes of their own.
func fuzzed(f *testing.F, single bool) http.Handler {
	f.Helper()
	root := f.TempDir()
	w := viewtest.New(filepath.Join(root, "digits"), []byte(source), 7)
	w.Start(4)
	w.Run(-1)
	w.Close()
	s := serve.New(serve.Options{Folders: []string{root}, Guard: guard.Options{Tokens: tokens},
		Registry: standard.Plugins(), Single: single, Version: "test"})
	f.Cleanup(s.Close)
	return s.Handler()
}

// answers checks that a request is answered, and with a problem document if it is refused.
func answers(t *testing.T, h http.Handler, r *http.Request) {
	t.Helper()
	r.Header.Set("Authorization", "Bearer "+tokens.Full)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	var p struct{ Detail string }
	switch {
	case w.Code >= 500:
		t.Errorf("%s %s: %d %s", r.Method, r.URL, w.Code, w.Body)
	case w.Code < 400:
	case json.Unmarshal(w.Body.Bytes(), &p) != nil || p.Detail == "" || strings.Contains(p.Detail, "\n"):
		t.Errorf("%s %s: %d %s is no problem in one line", r.Method, r.URL, w.Code, w.Body)
	}
}

// FuzzBody sends bodies to all paths that take one.
func FuzzBody(f *testing.F) {
	h := fuzzed(f, false)
	for i, body := range []string{``, `{}`, `null`, `{"force":true}`, `{"params":{"lr":1e999}}`, `{"params":null}`,
		`{"attempt":1,"iteration":18446744073709551615,"metrics":{"accuracy":"NaN"}}`,
		`{"attempt":-1}`, `{"lease_s":1e300}`,
		`{"attempt":1,"metrics":{"a\u0000b":1}}`, `[]`, `{"trials":20}`, strings.Repeat(`{"params":`, 1000)} {
		f.Add(uint(i), body)
	}
	f.Fuzz(func(t *testing.T, which uint, body string) {
		path := changing[which%uint(len(changing))]
		r := httptest.NewRequest("POST", "http://localhost/api/v1/experiments/digits"+path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		answers(t, h, r)
	})
}

// FuzzSettings sends bodies that set, and bodies that begin experiments, to a server that shows one experiment.
func FuzzSettings(f *testing.F) {
	h := fuzzed(f, true)
	for i, body := range []string{``, `{}`, `null`, `{"trials":20}`, `{"trials":null,"stop.iteration":1e99}`,
		`{"":1,"a..b":2,"stop":{"iteration":{}}}`, `{"seed":"x","name":"\u0000"}`,
		`{"concurrency":-1,"budget.time":"1y"}`,
		`{"file":"version: 1","set":{"trials":[1]}}`, `{"file":1}`, `{"file":"","name":"../x","ask_and_tell":"yes"}`} {
		f.Add(i%2 == 0, body)
		f.Add(i%2 == 1, body)
	}
	f.Fuzz(func(t *testing.T, set bool, body string) {
		method, path := "POST", ""
		if set {
			method, path = "PATCH", "/digits/settings"
		}
		r := httptest.NewRequest(method, "http://localhost/api/v1/experiments"+path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		answers(t, h, r)
	})
}

// FuzzQuery sends names and queries to the paths that read.
func FuzzQuery(f *testing.F) {
	h := fuzzed(f, false)
	reading := []string{"", "/trials", "/trials/1/results", "/best", "/curve", "/importance", "/pareto",
		"/trials/1/log",
		"/host-log", "/events", "/space", "/curves", "/history", "/timeline", "/journal", "/lineage"}
	f.Add(uint(1), "digits", "where=lr+%3E+0.1&sort=-lr&fields=params&state=RUNNING")
	f.Add(uint(2), "..%2f..", "points=3&metric=loss")
	f.Add(uint(3), "digits", "scope=mean&mode=max&metric=%00")
	f.Add(uint(5), "digits", "top=NaN")
	f.Add(uint(7), "digits", "tail=-1&rank=70000&stream=x")
	f.Add(uint(9), "digits", "after=9223372036854775807")
	f.Add(uint(11), "digits", "points=3&trials=1&where=lr>0.1")
	f.Add(uint(12), "digits", "points=3&scope=max&metric=loss&mode=min")
	f.Add(uint(13), "digits", "from_s=1e308&to_s=NaN&limit=1")
	f.Add(uint(14), "digits", "after=-9223372036854775808&trial=x")
	f.Add(uint(15), "digits", "limit=1")
	f.Fuzz(func(t *testing.T, which uint, name, query string) {
		at, err := url.Parse("http://localhost/api/v1/experiments/" + url.PathEscape(name) +
			reading[which%uint(len(reading))])
		if err != nil || strings.Contains(query, "follow") {
			return
		}
		at.RawQuery = query
		r := httptest.NewRequest("GET", "http://localhost/", nil)
		r.URL = at
		answers(t, h, r)
	})
}
