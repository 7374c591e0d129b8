package serve_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tunehost/tunehost/host/plugin/standard"
	"github.com/tunehost/tunehost/host/serve"
	"github.com/tunehost/tunehost/host/serve/guard"
	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

const forWorkers = `{"file": "version: 1\nname: w\nseed: 1\nobjective: {metric: loss, mode: min}\n` +
	`space: {x: {uniform: [0, 1]}}\nscheduler: {plugin: asha, max: 9}\ntrials: 40\n", "ask_and_tell": true}`

// hosting is a server that can be ended, as by the user.
func hosting(t *testing.T, root string) (client, *serve.Server) {
	t.Helper()
	s := serve.New(serve.Options{Folders: []string{root}, Guard: guard.Options{Tokens: tokens},
		Registry: standard.Plugins(), Version: "test"})
	return client{t, newServer(t, s), tokens.Full}, s
}

// newServer returns the URL of a server.
func newServer(t *testing.T, s *serve.Server) string {
	server := httptest.NewServer(s.Handler())
	t.Cleanup(func() { server.Close(); s.Close() })
	return server.URL
}

type given struct {
	Trial      string
	Params     struct{ X float64 }
	ResumeFrom uint64 `json:"resume_from"`
	Attempt    uint32
	Wait       bool
	Finished   bool
	Decision   string
	OK         bool
	Detail     string
	Status     int
}

// post returns the answer to a request of a worker.
func (c client) post(path, format string, args ...any) (g given) {
	c.t.Helper()
	_, text := c.send(http.MethodPost, path, fmt.Sprintf(format, args...))
	if err := json.Unmarshal([]byte(text), &g); err != nil {
		c.t.Errorf("%s: %v in %s", path, err, text)
	}
	return g
}

func (c client) report(g given, iteration uint64) given {
	c.t.Helper()
	return c.post("/w/trials/"+g.Trial+"/report", `{"attempt":%d,"iteration":%d,"metrics":{"loss":%g}}`, g.Attempt,
		iteration, g.Params.X+1/float64(iteration))
}

// TestWorkers covers B-125: sixteen workers train all trials over HTTP, and each result counts once though each
// report is sent twice.
func TestWorkers(t *testing.T) {
	root := t.TempDir()
	c, _ := hosting(t, root)
	if g := c.post("", forWorkers); g.Status != 0 {
		t.Fatalf("%+v", g)
	}
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() { c.train() })
	}
	all.Wait()
	e, err := view.Open(root + "/w")
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if e.State() != "finished" || e.Count() != 40 {
		t.Errorf("the experiment is %s with %d trials", e.State(), e.Count())
	}
	trials, err := e.Trials(view.Chosen{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range trials {
		if x := &trials[i]; uint64(x.Results) != x.Iteration || x.Failures != 0 {
			t.Errorf("trial %d has %d results at iteration %d", x.Number, x.Results, x.Iteration)
		}
	}
}

// train is a worker; each report is repeated, as if its answer had been lost.
func (c client) train() {
	for {
		g := c.post("/w/ask", `{}`)
		switch {
		case g.Finished:
			return
		case g.Wait:
			continue
		case g.Trial == "":
			c.t.Errorf("ask: %+v", g)
			return
		}
		for i := g.ResumeFrom + 1; ; i++ {
			d := c.report(g, i)
			if again := c.report(g, i); again.Decision != d.Decision && again.Status != 409 {
				c.t.Errorf("the repeated report of iteration %d: %+v, at first %+v", i, again, d)
			}
			if d.Decision != "continue" {
				break
			}
		}
	}
}

// TestServerRestarts: a worker that has a trial continues on its lease when the server was ended and started
// again, and nobody else gets the trial.
func TestServerRestarts(t *testing.T) {
	root := t.TempDir()
	c, s := hosting(t, root)
	c.post("", forWorkers)
	mine := c.post("/w/ask", `{}`)
	if d := c.report(mine, 1); d.Decision == "" {
		t.Fatalf("%+v", d)
	}
	mine = c.post("/w/ask", `{}`)
	s.Close()
	c, _ = hosting(t, root)
	for range 5 {
		if other := c.post("/w/ask", `{}`); other.Trial == mine.Trial || other.Trial == "" {
			t.Fatalf("another worker got %+v", other)
		}
	}
	d := c.report(mine, mine.ResumeFrom+1)
	if d.Decision == "" || d.Attempt == mine.Attempt {
		t.Fatalf("after the restart: %+v", d)
	}
}

// TestResumedForWorkers: a request to resume an experiment for workers that no host runs succeeds, and continues what
// was paused; once the server is its host, there is nothing to continue.
func TestResumedForWorkers(t *testing.T) {
	for _, paused := range []bool{false, true} {
		root := t.TempDir()
		c, s := hosting(t, root)
		c.post("", forWorkers)
		c.post("/w/ask", `{}`)
		if paused {
			if g := c.post("/w/pause", `{"force":true}`); g.Status != 0 {
				t.Fatalf("pause: %+v", g)
			}
		}
		s.Close()
		c, _ = hosting(t, root)
		a, text := c.send(http.MethodPost, "/w/resume", "")
		says := "the experiment w has a host again; its trials run as workers ask for them"
		if a.StatusCode != http.StatusOK || !strings.Contains(text, says) {
			t.Errorf("paused: %v: %s %s", paused, a.Status, text)
		}
		x := read[struct {
			State  string
			Paused bool
		}](c, "/w")
		if x.State != view.Running || x.Paused {
			t.Errorf("paused: %v: now %+v", paused, x)
		}
		if g := c.post("/w/resume", ""); g.Status != http.StatusConflict || g.Detail != "nothing is paused" {
			t.Errorf("paused: %v: once more: %+v", paused, g)
		}
	}
}

// TestMoreTrialsForWorkers: an experiment for workers that has ended continues with the next ask if more trials were
// asked for since, and not otherwise, as after a stop. What it says names what resumes it.
func TestMoreTrialsForWorkers(t *testing.T) {
	root := t.TempDir()
	c, s := hosting(t, root)
	c.post("", "%s", strings.Replace(forWorkers, "trials: 40", "trials: 1", 1))
	g := c.post("/w/ask", "{}")
	c.post("/w/trials/"+g.Trial+"/tell", `{"attempt":%d,"metrics":{"loss":1}}`, g.Attempt)
	if g := c.post("/w/ask", "{}"); !g.Finished {
		t.Fatalf("after the last trial: %+v", g)
	}
	s.Close()
	c, s = hosting(t, root)
	if g := c.post("/w/ask", "{}"); !g.Finished {
		t.Errorf("under the next server: %+v", g)
	}
	if a, text := c.send("PATCH", "/w/settings", `{"trials":3}`); a.StatusCode != http.StatusOK {
		t.Fatalf("%s %s", a.Status, text)
	}
	if g := c.post("/w/ask", "{}"); g.Finished || g.Trial == "" {
		t.Errorf("with more trials: %+v", g)
	}
	s.Close()
	c, s = hosting(t, root)
	if g := c.post("/w/pause", ""); g.Status != http.StatusConflict || strings.Contains(g.Detail, "tunehost resume") ||
		!strings.Contains(g.Detail, "`tunehost serve` or `tunehost asktell` resumes it") {
		t.Errorf("a pause of what no host runs: %+v", g)
	}
	c.post("/w/resume", "")
	if x := read[struct{ State, Waiting string }](c, "/w"); x.State != view.Running ||
		x.Waiting != "no worker trains a trial" {
		t.Errorf("without a worker: %+v", x)
	}
	c.post("/w/stop", "")
	s.Close()
	c, _ = hosting(t, root)
	if g := c.post("/w/ask", "{}"); !g.Finished {
		t.Errorf("after a stop: %+v", g)
	}
}

// TestRefusedReports: what a lost lease reports is refused, and so is what is no result.
func TestRefusedReports(t *testing.T) {
	c, _ := hosting(t, t.TempDir())
	c.post("", forWorkers)
	waits := func() string { return read[struct{ Waiting string }](c, "/w").Waiting }
	if got := waits(); got != "no worker has asked yet" {
		t.Errorf("before the first worker: %q", got)
	}
	g := c.post("/w/ask", `{"lease_s":3600}`)
	if got := waits(); got != "" {
		t.Errorf("after it: %q", got)
	}
	for _, x := range []struct {
		path, body string
		status     int
		text       string
	}{
		{"/report", `{"attempt":7,"metrics":{"loss":1}}`, 409, " has had no attempt 7: its attempt is 1"},
		{"/report", `{"attempt":1,"metrics":{}}`, 422, "metrics"},
		{"/report", `{"attempt":1,"metrics":{"loss":"much"}}`, 422, "metrics.loss"},
		{"/report", `{"attempt":1,"metrics":{"":1}}`, 422, "name"},
		{"/report", `{"attempt":1,"metrics":{"other":1}}`, 422, `the metric "loss" is missing`},
		{"/report", `{"metrics":{"loss":1}}`, 422, "attempt"},
		// as a number it would be the next, and the report of iteration 1 a repetition of it
		{"/report", `{"attempt":1,"iteration":0,"metrics":{"loss":1}}`, 422, "body.iteration"},
		{"/tell", `{"attempt":1,"iteration":0,"metrics":{"loss":1}}`, 422, "body.iteration"},
		{"/tell", `{"attempt":1,"metrics":{"loss":1},"failed":"no"}`, 422, "metrics and failed"},
		{"/tell", `{"attempt":1,"metrics":{"loss":1},"failed":""}`, 422, "metrics and failed"},
		{"/tell", `{"attempt":2}`, 409, " has had no attempt 2: its attempt is 1"},
		{"99/tell", `{"attempt":1}`, 404, "no trial"},
		{"99/report", `{"attempt":1,"metrics":{"loss":1}}`, 404, "no trial"},
	} {
		got := c.post("/w/trials/"+g.Trial+x.path, "%s", x.body)
		if got.Status != x.status || !strings.Contains(got.Detail, x.text) {
			t.Errorf("%s %s: %+v, want %d %s", x.path, x.body, got, x.status, x.text)
		}
	}
	x := c.post("/w/trials/"+g.Trial+"/report", `{"attempt":1,"iteration":1,"metrics":{"loss":"NaN"}}`)
	if x.Status != 0 {
		t.Errorf("NaN: %+v", x)
	}
}

// The end of a trial counts once: another end that is told later is ignored, and the answer says so.
func TestToldOtherwise(t *testing.T) {
	c, _ := hosting(t, t.TempDir())
	c.post("", forWorkers)
	g := c.post("/w/ask", `{"lease_s":3600}`)
	tell := func(body string) string {
		a, text := c.send("POST", "/w/trials/"+g.Trial+"/tell", body)
		if a.StatusCode != http.StatusOK {
			t.Errorf("%s: %s", body, text)
		}
		return text
	}
	const failed, value = `{"attempt":1,"failed":"oom"}`, `{"attempt":1,"metrics":{"loss":0.001}}`
	if first, again := tell(failed), tell(failed); strings.Contains(first+again, "ignored") {
		t.Errorf("%s, %s", first, again)
	}
	if text := tell(value); !strings.Contains(text, `has ended before: oom`) {
		t.Error(text)
	}
}

// A trial of which a worker says that it has failed has, also without a reason: the text of many exceptions is empty.
func TestFailedWithoutReason(t *testing.T) {
	c, _ := hosting(t, t.TempDir())
	c.post("", forWorkers)
	g := c.post("/w/ask", "{}")
	for range 2 {
		if x := c.post("/w/trials/"+g.Trial+"/tell", `{"attempt":1,"failed":""}`); !x.OK || x.Status != 0 {
			t.Errorf("%+v", x)
		}
	}
	x := read[struct{ State, Error string }](c, "/w/trials/"+g.Trial)
	if x.State != "ERROR" || x.Error != "failed" {
		t.Errorf("%+v", x)
	}
}

// A trial's last result counts once: another one that is told later is ignored, and the answer says so.
func TestToldOtherMetrics(t *testing.T) {
	c, _ := hosting(t, t.TempDir())
	c.post("", forWorkers)
	g := c.post("/w/ask", `{"lease_s":3600}`)
	tell := func(metrics string) (int, string) {
		a, text := c.send("POST", "/w/trials/"+g.Trial+"/tell", `{"attempt":1,"metrics":`+metrics+`}`)
		return a.StatusCode, text
	}
	var many strings.Builder
	for i := range 20_001 {
		fmt.Fprintf(&many, `"m%d":1,`, i)
	}
	if status, text := tell(`{` + many.String() + `"loss":1}`); status != 422 ||
		!strings.Contains(text, "a result has 20002 metrics; at most 10000") {
		t.Errorf("20,002 metrics: %d %.300s", status, text)
	}
	if status, text := tell(`{"other":1}`); status != 422 || !strings.Contains(text, `the metric \"loss\" is missing`) {
		t.Errorf("another metric: %d %s", status, text)
	}
	for i, x := range []struct {
		metrics string
		ignored bool
	}{{`{"loss":0.5}`, false}, {`{"loss":0.5}`, false}, {`{"loss":0.25}`, true}, {`{"loss":0.5,"more":1}`, true},
		{`{"other":1}`, true}} {
		status, text := tell(x.metrics)
		if status != http.StatusOK || strings.Contains(text, "has ended before") != x.ignored {
			t.Errorf("tell %d of %s: %d %s", i, x.metrics, status, text)
		}
	}
}

// TestRepeatedRequests covers B-144.
func TestRepeatedRequests(t *testing.T) {
	c, _ := hosting(t, t.TempDir())
	c.post("", forWorkers)
	send := func(key, body string) (int, string, string) {
		r, err := http.NewRequest("POST", c.url+"/api/v1/experiments/w/trials", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+c.token)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Idempotency-Key", key)
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Body.Close()
		var x struct{ Message, Detail string }
		if err := json.NewDecoder(a.Body).Decode(&x); err != nil {
			t.Fatal(err)
		}
		return a.StatusCode, x.Message + x.Detail, a.Header.Get("Idempotent-Replayed")
	}
	status, first, _ := send("k", `{"params":{"x":0.5}}`)
	if status != 200 || !strings.Contains(first, "added trial") {
		t.Fatal(status, first)
	}
	if _, again, replayed := send("k", `{"params":{"x":0.5}}`); again != first || replayed != "true" {
		t.Errorf("the repeated request: %s, at first %s", again, first)
	}
	status, text, _ := send("k", `{"params":{"x":0.6}}`)
	if status != 422 || !strings.Contains(text, "another request") {
		t.Errorf("another request with the key: %d %s", status, text)
	}
	if _, other, _ := send("l", `{"params":{"x":0.5}}`); other == first {
		t.Errorf("another key: %s", other)
	}
}

// B-144: servers of the same user share the keys of requests, also if one shows the folder and the other one
// the experiment alone.
func TestKeysOfTwoServers(t *testing.T) {
	root, keys := recorded(t), t.TempDir()
	for i, folders := range [][]string{{root}, {root}, {root + "/crashed"}, {t.TempDir(), root}} {
		s := serve.New(serve.Options{Folders: folders, Guard: guard.Options{Tokens: tokens}, Keys: keys})
		c := client{t, newServer(t, s), tokens.Full}
		r, err := http.NewRequestWithContext(t.Context(), "PATCH", c.url+"/api/v1/experiments/crashed/settings",
			strings.NewReader(`{"trials":20}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+c.token)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Idempotency-Key", "k")
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = a.Body.Close()
		if replayed := a.Header.Get("Idempotent-Replayed") == "true"; a.StatusCode != 200 || replayed != (i > 0) {
			t.Errorf("server %d: %s, replayed: %v", i, a.Status, replayed)
		}
	}
}

// The answer to a change of settings has the warnings of the command, as when fewer trials are planned than there are.
func TestSettingsWarnings(t *testing.T) {
	c := serving(t, recorded(t))
	a, text := c.send("PATCH", "/digits/settings", `{"trials":2}`)
	if a.StatusCode != http.StatusOK || !strings.Contains(text,
		`"warnings":["trials: 2 are planned now, but there are 12 already: none is removed"]`) {
		t.Errorf("%s %s", a.Status, text)
	}
}

// TestWorkersSettings: settings of an experiment for workers change at once, and stay when the server ends.
func TestWorkersSettings(t *testing.T) {
	root := t.TempDir()
	c, s := hosting(t, root)
	c.post("", forWorkers)
	c.post("/w/ask", "")
	a, text := c.send("PATCH", "/w/settings", `{"trials":41}`)
	if a.StatusCode != http.StatusOK || !strings.Contains(text, `"key":"trials","old":40,"new":41`) ||
		strings.Contains(text, "later") {
		t.Fatalf("%s %s", a.Status, text)
	}
	if a, text := c.send("PATCH", "/w/settings", `{"trials":0}`); a.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("no trials: %s %s", a.Status, text)
	}
	planned := func(c client) int { return read[struct{ Planned int }](c, "/w").Planned }
	if n := planned(c); n != 41 {
		t.Errorf("%d trials are planned", n)
	}
	s.Close()
	c, _ = hosting(t, root)
	if g := c.post("/w/ask", ""); g.Status != 0 || planned(c) != 41 {
		t.Errorf("under the next server: %+v, %d trials are planned", g, planned(c))
	}
}

// A failed trial of workers runs again over HTTP, also when the experiment has ended; so do trials that never started.
func TestWorkersTrialRunsAgain(t *testing.T) {
	root := t.TempDir()
	c, s := hosting(t, root)
	c.post("", `{"file": "version: 1\nname: w\nobjective: {metric: loss, mode: min}\nspace: {x: {uniform: [0, 1]}}\n`+
		`trials: 2\n", "ask_and_tell": true}`)
	fail := func() {
		t.Helper()
		g := c.post("/w/ask", "{}")
		if x := c.post("/w/trials/"+g.Trial+"/tell", `{"attempt":%d,"failed":"oom"}`, g.Attempt); !x.OK {
			t.Fatalf("%+v of %+v", x, g)
		}
	}
	fail()
	fail()
	states := func() map[string]int {
		return read[struct{ Counts map[string]int }](c, "/w").Counts
	}
	s.Close()
	c, s = hosting(t, root)
	if n := states()["ERROR"]; n != 2 {
		t.Fatalf("%d have failed", n)
	}
	_, text := c.send("POST", "/w/trials/1/retry", "")
	if !strings.Contains(text, "trial 1") || !strings.Contains(text, "runs again once a worker asks for it") {
		t.Error(text)
	}
	if x := states(); x["ERROR"] != 1 || x["PENDING"] != 1 {
		t.Errorf("after a retry of one: %v", x)
	}
	if a, text := c.send("POST", "/w/resume", `{"errored":true}`); a.StatusCode != http.StatusConflict {
		t.Errorf("while the server is the host: %s %s", a.Status, text)
	}
	fail()
	s.Close()
	c, _ = hosting(t, root)
	c.post("/w/resume", `{"errored":true}`)
	if x := states(); x["PENDING"] != 2 {
		t.Errorf("after a resume with errored: %v", x)
	}
	c.post("/w/stop", "")
	if x := states(); x["TERMINATED"] != 2 {
		t.Errorf("after a stop: %v", x)
	}
}

// slow is a searcher that takes its time.
type slow struct{ begun, goOn chan struct{} }

func (slow) Observe(context.Context, []sdk.Event) error { return nil }

func (x slow) Suggest(_ context.Context, requests []sdk.Request) (s sdk.Suggestions, _ error) {
	close(x.begun)
	<-x.goOn
	for range requests {
		s.Points = append(s.Points, space.Point{0.5})
	}
	return s, nil
}

// TestSlowPluginOfAnother: workers do not wait for a plugin of another experiment, for which the server waits.
func TestSlowPluginOfAnother(t *testing.T) {
	x := slow{make(chan struct{}), make(chan struct{})}
	searcher := sdk.SearcherPlugin{
		Info: sdk.Info{Name: "slow", Version: "1.0.0", Options: []byte(`{"type": "object"}`)},
		Open: func(sdk.Problem, []byte) (sdk.Searcher, sdk.Traits, error) { return x, sdk.Traits{}, nil }}
	s := serve.New(serve.Options{Folders: []string{t.TempDir()}, Guard: guard.Options{Tokens: tokens},
		Registry: standard.Plugins(searcher), Version: "test"})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() { _ = s.Serve(ctx, l) })
	c := client{t, "http://" + l.Addr().String(), tokens.Full}
	c.post("", "%s", strings.NewReplacer("name: w", "name: slow", "asha", "fifo", ", max: 9", "", "trials: 40",
		"searcher: slow\\ntrials: 1").Replace(forWorkers))
	c.post("", "%s", forWorkers)
	all.Go(func() {
		if g := c.post("/slow/ask", `{}`); g.Trial == "" {
			t.Errorf("the slow searcher's trial: %+v", g)
		}
	})
	<-x.begun
	time.Sleep(1100 * time.Millisecond) // the server looks for leases that have ended
	answered := make(chan struct{})
	all.Go(func() {
		defer close(answered)
		if g := c.post("/w/ask", `{}`); g.Trial == "" {
			t.Errorf("%+v", g)
		}
	})
	select {
	case <-answered:
	case <-time.After(10 * time.Second):
		t.Error("a worker waits for the searcher of another experiment")
	}
	close(x.goOn)
	<-answered
	end()
	all.Wait()
}

// A second server of the folder says why it cannot steer an experiment whose workers another one has: its page has no
// buttons that would be refused.
func TestSecondServerCannotSteer(t *testing.T) {
	root := t.TempDir()
	c, _ := hosting(t, root)
	c.post("", forWorkers)
	c.post("/w/ask", `{}`)
	other, _ := hosting(t, root)
	for who, want := range map[client]bool{c: false, other: true} {
		_, text := who.send(http.MethodGet, "/w", "")
		var status struct{ State, Unsteerable string }
		if err := json.Unmarshal([]byte(text), &status); err != nil || status.State != "running" {
			t.Fatalf("%v in %s", err, text)
		}
		if strings.Contains(status.Unsteerable, "open the URL that that one has printed") != want {
			t.Errorf("the second one %v: %q", want, status.Unsteerable)
		}
	}
}

// While all trials are with workers or wait, the list says so of the experiment.
func TestListSaysWhatWaits(t *testing.T) {
	c, _ := hosting(t, t.TempDir())
	c.post("", forWorkers)
	if text := c.get(""); !strings.Contains(text, `"waiting":"no worker has asked yet"`) {
		t.Error(text)
	}
	c.post("/w/ask", `{}`)
	if text := c.get(""); strings.Contains(text, `"waiting"`) {
		t.Error(text)
	}
}

// What a worker says wrong is told in words that say what is right.
func TestMetricsOfAnotherKind(t *testing.T) {
	c, _ := hosting(t, t.TempDir())
	c.post("", forWorkers)
	g := c.post("/w/ask", `{}`)
	for _, value := range []string{`"x"`, "true", "null", "[1]"} {
		for _, what := range []string{"report", "tell"} {
			a := c.post("/w/trials/"+g.Trial+"/"+what, `{"attempt":1,"metrics":{"loss":%s}}`, value)
			want := "body.metrics.loss: expected a number, or NaN, Infinity or -Infinity as a text"
			if a.Status != http.StatusUnprocessableEntity || a.Detail != want {
				t.Errorf("%s of %s: %+v", what, value, a)
			}
		}
	}
}

// A trainable in the file of an experiment for workers is not used, and who began it is told so.
func TestTrainableForWorkers(t *testing.T) {
	c, _ := hosting(t, t.TempDir())
	var x struct{ Warnings []string }
	with := strings.Replace(forWorkers, "trials: 40", `trainable: {plugin: digits}`, 1)
	for _, file := range []string{forWorkers, with} {
		x.Warnings = nil
		a, text := c.send(http.MethodPost, "", file)
		if err := json.Unmarshal([]byte(text), &x); err != nil || a.StatusCode != http.StatusCreated {
			t.Fatal(err, text)
		}
		if used := file == forWorkers; len(x.Warnings) > 0 == used ||
			!used && !strings.HasPrefix(x.Warnings[0], "experiment.yaml:7:1: trainable: it is not used") {
			t.Errorf("%s: %q", file, x.Warnings)
		}
	}
}
