package asktell

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk"
)

func FuzzParse(f *testing.F) {
	for _, line := range []string{
		`{"ask":true,"time":1.5}`, `{"report":"a","metrics":{"x":NaN,"y":{"z":1}},"iteration":3}`,
		`{"tell":3,"failed":null}`,
		`{"tell":"a","metrics":{}}`, `{"best":true}`, `{"tell":"a","failed":"NaN"}`, `{"report":1e99}`,
		"{\"ask\":true}{}", "{\"a\nb\":1}",
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		r, err := Parse(line)
		switch {
		case err != nil && strings.Contains(err.Error(), "\n"):
			t.Errorf("an error of several lines: %q", err)
		case err == nil && r.Kind == "":
			t.Errorf("%q is no request and no mistake", line)
		case err == nil && (r.Kind == Report || r.Kind == Tell) && r.Trial == (Name{}) &&
			!strings.Contains(string(line), `""`):
			t.Errorf("%q names no trial", line)
		case r.HasTime && r.Time < 0:
			t.Errorf("%q has the time %d", line, r.Time)
		}
	})
}

// A number that no float64 has is refused, with its place: in a report of a program it is infinite. Infinity itself
// is what the caller says.
func TestTooLarge(t *testing.T) {
	for line, want := range map[string]string{
		`{"tell":1,"metrics":{"loss":1e999}}`:             "metrics.loss: the number 1e999 is too large",
		`{"report":1,"metrics":{"a":{"b":-1e400}}}`:       "metrics.a.b: the number -1e400 is too large",
		`{"ask":true,"time":1e999}`:                       "time: the number 1e999 is too large",
		`{"report":1e999,"metrics":{"a":1}}`:              "report: the number 1e999 is too large",
		`{"tell":1,"metrics":{"loss":Infinity}}`:          "",
		`{"tell":1,"metrics":{"loss":"-Infinity","a":1}}`: "",
	} {
		_, err := Parse([]byte(line))
		if (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
}

// A value that is an object is refused by the name of its key where no object belongs, also an empty one.
func TestObjects(t *testing.T) {
	const kinds = "expected ask, report, tell or best, and metrics, iteration, failed, time"
	for line, want := range map[string]string{
		`{"ask":true,"time":{}}`:              `"time" is not a number of seconds from 0`,
		`{"ask":true,"time":{"a":{}}}`:        `"time" is not a number of seconds from 0`,
		`{"report":"a","time":{"b":1}}`:       `"time" is not a number of seconds from 0`,
		`{"ask":true,"metrics":{}}`:           "ask takes no metrics, iteration or failed",
		`{"best":true,"metrics":{"a":{}}}`:    "best takes no metrics, iteration or failed",
		`{"ask":true,"params":{"x":99}}`:      `unknown key "params": ` + kinds,
		`{"ask":true,"params":{}}`:            `unknown key "params": ` + kinds,
		`{"ask":{"a":1}}`:                     `"ask" is not true`,
		`{"report":{},"metrics":{"a":1}}`:     `"report" is neither a trial's id nor its number`,
		`{"tell":1,"failed":{}}`:              `"failed" is not a text`,
		`{"tell":1,"iteration":{}}`:           "iteration is not a whole number from 1",
		`{"tell":1,"metrics":{}}`:             "",
		`{"tell":1,"metrics":{"a":{"b":{}}}}`: "",
		`{"tell":1,"metrics":{"a":{"b":1}}}`:  "",
	} {
		_, err := Parse([]byte(line))
		if (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
}

func TestFailed(t *testing.T) {
	for line, want := range map[string]string{
		`{"tell":"a","failed":"why"}`: "why", `{"tell":"a","failed":true}`: "failed",
		`{"tell":"a","failed":""}`:    "failed",
		`{"tell":"a","failed":"NaN"}`: "NaN", `{"tell":"a","failed":137}`: "137", `{"tell":"a","failed":false}`: "",
		`{"tell":"a","failed":null}`: "",
	} {
		if r, err := Parse([]byte(line)); err != nil || r.Failed != want {
			t.Errorf("%s: %q, %v", line, r.Failed, err)
		}
	}
}

func TestAnswers(t *testing.T) {
	for want, a := range map[string]Answer{
		`{"trial":"abc","number":17,"params":{"x":"<&>"}}`: Trial{ID: "abc", Number: 17, Params: []byte(`{"x":"<&>"}`)},
		`{"trial":"abc","number":17,"params":{},"resume_from":9}`: Trial{ID: "abc", Number: 17, Params: []byte(`{}`),
			ResumeFrom: 9},
		`{"wait":true}`:        Wait,
		`{"finished":true}`:    Finished,
		`{"decision":"pause"}`: Pause,
		`{"ok":true}`:          Receipt{},
		`{"ok":true,"ignored":"it \"was\" stopped"}`: Receipt{Ignored: `it "was" stopped`},
		`{"best":null}`: BestTrial{},
		`{"trial":"a","params":{},"metrics":{"a":"NaN","b":-2},"value":-2}`: BestTrial{"a", []byte(`{}`),
			[]sdk.Metric{{Name: "b", Value: -2}, {Name: "a", Value: math.NaN()}}, -2},
		`{"error":"one; two"}`: problem{errors.New("one\ntwo\n")},
	} {
		if got := string(a.append(nil)); got != want || !json.Valid([]byte(got)) {
			t.Errorf("%+v is %s, want %s", a, got, want)
		}
	}
}

// echo answers with what it was asked, until it is broken.
type echo struct{ broken error }

func (e *echo) Handle(_ context.Context, r Request) (Answer, error) {
	if r.Kind == Best {
		e.broken = errors.New("no more")
		return nil, &Fatal{e.broken}
	}
	return Decision(r.Kind), nil
}

// Each line has an answer, also an empty one: a caller that waits for it would wait for ever.
func TestServe(t *testing.T) {
	in := Read(strings.NewReader("{\"ask\":true}\n\n  \nwhat\r\n" + `{"tell":1,"failed":"x"}`))
	defer in.Close()
	var out strings.Builder
	if err := Serve(t.Context(), in, &out, &echo{}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	if len(lines) != 6 || lines[0] != `{"decision":"ask"}` || lines[2] != lines[1] ||
		!strings.HasPrefix(lines[1], `{"error":"the line is empty`) ||
		!strings.HasPrefix(lines[3], `{"error":"not JSON`) || lines[4] != `{"decision":"tell"}` {
		t.Fatalf("%q", lines)
	}
}

func TestServeEnds(t *testing.T) {
	in := Read(strings.NewReader("{\"best\":true}\n{\"ask\":true}\n"))
	defer in.Close()
	var out strings.Builder
	h := &echo{}
	if err := Serve(t.Context(), in, &out, h); !errors.Is(err, h.broken) ||
		out.String() != "{\"error\":\"no more\"}\n" {
		t.Errorf("%v after %q", err, out.String())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	silent, _ := io.Pipe()
	if err := Serve(ctx, Read(silent), &out, h); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
