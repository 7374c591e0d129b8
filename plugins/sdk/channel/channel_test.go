package channel

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// B-015
func TestParse(t *testing.T) {
	r, err := Parse([]byte(`{"metrics":{"a":1,"b":{"c":-2.5e3,"d":{"e":NaN}},"f":Infinity,"g":"-Infinity","h":1e999,` +
		`"NaN":0},"iteration":3,"checkpoint":"say \"NaN\""}`))
	if err != nil {
		t.Fatal(err)
	}
	want := sdk.Result{
		Metrics: []sdk.Metric{{Name: "a", Value: 1}, {Name: "b/c", Value: -2500}, {Name: "b/d/e", Value: math.NaN()},
			{Name: "f", Value: math.Inf(1)}, {Name: "g", Value: math.Inf(-1)}, {Name: "h",
				Value: math.Inf(1)}, {Name: "NaN", Value: 0}},
		Iteration: 3, Checkpoint: `say "NaN"`,
	}
	if fmt.Sprint(r) != fmt.Sprint(want) {
		t.Errorf("got  %v\nwant %v", r, want)
	}
}

func nested(depth int) string {
	return `{"metrics":` + strings.Repeat(`{"a":`, depth-1) + "1" + strings.Repeat("}", depth-1) + "}"
}

// Values that are not numbers are kept separately from the metrics.
func TestParseValues(t *testing.T) {
	r, err := Parse([]byte(`{"metrics":{"a@1 é":1,"note":"x","ok":true,"none":null,"list":[1,{"b":NaN}],` +
		`"in":{"text":"y"},"training_iteration":4},"done":true}`))
	const values = `{"note":"x","ok":true,"none":null,"list":[1,{"b":"NaN"}],"in/text":"y"}`
	if err != nil || string(r.Values) != values || r.Iteration != 4 || !r.Done || len(r.Metrics) != 2 {
		t.Errorf("%+v %s, %v", r, r.Values, err)
	}
	if r, err = Parse([]byte(`{"metrics":{"a":1,"done":true},"iteration":2}`)); err != nil || !r.Done ||
		r.Iteration != 2 || r.Values != nil {
		t.Errorf("%+v, %v", r, err)
	}
	long := strings.Repeat("x", sdk.MaxValues)
	if r, err = Parse([]byte(`{"metrics":{"a":1,"long":"` + long + `","short":"y"}}`)); err != nil ||
		string(r.Values) != `{"short":"y"}` {
		t.Errorf("%.100s, %v", r.Values, err)
	}
}

func TestParseRefuses(t *testing.T) {
	if _, err := Parse([]byte(nested(MaxDepth))); err != nil {
		t.Errorf("depth %d: %v", MaxDepth, err)
	}
	arrays := `{"metrics":` + strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth) + "}"
	for line, want := range map[string]string{
		``: "not a JSON object", `null`: "not a JSON object", `{`: "ends early", `{"metrics":{"a":1}`: "ends early",
		`{"metrics":{"a":1}}x`: "more", `{"metrics":{"a":}}`: "not JSON", `{'metrics':{}}`: "not JSON",
		`{"metrics":{"a":nan}}`: "not JSON", `{"metrics":{"a":null}}`: `no metrics`,
		`{"metrics":{"a":[1]}}`: "no metrics",
		`{"metrics":{"":1}}`:    "no name", `{"metrics":{"a\u0007":1}}`: "character",
		`{"metrics":{"a":1,"b":{"c":1},"b/c":2}}`: "twice",
		`{"metrics":{"a":1},"iteration":0}`:       "iteration 0 is not a whole number from 1: add 1 to each, or",
		`{"metrics":{"a":1},"iteration":-1}`:      "iteration", `{"metrics":{"a":1},"iteration":1e300}`: "iteration",
		`{"metrics":{"a":1},"iteration":NaN}`: "iteration", `{"iteration":1}`: "no metrics",
		`{"metrics":{"a":1},"done":1}`: "done", `{"metrics":{"a":1},"colour":1}`: "colour",
		`{"metrics":{"a":1},"colour":{"b":1}}`: `unknown key "colour"`,
		`{"metrics":{"a":1},"colour":{}}`:      `unknown key "colour"`,
		`{"metrics":{"a":1},"iteration":{}}`:   "iteration is not a whole number", `{"metrics":{}}`: "no metrics",
		nested(MaxDepth + 1): "deeper than 64", arrays: "deeper than 64",
		`{"metrics":{"` + strings.Repeat("x", 129) + `":1}}`: "128 bytes",
	} {
		_, err := Parse([]byte(line))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.80s: got %v, want %q", line, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"metrics":{"a":NaN,"b":{"c":"\"Infinity"}},"iteration":3,"checkpoint":"x"}`))
	f.Add([]byte(`{"metrics":[[{"a":-Infinity`))
	f.Fuzz(func(t *testing.T, line []byte) {
		r, err := Parse(line)
		if err != nil {
			return
		}
		metrics := map[string]float64{}
		for _, m := range r.Metrics {
			metrics[m.Name] = m.Value
		}
		again, err := format(Message{Metrics: metrics, Iteration: r.Iteration, Checkpoint: r.Checkpoint})
		if err != nil {
			t.Fatal(err)
		}
		if back, err := Parse(again); err != nil || len(back.Metrics) != len(r.Metrics) ||
			back.Iteration != r.Iteration {
			t.Fatalf("%s: %v, %v", again, back, err)
		}
	})
}

func TestLines(t *testing.T) {
	long := strings.Repeat("x", MaxLineBytes)
	in := "\ufeffa\r\n\n" + long + "\n" + long + "y\n\ufeffb\ufeff\n" + long + "zz"
	lines := NewLines(bufio.NewReaderSize(strings.NewReader(in), 16))
	for _, want := range []struct {
		line string
		cut  bool
	}{{"a", false}, {"", false}, {long, false}, {long, true}, {"b\ufeff", false}, {long, true}} {
		line, cut, err := lines.Next()
		if err != nil || string(line) != want.line || cut != want.cut {
			t.Fatalf("got %.20q (%d), %v, %v; want %.20q (%d), %v", line, len(line), cut, err, want.line,
				len(want.line), want.cut)
		}
	}
	if _, _, err := lines.Next(); err != io.EOF {
		t.Errorf("at the end: %v", err)
	}
}

// host is a Handler that records reports.
type host struct {
	results  []sdk.Result
	rejected []string
}

func (h *host) Report(r sdk.Result) (Decision, error) {
	h.results = append(h.results, r)
	switch r.Metrics[0].Value {
	case 1:
		return Pause, nil
	case 2:
		return "", errors.New("not now")
	case 4:
		return "", ErrNoAnswer
	}
	return Continue, nil
}

func (h *host) Reject(line []byte, why error) { h.rejected = append(h.rejected, string(line)) }

// serveOne serves one connection; wait returns when it has ended.
func serveOne(t *testing.T) (path string, h *host, wait func()) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	h = &host{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		_ = Serve(conn, h)
	}()
	return path, h, func() { <-done }
}

// Every line gets an answer, because the program waits for it; blank lines too.
func TestServeAnswersEachLine(t *testing.T) {
	in := "\n" + "  \n" + "\t\r\n" + "x\n" + `{"metrics":{"a":3}}` + "\n" + " "
	h, out := &host{}, &strings.Builder{}
	if err := Serve(readWriter{strings.NewReader(in), out}, h); err != nil {
		t.Fatal(err)
	}
	none := `{"error":"not a JSON object"}` + "\n"
	answers := out.String()
	if n := strings.Count(answers, "\n"); n != 6 || !strings.HasPrefix(answers, none+none+none+`{"error":"not JSON`) {
		t.Errorf("%d answers: %s", n, answers)
	}
	if len(h.results) != 1 || len(h.rejected) != 5 {
		t.Errorf("%d results, refused %q", len(h.results), h.rejected)
	}
}

// readWriter is a connection made of two halves.
type readWriter struct {
	io.Reader
	io.Writer
}

func TestClient(t *testing.T) {
	path, h, wait := serveOne(t)
	c, err := Dial(path)
	if err != nil {
		t.Fatal(err)
	}
	if d, err := c.Report(map[string]float64{"a": math.Inf(-1)}, 7, "dir"); d != Continue || err != nil {
		t.Error(d, err)
	}
	if d, err := c.Report(map[string]float64{"a": 1}, 0, ""); d != Pause || err != nil {
		t.Error(d, err)
	}
	if _, err := c.Report(map[string]float64{"a": 2}, 0, ""); err == nil || !strings.Contains(err.Error(), "not now") {
		t.Error(err)
	}
	if _, err := c.Report(map[string]float64{"a\ab": 3}, 0, ""); err == nil || !strings.Contains(err.Error(), `a\ab`) {
		t.Error(err)
	}
	c.Close()
	wait()
	abs, _ := filepath.Abs("dir")
	if r := h.results[0]; len(h.results) != 3 || r.Iteration != 7 || r.Checkpoint != abs ||
		!math.IsInf(r.Metrics[0].Value, -1) {
		t.Errorf("%+v", h.results)
	}
	if len(h.rejected) != 2 {
		t.Errorf("rejected: %q", h.rejected)
	}
}

// Nobody answers for a host that is gone: the connection ends, and the client says so.
func TestNoAnswer(t *testing.T) {
	path, h, wait := serveOne(t)
	c, err := Dial(path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if d, err := c.Report(map[string]float64{"a": 4}, 0, ""); d != "" || !errors.Is(err, ErrNoAnswer) {
		t.Errorf("%q, %v", d, err)
	}
	wait()
	if len(h.rejected) != 0 {
		t.Error(h.rejected)
	}
}

func TestReport(t *testing.T) {
	path, h, wait := serveOne(t)
	if d, err := Report(path, map[string]float64{"a": 0.5}, 0, ""); d != Continue || err != nil {
		t.Error(d, err)
	}
	wait()
	if len(h.results) != 1 {
		t.Errorf("%+v", h.results)
	}
	for socket, want := range map[string]string{"": "TUNEHOST_CHANNEL", "/no/such/socket": "/no/such/socket"} {
		if _, err := Report(socket, nil, 0, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", socket, err)
		}
	}
}
