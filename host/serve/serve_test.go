package serve_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/host/serve"
	"github.com/tunehost/tunehost/host/serve/guard"
	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/host/view/viewtest"
)

var tokens = guard.Tokens{Full: strings.Repeat("f", 52), Read: strings.Repeat("r", 52)}

const source = `
version: 1
name: digits
objective: {metric: accuracy, mode: max}
space: {lr: {loguniform: [1e-4, 1]}, units: {int: [8, 128]}, tag: {choice: ["<script>alert(1)</script>", "x"]}}
trials: 12
trainable: {command: [train]}
`

// recorded is a folder with an experiment that has ended, and one whose host has died.
func recorded(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	w := viewtest.New(filepath.Join(root, "digits"), []byte(source), 7)
	w.Iterations, w.Files = 40, true
	w.Start(4)
	w.Run(-1)
	w.Close()
	w = viewtest.New(filepath.Join(root, "crashed"), []byte(strings.Replace(source, "digits", "crashed", 1)), 8)
	w.Start(4)
	w.Run(2)
	w.Crash()
	return root
}

// client sends requests to a server.
type client struct {
	t     *testing.T
	url   string
	token string
}

func serving(t *testing.T, folders ...string) client {
	t.Helper()
	s := serve.New(serve.Options{Folders: folders, Guard: guard.Options{Tokens: tokens}, Version: "test"})
	server := httptest.NewServer(s.Handler())
	t.Cleanup(server.Close)
	return client{t, server.URL, tokens.Full}
}

// send returns the answer to a request. The path is that below the version of the API, or whole.
func (c client) send(method, path, body string) (*http.Response, string) {
	c.t.Helper()
	if path != "/api" && !strings.HasPrefix(path, "/api/") {
		path = "/api/v1/experiments" + path
	}
	r, err := http.NewRequest(method, c.url+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+c.token)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return answer, string(text)
}

// get returns the answer to a GET, which must succeed.
func (c client) get(path string) string {
	c.t.Helper()
	a, text := c.send(http.MethodGet, path, "")
	if a.StatusCode != http.StatusOK {
		c.t.Fatalf("GET %s: %s %s", path, a.Status, text)
	}
	return strings.TrimSpace(text)
}

func marshal(t *testing.T, v any) string {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(b.String())
}

// same compares JSON.
func same(t *testing.T, what, got, want string) {
	t.Helper()
	var a, b any
	if err := json.Unmarshal([]byte(got), &a); err != nil {
		t.Fatalf("%s: %v in %s", what, err, got)
	}
	if err := json.Unmarshal([]byte(want), &b); err != nil {
		t.Fatal(err)
	}
	if x, y := marshal(t, a), marshal(t, b); x != y {
		t.Errorf("%s:\n%s\nbut the command line has\n%s", what, x, y)
	}
}

// TestSameAsTheCommandLine covers B-141: each number is the one that the command line prints, because it is
// the same JSON.
func TestSameAsTheCommandLine(t *testing.T) {
	root := recorded(t)
	c := serving(t, root)
	e, err := view.Open(filepath.Join(root, "digits"))
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	status, err := e.Status(viewtest.Epoch)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "status", c.get("/digits"), marshal(t, status))
	best, _, err := e.Best(view.Query{})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "best", c.get("/digits/best"), marshal(t, best))
	trials, err := e.Trials(view.Chosen{Sort: "accuracy", Limit: 3})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "trials", c.get("/digits/trials?sort=accuracy&limit=3"),
		`{"total":12,"found":12,"trials":`+marshal(t, trials)+`}`)
	detail, err := e.Detail(3)
	if err != nil {
		t.Fatal(err)
	}
	var shown view.Detail
	if err := json.Unmarshal([]byte(c.get("/digits/trials/3")), &struct{ Rerun *string }{&shown.Rerun}); err != nil {
		t.Fatal(err)
	}
	detail.Rerun = shown.Rerun
	same(t, "trial", c.get("/digits/trials/3"), marshal(t, detail))
	results, err := e.Curves(3, "", 10)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "results", c.get("/digits/trials/3/results?points=10"), `{"results":`+marshal(t, results)+`}`)
	shares, n, err := e.Importance(view.Query{}, 0.1)
	if err != nil || n != 12 {
		t.Fatal(n, err)
	}
	same(t, "importance", c.get("/digits/importance"), `{"trials":12,"importance":`+marshal(t, shares)+
		`,"cautions":["only 2 of 12 trials count as the best: a few more can change the shares"]}`)
	curve, err := e.Curve(view.Query{})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "curve", c.get("/digits/curve"), `{"steps":`+marshal(t, curve)+`}`)
	if got := c.get("/digits/trials/3/log"); got != "training trial 3" {
		t.Errorf("the log is %q", got)
	}
	if got := c.get("/digits/file"); got != strings.TrimSpace(source) {
		t.Errorf("the file is %q", got)
	}
}

// TestLooking covers B-140: looking writes nothing, and an experiment whose host has died is shown.
func TestLooking(t *testing.T) {
	root := recorded(t)
	before := files(t, root)
	c := serving(t, root)
	var list struct{ Experiments []struct{ ID, State string } }
	if err := json.Unmarshal([]byte(c.get("")), &list); err != nil {
		t.Fatal(err)
	}
	if x := list.Experiments; len(x) != 2 || x[0].ID != "crashed" || x[0].State != "interrupted" ||
		x[1].State != "finished" {
		t.Errorf("the list is %+v", list)
	}
	for _, path := range []string{"", "/trials", "/trials/0", "/best", "/lineage", "/pareto", "/resources", "/plugins",
		"/host-log", "/events"} {
		c.get("/crashed" + path)
	}
	if after := files(t, root); after != before {
		t.Errorf("looking has changed files: from\n%s\nto\n%s", before, after)
	}
}

// files returns all files with their sizes and times.
func files(t *testing.T, root string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.Walk(root, func(path string, info os.FileInfo, err error) error {
		if err == nil {
			b.WriteString(path + " " + info.ModTime().String() + "\n")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestEvents covers B-143: a reader that comes back continues where it was.
func TestEvents(t *testing.T) {
	c := serving(t, recorded(t))
	all := c.get("/digits/events")
	if !strings.HasSuffix(all, "event: end\ndata: {}") {
		t.Fatalf("the events do not end: %q", all[max(len(all)-100, 0):])
	}
	ids := func(text string) (list []string) {
		for line := range strings.Lines(text) {
			if id, ok := strings.CutPrefix(line, "id: "); ok {
				list = append(list, strings.TrimSpace(id))
			}
		}
		return list
	}
	every := ids(all)
	if len(every) < 12*40 {
		t.Fatalf("%d events", len(every))
	}
	if rest := ids(c.get("/digits/events?after=" + every[99])); len(rest) != len(every)-100 || rest[0] != every[100] {
		t.Errorf("after event %s come %d, from %s", every[99], len(rest), rest[0])
	}
	if rest := ids(c.get("/digits/events?after=-1")); len(rest) > 0 {
		t.Errorf("from now on there were %d events", len(rest))
	}
}

func TestMistakes(t *testing.T) {
	c := serving(t, recorded(t))
	for _, x := range []struct {
		method, path, body string
		status             int
		text               string
	}{
		{"GET", "/digit", "", 404, `there is no such experiment: "digit"; did you mean "digits"?`},
		{"GET", "/..%2fdigits", "", 404, `there is no such experiment`},
		{"GET", "/%2e%2e/trials", "", 404, ``},
		{"GET", "/digits/trials/99", "", 404, `no trial "99"`},
		{"GET", "/digits/trials?limit=x", "", 422, `limit: invalid integer`},
		{"GET", "/digits/trials?limt=1", "", 422, `limt: unknown query parameter`},
		{"GET", "/digits/trials?state=RUNING", "", 422, `did you mean "RUNNING"?`},
		{"GET", "/digits/trials?where=1%2B", "", 422, `where: column 3`},
		{"GET", "/digits/trials?sort=acuracy", "", 422, `did you mean "accuracy"?`},
		{"GET", "/digits/trials?fields=params,parms", "", 422, `did you mean "params"?`},
		{"GET", "/digits/best?metric=loss", "", 422, `metric "loss" is not an objective: use mode min or mode max`},
		{"GET", "/crashed/importance", "", 409, `importance needs 10`},
		{"GET", "/digits/curve?scope=max", "", 422, `scope: expected value to be one of "last, all"`},
		{"GET", "/digits/trials/3/results?points=1", "", 422, `expected 2 or more`},
		{"POST", "/digits/stop", "", 409, `digits is finished: there is nothing to control`},
		{"POST", "/crashed/pause", "", 409, `tunehost resume`},
		{"POST", "/crashed/trials", `{}`, 409, `trials are added while a host runs it`},
		{"POST", "/digits/trials", `{}`, 409, `digits is finished: trials are added while`},
		{"POST", "/digits/trials", "", 400, `body`},
		{"POST", "/digits/trials/3/retry", "", 409, `only a trial in ERROR can be run again`},
		{"PATCH", "/crashed/settings", `{}`, 422, `nothing is given to be set`},
		{"GET", "/digits/trials?limit=1&limit=2", "", 422, `limit: it is given 2 times`},
		{"GET", "/digits/trials?limit=%zz", "", 400, `query`},
		{"GET", "/digits/trials/3/log?rank=9", "", 404, `has one process`},
		{"DELETE", "/digits/trials/3", "", 405, `GET, HEAD`},
		{"POST", "/digits/trials/3/pause", `{"forse":true}`, 422, `unexpected property`},
		{"POST", "/digits/trials/3/pause", `{"force":`, 400, ``},
		{"POST", "/digits/trials", `{"params":{"lrr":1}}`, 422, `lrr`},
		{"PATCH", "/digits/settings", `{"":1}`, 422, `found the name "", expected names of keys`},
		{"PATCH", "/digits/settings", `{"trials=5 #":1}`, 422, `found the name "trials=5 #", expected names of keys`},
		{"PATCH", "/digits/settings", `{"seed":3}`, 422, `seed`},
		{"POST", "/digits/trials/3/pause", `{"Force":true}`, 422, `body.Force: unexpected property`},
		{"POST", "/digits/stop", `{"force":true}`, 422, `body.force: unexpected property`},
		{"POST", "/digits/interrupt", `{"x":1}`, 422, `body.x: unexpected property`},
		{"POST", "/digits/trials/3/stop", `{"x":1}`, 422, `body.x: unexpected property`},
		{"POST", "/digits/trials/3/resume", `[1]`, 422, `expected object`},
		{"POST", "/digits/trials/3/pause", `{"force":true,"force":false}`, 422, `body.force: it is given twice`},
		{"POST", "/digits/trials", `{"params":{"lr":1,"units":8,"lr":2}}`, 422, `body.params.lr: it is given twice`},
		{"PATCH", "/crashed/settings", `{"trials":20,"tri\u0061ls":21}`, 422, `body.trials: it is given twice`},
		{"GET", "/digits/trials/3/log?rank=65536", "", 422, `rank: expected number <= 65535`},
		{"GET", "/digits/trials/3/log?rank=18446744073709551616", "", 422, `rank: invalid integer`},
		{"PUT", "/digits", "", 405, `GET, HEAD`},
		{"GET", "/api/v2/experiments", "", 404, `/api/openapi.json`},
		{"GET", "/api", "", 404, `/api/openapi.json`},
		{"PUT", "/api", "", 404, `/api/openapi.json`},
		{"GET", "/digits/../crashed", "", 404, `no path with ".."`},
		{"GET", "/digits//trials", "", 404, `no path with ".."`},
		{"POST", "/digits/./stop", `{}`, 404, `no path with ".."`},
		{"GET", "/api/../x", "", 404, `no path with ".."`},
	} {
		a, text := c.send(x.method, x.path, x.body)
		var p struct {
			Detail string
			Status int
		}
		media := a.Header.Get("Content-Type")
		if err := json.Unmarshal([]byte(text), &p); err != nil || media != "application/problem+json" {
			t.Errorf("%s %s is no problem document: %s %s", x.method, x.path, a.Status, text)
		}
		if a.Request.Response != nil {
			t.Errorf("%s %s redirects to %s", x.method, x.path, a.Request.URL)
		}
		if a.StatusCode != x.status || p.Status != x.status || !strings.Contains(p.Detail, x.text) ||
			strings.Contains(p.Detail, "\n") {
			t.Errorf("%s %s: %d %q, want %d %q", x.method, x.path, a.StatusCode, p.Detail, x.status, x.text)
		}
	}
}

// TestSettings changes what the next host reads.
func TestSettings(t *testing.T) {
	c := serving(t, recorded(t))
	a, text := c.send("PATCH", "/crashed/settings", `{"trials":20}`)
	if a.StatusCode != 200 || !strings.Contains(text, `"key":"trials","old":12,"new":20`) ||
		!strings.Contains(text, `"later":true`) {
		t.Fatalf("%s %s", a.Status, text)
	}
	if _, text := c.send("PATCH", "/crashed/settings", `{"trials":20}`); !strings.Contains(text, "nothing changed") {
		t.Errorf("the second time: %s", text)
	}
}

// A program sees in each answer that the trials of a dead host do not run (B-084).
func TestTrialsOfADeadHost(t *testing.T) {
	c := serving(t, recorded(t))
	for path, want := range map[string]string{"/crashed": `"was_running":4`, "/crashed/trials": `"was_running":true`,
		"/crashed/trials/0": `"was_running":true`, "/crashed/best": `"was_running":true`,
		"/crashed/points": `"was_running":true`, "/crashed/curves": `"was_running":true`,
		"/crashed/timeline": `"was_running":true`} {
		if text := c.get(path); !strings.Contains(text, want) || !strings.Contains(text, "RUNNING") {
			t.Errorf("%s: want %s beside RUNNING: %s", path, want, text)
		}
	}
	for _, path := range []string{"/digits", "/digits/trials", "/digits/points", "/digits/curves", "/digits/timeline"} {
		if text := c.get(path); strings.Contains(text, "was_running") {
			t.Errorf("%s: nothing was running: %s", path, text)
		}
	}
}
