package python_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/plugin/process"
	"github.com/tunehost/tunehost/internal/testplace"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

const probe = "testdata/probe.py"

// two is a space of two parameters.
func two() *space.Space {
	return &space.Space{Params: []space.Param{
		{Name: "lr", Kind: space.Real, Low: 0, High: 1},
		{Name: "opt", Kind: space.Choice, Choices: raws(`"a"`, `"b"`)},
	}}
}

func do(what string) string { return `{"do": "` + what + `"}` }

func events(first uint64, n int) []sdk.Event {
	list := make([]sdk.Event, n)
	for i := range list {
		list[i] = sdk.Event{Number: first + uint64(i), Kind: sdk.ResultReported, Trial: uint32(i % 3), Iteration: 1,
			Losses: []float64{0.5}}
	}
	return list
}

// B-132: a searcher is needed until its experiment is saved, after the SIGTERM of an engine, too.
func TestSearcherLivesOn(t *testing.T) {
	c := config(t, sdk.KindSearcher, probe)
	c.Args = append(c.Args, "--signals")
	p := start(t, c)
	s := openSearcher(t, p, two(), "", nil)
	testplace.LivesOn(t, p.PID())
	if err := s.Observe(t.Context(), events(1, 3)); err != nil {
		t.Error(err)
	}
}

func TestSearcher(t *testing.T) {
	s := openSearcher(t, start(t, config(t, sdk.KindSearcher, probe)), two(), "", nil)
	if want := (sdk.Traits{Requires: []string{"loss"}}); !cmp.Equal(s.Traits(), want) || !s.Snapshots() {
		t.Fatalf("traits %+v, snapshots %v", s.Traits(), s.Snapshots())
	}
	if err := s.Observe(t.Context(), events(1, 3000)); err != nil {
		t.Fatal(err)
	}
	requests := []sdk.Request{{Trial: 0, Seed: 5}, {Trial: 1, Seed: 6, Given: space.Point{nan, 1}}}
	answer, err := s.Suggest(t.Context(), requests)
	if err != nil || !cmp.Equal(answer.Points, []space.Point{{8, 8}, {9, 1}}) { // B-104
		t.Fatalf("%v, %v", answer, err)
	}
	state, err := s.Snapshot(t.Context())
	if err != nil || string(state) != "3000" {
		t.Fatalf("snapshot %q, %v", state, err)
	}
	again := openSearcher(t, start(t, config(t, sdk.KindSearcher, probe)), two(), "", state)
	if err := again.Observe(t.Context(), events(3001, 1)); err != nil {
		t.Fatal(err)
	}
}

// The alternatives to points in answers.
func TestSuggestions(t *testing.T) {
	suggest := func(what string) sdk.Suggestions {
		s := openSearcher(t, start(t, config(t, sdk.KindSearcher, probe)), two(), do(what), nil)
		answer, err := s.Suggest(t.Context(), []sdk.Request{{Seed: 3, Given: space.Point{nan, nan}}})
		if err != nil {
			t.Fatal(what, err)
		}
		return answer
	}
	if a := suggest("wait"); a.Status != sdk.Wait || len(a.Points) != 0 {
		t.Error(a)
	}
	if a := suggest("whole"); !cmp.Equal(a.Points, []space.Point{{0.5, 1}}) {
		t.Error(a)
	}
	a, b := suggest("partial"), suggest("partial")
	if p := a.Points[0]; p[1] != 1 || two().Check(p) != nil || !cmp.Equal(a, b) {
		t.Error(a, b)
	}
}

func TestSearcherFails(t *testing.T) {
	for what, says := range map[string]string{
		"refuse": "refused: population must be even", "raise in open": "refused: open failed: KeyError: 'no luck'",
	} {
		_, err := start(t, config(t, sdk.KindSearcher, probe)).OpenSearcher(t.Context(), problem(two()),
			[]byte(do(what)), nil)
		wants(t, err, plugin.Refused, `searcher "probe"`, says)
	}
	for options, says := range map[string]string{
		`{"od": "x"}`: "option 'od' is unknown; nearest: 'do'", `{"do": 3}`: "option 'do' is 3; expected string",
	} {
		_, err := start(t, config(t, sdk.KindSearcher, probe)).OpenSearcher(t.Context(), problem(two()),
			[]byte(options), nil)
		wants(t, err, plugin.Refused, says)
	}
	for what, says := range map[string]string{
		"raise":   "Suggest: RuntimeError: the matrix is singular (testdata/probe.py:",
		"few":     "fewer points (0) than requests (1)",
		"short":   "has length 1; expected 2",
		"nothing": "suggest_all (testdata/probe.py:", "unknown": "parameter 'lf' is unknown; nearest: 'lr'",
		"outside": "parameter 'lr' is 7.0; allowed: numbers from 0 to 1",
		"words":   "its point for trial 0: parameter 'lr' is 'a'; expected a number",
	} {
		s := openSearcher(t, start(t, config(t, sdk.KindSearcher, probe)), two(), do(what), nil)
		_, err := s.Suggest(t.Context(), make([]sdk.Request, 1))
		wants(t, err, plugin.Failed, `searcher "probe" failed in Suggest: `, says)
	}
	s := openSearcher(t, start(t, config(t, sdk.KindSearcher, probe)), two(), do("raise in observe"), nil)
	wants(t, s.Observe(t.Context(), events(1, 1)), plugin.Failed, "Observe: RuntimeError: observed too much")
}

func TestSearcherEnds(t *testing.T) {
	s := openSearcher(t, start(t, config(t, sdk.KindSearcher, probe)), two(), do("exit"), nil)
	_, err := s.Suggest(t.Context(), make([]sdk.Request, 1))
	wants(t, err, plugin.Crashed, "exited with status 3 in Suggest", "last words")
	s = openSearcher(t, start(t, config(t, sdk.KindSearcher, probe)), two(), do("hang"), nil)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err = s.Suggest(ctx, make([]sdk.Request, 1))
	wants(t, err, plugin.Hung, "did not answer Suggest within its deadline")
}

// Printed output and log messages with their levels go to the log.
func TestOutput(t *testing.T) {
	c := config(t, sdk.KindSearcher, probe)
	var mu sync.Mutex
	var lines []process.Line
	c.Log = func(l process.Line) {
		mu.Lock()
		defer mu.Unlock()
		lines = append(lines, l)
	}
	p := start(t, c)
	if _, err := openSearcher(t, p, two(), do("log"), nil).Suggest(t.Context(), make([]sdk.Request, 1)); err != nil {
		t.Fatal(err)
	}
	_ = p.Close()
	want := []process.Line{
		{Stream: "stderr", Text: "printed before the handshake"},
		{Stream: "stderr", Level: "warn", Text: "half of it, 50%"},
		{Stream: "stderr", Text: "printed"},
	}
	if !cmp.Equal(lines, want) {
		t.Error(cmp.Diff(want, lines))
	}
}

func TestScheduler(t *testing.T) {
	s := openScheduler(t, start(t, config(t, sdk.KindScheduler, probe)), two(), "")
	if !s.Traits().Saves || s.Snapshots() {
		t.Fatalf("traits %+v, snapshots %v", s.Traits(), s.Snapshots())
	}
	told := append(events(1, 2), sdk.Event{Number: 3, Kind: sdk.TrialPaused}, sdk.Event{Number: 4, Kind: 99})
	told[1].Losses = []float64{math.Inf(1)} // B-015
	got, err := s.Decide(t.Context(), told)
	resume := sdk.Command{Kind: sdk.Resume, Trial: 7, Reason: "its turn"}
	want := sdk.Decisions{
		Decisions: []sdk.Decision{{Event: 1, Until: 2}, {Event: 2, Verdict: sdk.Stop, Reason: "too large"}},
		Commands:  []sdk.Command{resume, resume},
	}
	if err != nil || !cmp.Equal(got, want) {
		t.Fatalf("%v\n%s", err, cmp.Diff(want, got))
	}
	twice := openScheduler(t, start(t, config(t, sdk.KindScheduler, probe)), two(), do("twice"))
	_, err = twice.Decide(t.Context(), events(1, 1))
	wants(t, err, plugin.Failed, "decided on event 1", "decided already")
}

func TestCommands(t *testing.T) {
	s := openScheduler(t, start(t, config(t, sdk.KindScheduler, probe)), two(), do("exploit"))
	got, err := s.Decide(t.Context(), events(1, 1))
	if err != nil || len(got.Commands) != 4 {
		t.Fatal(got, err)
	}
	exploit := got.Commands[1]
	if exploit.Kind != sdk.Exploit || exploit.Donor != 2 || exploit.Iteration != 3 || exploit.Point[0] != 0.25 ||
		!math.IsNaN(exploit.Point[1]) {
		t.Errorf("%+v", exploit)
	}
	want := []sdk.Command{{Kind: sdk.Resize, Trial: 4, Resources: []byte(`{"cpu": 2}`)},
		{Kind: sdk.StopTrial, Trial: 5, Reason: "enough"}}
	if !cmp.Equal(got.Commands[2:], want) {
		t.Error(cmp.Diff(want, got.Commands[2:]))
	}
}

func TestWrongKind(t *testing.T) {
	_, err := process.Start(t.Context(), config(t, sdk.KindScheduler, "samples/climber.py"))
	wants(t, err, plugin.NotStarted, "is not a scheduler")
}

// A plugin started by hand prints an explanation.
func TestByHand(t *testing.T) {
	c := config(t, sdk.KindSearcher, "samples/climber.py")
	cmd := exec.Command(c.Path, c.Args...)
	cmd.Env = append(os.Environ(), c.Env...)
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.HasPrefix(string(out),
		`this is the searcher "climber" for tunehost, which starts it by itself; `) {
		t.Fatalf("%s %v", out, err)
	}
}

// A client without the host's certificate, or with another one, is refused.
func TestIntruder(t *testing.T) {
	testplace.Alone(t)
	seen := map[string]bool{}
	for _, s := range sockets(t) {
		seen[s] = true
	}
	p := start(t, config(t, sdk.KindSearcher, "samples/climber.py"))
	var socket string
	for _, s := range sockets(t) {
		if !seen[s] && serves(s, p.PID()) {
			socket = s
		}
	}
	if socket == "" {
		t.Fatal("the plugin's socket was not found")
	}
	own := selfMade(t)
	for name, c := range map[string]*tls.Config{
		"none": {InsecureSkipVerify: true}, "self-made": {InsecureSkipVerify: true,
			Certificates: []tls.Certificate{own}},
	} {
		if err := talk(socket, c); err == nil {
			t.Errorf("the plugin speaks with a client whose certificate is %s", name)
		}
	}
	if _, err := p.OpenSearcher(t.Context(), problem(two()), nil, nil); err != nil {
		t.Fatal("the host was not let in any more: ", err)
	}
}

func sockets(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob(os.Getenv("XDG_RUNTIME_DIR") + "/tunehost/h*/*/*/s")
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// talk performs the handshake and waits for the server's first bytes, which it sends after checking
// the certificate.
func talk(socket string, c *tls.Config) error {
	c.NextProtos, c.ServerName = []string{"h2"}, "localhost"
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		return err
	}
	client := tls.Client(conn, c)
	const hello = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"
	if _, err := client.Write([]byte(hello)); err != nil {
		return err
	}
	_, err = client.Read(make([]byte, 1))
	return err
}

func selfMade(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}
