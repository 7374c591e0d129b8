package host

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/asktell"
	"github.com/tunehost/tunehost/host/options"
	"github.com/tunehost/tunehost/host/view"
)

// caller speaks the protocol to a session of its own.
type caller struct {
	t      *testing.T
	in     *io.PipeWriter
	out    *bufio.Reader
	ended  chan error
	cancel context.CancelFunc
	script strings.Builder // requests and answers so far
}

// reply is any answer.
type reply struct {
	Trial      string
	Number     *int
	Params     map[string]any
	ResumeFrom int `json:"resume_from"`
	Wait       bool
	Finished   bool
	Decision   string
	OK         bool
	Ignored    string
	Metrics    map[string]any
	Error      string
}

// inMemory is for an experiment in its first line.
func inMemory() Options {
	return Options{File: "-", Storage: "none", Plugins: testPlugins,
		Output: Output{Stderr: os.Stderr, Verbose: 1}, Mode: options.Mode{InProcess: true}}
}

func call(t *testing.T, o Options) *caller {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	toHost, in := io.Pipe()
	out, fromHost := io.Pipe()
	c := &caller{t: t, in: in, out: bufio.NewReader(out), ended: make(chan error, 1), cancel: cancel}
	over := make(chan struct{})
	go func() {
		defer close(over)
		err := asktell.Run(ctx, toHost, fromHost, o)
		_ = fromHost.CloseWithError(io.EOF)
		_ = toHost.Close()
		c.ended <- err
	}()
	t.Cleanup(func() {
		cancel()
		<-over
	})
	return c
}

func (c *caller) send(line string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		c.t.Fatalf("%s: %v, the session ended with %v", line, err, <-c.ended)
	}
}

func (c *caller) ask(line string, args ...any) (r reply) {
	c.t.Helper()
	line = fmt.Sprintf(line, args...)
	c.send(line)
	answer, err := c.out.ReadString('\n')
	if err != nil {
		c.t.Fatalf("%s: %v, the session ended with %v", line, err, <-c.ended)
	}
	fmt.Fprintf(&c.script, "%s\n\t%s", line, answer)
	if err := json.Unmarshal([]byte(answer), &r); err != nil {
		c.t.Fatalf("%s: %s: %v", line, answer, err)
	}
	return r
}

// trial asks for one, which must be there.
func (c *caller) trial() reply {
	c.t.Helper()
	r := c.ask(`{"ask":true}`)
	if r.Trial == "" {
		c.t.Fatalf("no trial: %+v", r)
	}
	return r
}

func (c *caller) end() error {
	_ = c.in.Close()
	return <-c.ended
}

func (c *caller) endWell() {
	c.t.Helper()
	if err := c.end(); err != nil {
		c.t.Fatal(err)
	}
}

const single = `{"version":1,"name":"b","seed":7,"objective":{"metric":"value","mode":"min"},"strict_metrics":false,` +
	`"space":{"x":{"uniform":[0,1]},"kind":{"choice":["a","b"]}},"searcher":"random"%s}`

func TestAskTellOneByOne(t *testing.T) {
	c := call(t, inMemory())
	c.send(fmt.Sprintf(single, `,"trials":100`))
	best, name := math.Inf(1), ""
	for i := range 100 {
		r := c.trial()
		if *r.Number != i || r.ResumeFrom != 0 {
			t.Fatalf("trial %d is %+v", i, r)
		}
		x := r.Params["x"].(float64)
		if x < best {
			best, name = x, r.Trial
		}
		if r := c.ask(`{"tell":%q,"metrics":{"value":%v}}`, r.Trial, x); !r.OK {
			t.Fatalf("told: %+v", r)
		}
	}
	if r := c.ask(`{"ask":true}`); !r.Finished {
		t.Fatalf("after the last: %+v", r)
	}
	if r := c.ask(`{"best":true}`); r.Trial != name || r.Metrics["value"] != best || r.Params["x"] != best {
		t.Fatalf("best is %+v, want %s with %v", r, name, best)
	}
	c.endWell()
}

// B-103
func TestAskTellEightAtATime(t *testing.T) {
	c := call(t, inMemory())
	c.send(fmt.Sprintf(single, `,"trials":30,"concurrency":8`))
	var out []string
	told := 0
	for asked := 0; told < 30; {
		r := c.ask(`{"ask":true}`)
		if r.Trial != "" {
			asked++
			if out = append(out, r.Trial); len(out) > 8 {
				t.Fatalf("%d trials at a time", len(out))
			}
			continue
		}
		if !r.Wait || len(out) < min(8, 30-told) {
			t.Fatalf("%+v with %d trials out and %d told", r, len(out), told)
		}
		i := told * 5 % len(out) // in another order than they were asked for
		c.ask(`{"tell":%q,"metrics":{"value":%d}}`, out[i], told)
		out = append(out[:i], out[i+1:]...)
		told++
	}
	if r := c.ask(`{"ask":true}`); !r.Finished {
		t.Fatalf("after the last: %+v", r)
	}
	c.endWell()
}

func TestAskTellMistakes(t *testing.T) {
	c := call(t, inMemory())
	c.send(strings.Replace(fmt.Sprintf(single, `,"trials":5,"scheduler":{"plugin":"asha","max":9}`),
		`"strict_metrics":false,`, "", 1))
	first, second := c.trial(), c.trial()
	if r := c.ask(`{"report":%q,"metrics":{"value":1}}`, first.Trial); r.Decision != "continue" {
		t.Fatalf("%+v", r)
	}
	if r := c.ask(`{"report":%q,"metrics":{"value":2}}`, second.Trial); r.Decision != "stop" {
		t.Fatalf("%+v", r)
	}
	before := c.ask(`{"best":true}`)
	for _, test := range []struct{ request, want string }{
		{`nonsense`, "not JSON"},
		{`[1]`, "not a JSON object"},
		{`{}`, "not a request"},
		{`{"ask":false}`, `"ask" is not true`},
		{`{"ask":true,"best":true}`, "in one request"},
		{`{"ask":true,"metrics":{"value":1}}`, "takes no metrics"},
		{`{"ask":true,"many":2}`, `unknown key "many"`},
		{`{"ask":true,"time":-1}`, `"time" is not`},
		{`{"ask":true,"time":"soon"}`, `"time" is not`},
		{`{"report":"none","metrics":{"value":1}}`, `no trial "none"`},
		{`{"report":77,"metrics":{"value":1}}`, `no trial "77"`},
		{`{"report":2,"metrics":{"value":1}}`, `no trial "2"`},
		{`{"report":true,"metrics":{"value":1}}`, "neither a trial's id nor its number"},
		{`{"report":0}`, "no metrics"},
		{`{"report":0,"metrics":{"value":"low"}}`, "not a number"},
		{`{"report":0,"metrics":{"value":1},"iteration":1.5}`, "iteration 1.5 is not"},
		{`{"report":0,"metrics":{"value":1},"checkpoint":"here"}`, `unknown key "checkpoint"`},
		{`{"report":0,"metrics":{"loss":1}}`, `the metric "value" is missing, which the objective needs`},
		{`{"tell":0,"metrics":{"loss":1}}`, `the metric "value" is missing`},
		{`{"tell":0,"metrics":{"value":1},"failed":"so"}`, "metrics and failed"},
		{`{"tell":1,"metrics":{"value":1}}`, "has ended: "},
		{`{"report":1,"metrics":{"value":1}}`, "has ended: "},
		{`{"ask":true,"` + strings.Repeat("x", 2<<20) + `":1}`, "longer than"},
	} {
		if r := c.ask("%s", test.request); !strings.Contains(r.Error, test.want) || strings.Contains(r.Error, "\n") {
			t.Errorf("%.80s: %q, want %q", test.request, r.Error, test.want)
		}
	}
	if after := c.ask(`{"best":true}`); after.Trial != before.Trial || after.Trial != first.Trial {
		t.Errorf("mistakes have changed the best trial from %+v to %+v", before, after)
	}
	if r := c.ask(`{"tell":0,"metrics":{"value":0}}`); !r.OK {
		t.Errorf("the session does not continue: %+v", r)
	}
	c.endWell()
}

func TestAskTellFailuresAndNumbers(t *testing.T) {
	c := call(t, inMemory())
	c.send(fmt.Sprintf(single, `,"trials":4,"failures":{"retries":1}`))
	first := c.trial()
	if r := c.ask(`{"best":true}`); r.Trial != "" || r.Error != "" {
		t.Fatalf("the best of nothing: %+v", r)
	}
	c.ask(`{"report":%q,"metrics":{"value":3},"iteration":5}`, first.Trial)
	c.ask(`{"tell":0,"failed":"out of\nmemory"}`)
	// B-071: it is retried, from its beginning: its state is lost.
	if r := c.trial(); r.Trial != first.Trial || r.ResumeFrom != 0 {
		t.Fatalf("the retry is %+v", r)
	}
	c.ask(`{"tell":0,"failed":true}`)
	if r := c.ask(`{"tell":0,"failed":true}`); !strings.HasSuffix(r.Error, "has ended: failed") {
		t.Fatalf("%+v", r)
	}
	second := c.trial()
	if r := c.ask(`{"tell":1,"metrics":{"value":NaN,"deep":{"er":-Infinity},"n":"NaN"}}`); !r.OK {
		t.Fatalf("%+v", r)
	}
	third := c.trial()
	c.ask(`{"tell":%q,"metrics":{"value":2,"deep":{"er":Infinity},"n":NaN}}`, third.Trial)
	r := c.ask(`{"best":true}`)
	if r.Trial != third.Trial || r.Metrics["deep/er"] != "Infinity" || r.Metrics["n"] != "NaN" ||
		second.Trial == third.Trial {
		t.Fatalf("%+v", r)
	}
	c.endWell()
}

// Iterations of a trial grow while the caller has it: one that does not is refused, and changes nothing.
func TestAskTellIterationsGrow(t *testing.T) {
	c := call(t, inMemory())
	c.send(fmt.Sprintf(single, `,"trials":2,"failures":{"retries":1}`))
	trial := c.trial().Trial
	report := func(kind string, iteration int) reply {
		return c.ask(`{%q:%q,"metrics":{"value":%d},"iteration":%d}`, kind, trial, iteration, iteration)
	}
	report("report", 5)
	for kind, iterations := range map[string][]int{"report": {1, 4, 5}, "tell": {1, 4}} {
		for _, i := range iterations {
			want := fmt.Sprintf("iteration %d of trial 0 (%s) is not after 5, its last one: count on, or leave "+
				"iteration out", i, trial)
			if r := report(kind, i); r.Error != want {
				t.Errorf("%s %d: %+v", kind, i, r)
			}
		}
	}
	c.ask(`{"tell":%q,"failed":"so"}`, trial)
	if r := c.trial(); r.Trial != trial {
		t.Fatalf("%+v", r)
	}
	for _, i := range []int{1, 2, 7} { // the retry begins anew
		if r := report("report", i); r.Decision != "continue" {
			t.Errorf("%d: %+v", i, r)
		}
	}
	if r := report("tell", 7); !r.OK {
		t.Errorf("%+v", r)
	}
	c.ask(`{"tell":%q,"failed":"so"}`, c.trial().Trial)
	c.endWell()
}

// TestAskTellLastResult: what was reported is not told a second time.
func TestAskTellLastResult(t *testing.T) {
	o := kept(t, fmt.Sprintf(single, `,"trials":4`))
	c := call(t, o)
	for _, last := range []string{``, `,"metrics":{"value":2}`, `,"metrics":{"value":2},"iteration":2`,
		`,"metrics":{"value":1}`} {
		r := c.trial()
		c.ask(`{"report":%q,"metrics":{"value":3}}`, r.Trial)
		c.ask(`{"report":%q,"metrics":{"value":2}}`, r.Trial)
		if r := c.ask(`{"tell":%q%s}`, r.Trial, last); !r.OK || r.Ignored != "" {
			t.Fatalf("%s: %+v", last, r)
		}
	}
	c.endWell()
	e := open(t, o)
	for no, want := range []uint64{2, 2, 2, 3} {
		if v := e.Now().Machine.View(core.TrialNo(no)); v.Iteration != want || v.State != core.Terminated {
			t.Errorf("trial %d is %s at %d, want %d", no, v.State, v.Iteration, want)
		}
	}
}

// kept is an experiment in a file, which is recorded.
func kept(t *testing.T, text string) Options {
	o := write(t, text)
	o.Name, o.Mode.InProcess = "kept", true
	return o
}

func open(t *testing.T, o Options) *view.Recorded {
	t.Helper()
	e, err := view.Open(filepath.Join(o.Storage, o.Name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

func TestAskTellBadStarts(t *testing.T) {
	for _, test := range []struct{ name, input, want string }{
		{"nothing", "", "the first line is one, as JSON"},
		{"no JSON", "{\n", "stdin:1:"},
		{"a mistake", `{"version":1,"objective":{"metric":"a","mode":"most"}}` + "\n", "stdin:1:"},
		{"an unknown searcher", fmt.Sprintf(single, `,"scheduler":"ahsa"`) + "\n", `no scheduler "ahsa"`},
		{"too long", strings.Repeat("x", 2<<20) + "\n", "longer than"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out strings.Builder
			err := asktell.Run(t.Context(), strings.NewReader(test.input), &out, inMemory())
			if _, user := errors.AsType[*UserError](err); !user || !strings.Contains(err.Error(), test.want) ||
				out.Len() > 0 {
				t.Errorf("%v and %q, want %q", err, out.String(), test.want)
			}
		})
	}
}

// TestAskTellCancelled: a plugin call that waits for the caller can be cancelled.
func TestAskTellCancelled(t *testing.T) {
	o := kept(t, fmt.Sprintf(single, `,"trials":4`))
	c := call(t, o)
	c.trial()
	c.cancel()
	if err := <-c.ended; !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if s := open(t, o).State(); s != "interrupted" {
		t.Fatalf("it is %s", s)
	}
}

// B-073
func TestAskTellFailFastRaise(t *testing.T) {
	c := call(t, inMemory())
	c.send(fmt.Sprintf(single, `,"trials":4,"failures":{"fail_fast":"raise"}`))
	c.trial()
	c.trial()
	if r := c.ask(`{"tell":0,"failed":"no such data"}`); r.Error != "no such data" {
		t.Fatalf("%+v", r)
	}
	if err := <-c.ended; err == nil || err.Error() != "no such data" {
		t.Fatal(err)
	}
}

// A request that is refused does not move the clock of the experiment: its budget of time is as before.
func TestRefusedTimeDoesNotCount(t *testing.T) {
	c := call(t, inMemory())
	c.send(`{"version":1,"name":"b","objective":{"metric":"loss","mode":"min"},"space":{"x":{"uniform":[0,1]}},` +
		`"trials":9,"budget":{"time":"1h"}}`)
	first := c.ask(`{"ask":true,"time":1}`)
	for _, request := range []string{`{"tell":"zzz","metrics":{"loss":1},"time":1e6}`,
		`{"report":"zzz","metrics":{"loss":1},"time":1e6}`, `{"tell":%q,"metrics":{"other":1},"time":1e6}`,
		`{"report":%q,"metrics":{"other":1},"time":1e6}`} {
		if strings.Contains(request, "%q") {
			request = fmt.Sprintf(request, first.Trial)
		}
		if r := c.ask("%s", request); r.Error == "" {
			t.Errorf("%s: %+v, want an error", request, r)
		}
	}
	if r := c.ask(`{"ask":true,"time":2}`); r.Trial == "" {
		t.Errorf("no further trial after refused requests: %+v", r)
	}
	c.endWell()
}
