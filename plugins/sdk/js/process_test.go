package js_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/plugin/process"
	"github.com/tunehost/tunehost/internal/testplace"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

func startError(t *testing.T, c process.Config) (*process.Process, error) {
	t.Helper()
	p, err := process.Start(t.Context(), c)
	if err == nil {
		t.Cleanup(func() { _ = p.Close() })
	}
	return p, err
}

func alive(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, after, _ := strings.Cut(string(b), ") ")
	return !strings.HasPrefix(after, "Z")
}

// script writes a program that uses the SDK.
func script(t testing.TB, text string) string {
	t.Helper()
	dir := t.TempDir()
	modules, err := filepath.Abs("node_modules")
	if err != nil {
		t.Fatal(err)
	}
	self := filepath.Dir(modules)
	file := filepath.Join(dir, "script.mjs")
	if err := os.Mkdir(filepath.Join(dir, "node_modules"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(dir, "node_modules", "tunehost")); err != nil {
		t.Fatal(err)
	}
	write(t, file, text)
	return file
}

// searcher returns a program with a searcher whose open has this body.
func searcher(t testing.TB, open string) string {
	return script(t, `import { EXHAUSTED, log, searcher, serve, WAIT } from "tunehost";
const state = { seen: 0 };
serve(searcher({ name: "probe", version: "1", summary: "A probe.",
  options: { type: "object" }, open(problem, options) {`+open+`} }));`)
}

// TestByHand checks the message to a person who starts a plugin by hand.
func TestByHand(t *testing.T) {
	t.Parallel()
	out, err := exec.Command(node(t), "samples/climber.js").CombinedOutput()
	if err == nil || !strings.Contains(string(out), `this is the searcher "climber" for tunehost`) {
		t.Errorf("%s: %v", out, err)
	}
}

// B-132: a plugin is needed until its experiment is saved, after the SIGTERM of an engine, too.
func TestLivesOn(t *testing.T) {
	t.Parallel()
	p := start(t, program(t, sdk.KindSearcher, "samples/climber.js"))
	testplace.LivesOn(t, p.PID())
	if _, err := p.Describe(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestIntruder checks that a client without the host's certificate is refused, and the host
// continues.
func TestIntruder(t *testing.T) {
	t.Parallel()
	var log lines
	c := program(t, sdk.KindSearcher, searcher(t, `
		log.info("DIR " + process.env.PLUGIN_UNIX_SOCKET_DIR);
		return { suggest: () => EXHAUSTED };`))
	c.Log = log.add
	s, err := start(t, c).OpenSearcher(t.Context(), problem(small()), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	dir := ""
	eventually(t, "the word where the socket is", func() bool {
		dir = log.after("DIR ")
		return dir != ""
	})
	sockets, err := filepath.Glob(dir + "/*")
	if err != nil || len(sockets) != 1 {
		t.Fatal(sockets, err)
	}
	config := &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS13, NextProtos: []string{"h2"}}
	conn, err := tls.Dial("unix", sockets[0], config)
	if err == nil {
		_, _ = conn.Write([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))
		_, err = conn.Read(make([]byte, 1)) // TLS 1.3 reports the refusal here
		_ = conn.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "certificate required") {
		t.Errorf("without a certificate: %v", err)
	}
	suggest(t, s, requests(0, 1))
}

func TestExceptions(t *testing.T) {
	t.Parallel()
	var log lines
	c := program(t, sdk.KindSearcher, searcher(t, `
		console.log("to stdout");
		log.warn("careful", { n: 3 });
		if (options.refuse) { throw new Error("refuse is no option of mine"); }
		return { suggest() { throw new Error("no idea"); } };`))
	c.Log = log.add
	_, err := start(t, c).OpenSearcher(t.Context(), problem(small()), []byte(`{"refuse": true}`), nil)
	if plugin.FailureOf(err) != plugin.Refused || !strings.Contains(err.Error(), "refuse is no option of mine") {
		t.Error(err)
	}
	s, err := start(t, c).OpenSearcher(t.Context(), problem(small()), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = s.Suggest(t.Context(), requests(0, 1)); err == nil || !strings.Contains(err.Error(), "no idea") {
		t.Error(err)
	}
	eventually(t, "the log", func() bool {
		return log.has("", "to stdout") && log.has("warn", "careful n=3") && log.has("error", "script.mjs")
	})
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	says := []string{
		"its point for trial 0 has length 1; expected 3, one for each parameter",
		`parameter "z" is unknown; known: a, b, c`,
		`parameter "a" is "z"; allowed: "x", "y"`,
		"expected a point, WAIT or EXHAUSTED",
		"has a value that is no number",
		"nonsense is not defined",
	}
	open := `return { suggest: async ({ trial }) =>
		[() => [1], () => ({ z: 1 }), () => ({ a: "z" }), () => undefined, () => [0, "1", 0],
			() => nonsense()][trial]() };`
	s, err := start(t, program(t, sdk.KindSearcher, searcher(t, open))).OpenSearcher(t.Context(), problem(small()), nil,
		nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range says {
		if _, err := s.Suggest(t.Context(), requests(uint32(i), 1)); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%d: %v", i, err)
		}
	}
}

// TestObjects checks points by name, waiting, and snapshots.
func TestObjects(t *testing.T) {
	t.Parallel()
	open := `
		let n = 0;
		return {
			traits: { independent: true, metrics: true, requires: ["cost"] },
			observe: async (events) => { n += events.length; },
			suggest: ({ trial }) => (trial < 2 ? { a: "x", b: 1 + n % 3, c: true } : WAIT),
			snapshot: () => Buffer.from(String(n)),
			restore: (state) => { n = Number(new TextDecoder().decode(state)); },
		};`
	c := program(t, sdk.KindSearcher, searcher(t, open))
	s, err := start(t, c).OpenSearcher(t.Context(), problem(small()), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Traits(); !got.Independent || !got.Metrics || len(got.Requires) != 1 || !s.Snapshots() {
		t.Errorf("%+v, snapshots: %v", got, s.Snapshots())
	}
	if err := s.Observe(t.Context(), told(suggest(t, s, requests(0, 1)).Points,
		func(p space.Point) float64 { return p[1] })); err != nil {
		t.Fatal(err)
	}
	state, err := s.Snapshot(t.Context())
	if err != nil || string(state) != "2" {
		t.Fatal(string(state), err)
	}
	if s, err = start(t, c).OpenSearcher(t.Context(), problem(small()), nil, state); err != nil {
		t.Fatal(err)
	}
	answer := suggest(t, s, requests(0, 4))
	if len(answer.Points) != 2 || answer.Status != sdk.Wait || small().Check(answer.Points[0]) != nil ||
		answer.Points[0][1] != 3 {
		t.Errorf("%+v", answer)
	}
}

// TestLargeSnapshot checks that a snapshot may be larger than other messages.
func TestLargeSnapshot(t *testing.T) {
	t.Parallel()
	open := `
		let size = 0;
		return { suggest: () => [0, 1 + size % 2, NaN], snapshot: () => new Uint8Array((16 << 20) - 64),
			restore: (state) => { size = state.length >> 20; } };`
	c := program(t, sdk.KindSearcher, searcher(t, open))
	s, err := start(t, c).OpenSearcher(t.Context(), problem(small()), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	state, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err = start(t, c).OpenSearcher(t.Context(), problem(small()), nil, state); err != nil {
		t.Fatal(err)
	}
}

// B-077
func TestCrash(t *testing.T) {
	t.Parallel()
	c := program(t, sdk.KindSearcher, searcher(t, `return { suggest() { setTimeout(() => { throw new Error("out of `+
		`the blue"); }); return new Promise(() => {}); } };`))
	s, err := start(t, c).OpenSearcher(t.Context(), problem(small()), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Suggest(t.Context(), requests(0, 1))
	if plugin.FailureOf(err) != plugin.Crashed || !strings.Contains(err.Error(), "out of the blue") {
		t.Error(err)
	}
}

// A host starts a plugin, reports it, and waits for its end.
func host() {
	file, err := filepath.Abs("samples/descent.js")
	if err != nil {
		panic(err)
	}
	p, err := process.Start(context.Background(), process.Config{Program: process.Program{
		Kind: sdk.KindTrainable, Name: "descent", Path: "node", Args: []string{file},
		StartTimeout: startTimeout, Outlives: true, // so that the kernel does not end it
	}})
	if err != nil {
		panic(err)
	}
	fmt.Printf("PLUGIN %d\n", p.PID())
	select {}
}

// B-025: a plugin ends with its host, for whatever reason.
func TestHostDies(t *testing.T) {
	t.Parallel()
	node(t)
	host := exec.Command(os.Args[0], hostArg)
	out, err := host.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	pid := 0
	if _, err := fmt.Fscanf(out, "PLUGIN %d\n", &pid); err != nil {
		t.Fatal(err)
	}
	if err := host.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = host.Wait()
	eventually(t, "the plugin's end", func() bool { return !alive(pid) })
}
