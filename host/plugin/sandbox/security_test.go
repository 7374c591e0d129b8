package sandbox_test

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/plugin/sandbox"
	"github.com/tunehost/tunehost/host/plugin/sandbox/sandboxtest"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

// curious is the module of testdata/curious.
type curious struct{ path string }

func (m curious) config(t *testing.T, kind sdk.Kind) sandbox.Config {
	return sandbox.Config{Kind: kind, Name: "curious", Path: m.path, Cache: sandboxtest.Cache(t)}
}

// finds returns what a module with the grants finds when it does something.
func (m curious) finds(t *testing.T, g sandbox.Grants, do, path string) string {
	t.Helper()
	c := m.config(t, sdk.KindSearcher)
	c.Grants = g
	options, err := json.Marshal(map[string]string{"do": do, "path": path})
	if err != nil {
		t.Fatal(err)
	}
	_, err = sandboxtest.Start(t, c).OpenSearcher(t.Context(), problem(), options, nil)
	if err == nil || strings.Contains(err.Error(), "\n") {
		t.Fatal("it opened, or said more than a line:", err)
	}
	return err.Error()
}

// A module cannot read a file, open a socket, learn the time, see the environment, or exceed its
// memory. It can use only what is granted.
func TestCurious(t *testing.T) {
	m := curious{sandboxtest.Build(t, "./testdata/curious")}
	for name, f := range map[string]func(*testing.T){
		"files": m.files, "granted-files": m.grantedFiles, "network": m.network, "world": m.world,
		"granted-world": m.grantedWorld, "memory": m.memory, "ends": m.ends, "training": m.training,
		"greedy": m.greedy, "killed": m.killed,
		"requests": m.requests,
		"checksum": m.checksum,
	} {
		t.Run(name, f)
	}
}

const refused = `searcher "curious" refused: `

func (m curious) files(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("canary"), 0o600); err != nil {
		t.Fatal(err)
	}
	for do, path := range map[string]string{"read": secret, "write": secret + "2", "list": "/", "link": secret + "3"} {
		if got := m.finds(t, sandbox.Grants{}, do, path); !strings.HasPrefix(got, refused) ||
			!strings.Contains(got, "Bad file number") {
			t.Errorf("%s: %s", do, got)
		}
	}
	if _, err := os.Stat(secret + "2"); err == nil {
		t.Error("it wrote a file")
	}
}

func (m curious) grantedFiles(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	for _, err := range []error{
		os.WriteFile(dir+"/data", []byte("granted"), 0o600), os.WriteFile(outside+"/secret", []byte("canary"), 0o600),
		os.Symlink(outside, dir+"/out"), os.Symlink(outside+"/secret", dir+"/link"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	g := sandbox.Grants{Read: []string{dir}}
	if got := m.finds(t, g, "read", dir+"/data"); !strings.Contains(got, `read "granted", <nil>`) {
		t.Error(got)
	}
	for _, path := range []string{outside + "/secret", dir + "/out/secret", dir + "/link",
		dir + "/../" + filepath.Base(outside) + "/secret", "/etc/passwd"} {
		if got := m.finds(t, g, "read", path); !strings.Contains(got, `read "", open `) ||
			strings.Contains(got, "canary") {
			t.Errorf("%s: %s", path, got)
		}
	}
	for _, do := range []string{"write", "link"} {
		if got := m.finds(t, g, do, dir+"/new"); strings.Contains(got, "<nil>") {
			t.Errorf("%s: %s", do, got)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 3 {
		t.Errorf("it made something: %v, %v", entries, err)
	}
	c := m.config(t, sdk.KindSearcher)
	c.Grants.Write = []string{dir}
	if _, err := c.Process("tunehost"); err == nil ||
		!strings.Contains(err.Error(), "cannot be granted directories to write to") {
		t.Error(err)
	}
}

func (m curious) network(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	called := make(chan error, 1)
	go func() {
		_, err := l.Accept()
		called <- err
	}()
	if got := m.finds(t, sandbox.Grants{}, "dial", l.Addr().String()); !strings.Contains(got, "refused") ||
		strings.Contains(got, "<nil>") {
		t.Error(got)
	}
	m.finds(t, sandbox.Grants{}, "listen", "")
	_ = l.Close()
	if err := <-called; err == nil {
		t.Error("somebody called")
	}
}

// The clock begins in 2022, and clock, random numbers, environment and arguments are the same at each
// start.
func (m curious) world(t *testing.T) {
	t.Setenv("SECRET_TOKEN", "canary")
	first := m.finds(t, sandbox.Grants{}, "world", "")
	if second := m.finds(t, sandbox.Grants{}, "world", ""); first != second {
		t.Errorf("two starts differ:\n%s\n%s", first, second)
	}
	if !strings.HasPrefix(first, refused+"2022-01-01 00:00:00") || !strings.HasSuffix(first, `<nil> [] []`) {
		t.Error(first)
	}
	if got := m.finds(t, sandbox.Grants{}, "sleep", ""); got != refused+"awake" { // a minute of its simulated time
		t.Error(got)
	}
}

func (m curious) grantedWorld(t *testing.T) {
	t.Setenv("SECRET_TOKEN", "canary")
	t.Setenv("ASKED_FOR", "given")
	got := m.finds(t, sandbox.Grants{Clock: true, Env: []string{"ASKED_FOR", "UNSET"}}, "world", "")
	if !strings.HasPrefix(got, refused+time.Now().UTC().Format("2006-01-02")) ||
		!strings.Contains(got, `["ASKED_FOR=given"]`) {
		t.Error(got)
	}
}

func (m curious) memory(t *testing.T) {
	c := m.config(t, sdk.KindSearcher)
	c.Memory = 64 << 20
	p := sandboxtest.Start(t, c)
	_, err := p.OpenSearcher(t.Context(), problem(), []byte(`{"do":"memory"}`), nil)
	says(t, err, plugin.Failed, `searcher "curious" failed in Open: the module trapped: unreachable`,
		"its last output: fatal error: out of memory")
	if grown := resident(t, p.PID()); grown > 700 {
		t.Errorf("its process has %d MiB", grown)
	}
}

// resident returns the memory of a process in MiB.
func resident(t *testing.T, pid int) (size int) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Skip(err)
	}
	_, after, _ := strings.Cut(string(text), "VmRSS:")
	_, _ = fmt.Sscan(after, &size)
	return size >> 10
}

// For each way in which a Go program ends, there is a line that says so, with its last output.
func (m curious) ends(t *testing.T) {
	for do, want := range map[string]string{
		"stderr": "the module exited with status 4; its last output: a word / last words",
		"crash":  "the module trapped: unreachable; its last output: panic: no luck",
		"deadlock": "the module trapped: unreachable; its last output: fatal error: all goroutines are asleep - " +
			"deadlock!",
	} {
		if got := m.finds(t, sandbox.Grants{}, do, ""); !strings.Contains(got,
			`searcher "curious" failed in Open: `+want) {
			t.Errorf("%s: %s", do, got)
		}
	}
}

// train trains one attempt, sending commands after the start and after each result, and returns its
// events.
func (m curious) train(t *testing.T, d plugin.Trainer, run uint64, do string, trial sdk.Trial, first,
	then []train.Command) (all []train.Event) {
	t.Helper()
	trial.Params = fmt.Appendf(nil, `{"do": %q}`, do)
	commands := append([]train.Command{{Kind: train.Start, Trial: &trial}}, first...)
	for {
		for i := range commands {
			commands[i].Run = run
		}
		if err := d.Send(commands); err != nil {
			t.Fatal(err)
		}
		events, err := d.Recv()
		if err != nil {
			t.Fatal(err)
		}
		all, commands = append(all, events...), nil
		for _, e := range events {
			switch e.Kind {
			case train.Result:
				commands = append(commands, then...)
			case train.Ended:
				return all
			}
		}
	}
}

// A trial whose module needs too much memory fails with a text that says so.
func (m curious) greedy(t *testing.T) {
	c := m.config(t, sdk.KindTrainable)
	c.Memory = 64 << 20
	d, err := sandboxtest.Start(t, c).OpenTrainable(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	events := m.train(t, d, 1, "memory", sdk.Trial{}, nil, nil)
	got := events[len(events)-1].Error
	for _, want := range []string{"; its memory had grown to ", " of 64 MiB (sandbox.memory); its last output: ",
		"fatal error: out of memory"} {
		if !strings.Contains(got, want) {
			t.Errorf("it ended with %q, without %q", got, want)
		}
	}
}

func (m curious) training(t *testing.T) {
	d, err := sandboxtest.Start(t, m.config(t, sdk.KindTrainable)).OpenTrainable(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := (sdk.TrainableTraits{Reusable: true, Saves: true, Requests: true}); d.Traits() != want {
		t.Errorf("traits %+v", d.Traits())
	}
	empty := t.TempDir()
	save, proceed, stop := train.Command{Kind: train.Save, Dir: empty}, train.Command{Kind: train.Continue,
		Credits: 1}, train.Command{Kind: train.Stop}
	run := uint64(0)
	for _, c := range []struct {
		do, saved, error, log string
		trial                 sdk.Trial
		first, then           []train.Command
	}{
		{do: "panic", error: "panic: no luck", log: "panic: no luck"},
		{do: "crash", error: "the module trapped: unreachable; its last output: training abc / panic: no luck"},
		{do: "fail", error: "the loss is NaN", log: "training abc"}, // it does not learn its directory
		{do: "until stopped", first: []train.Command{stop}},
		{do: "told", then: []train.Command{stop}, log: "it was told: " + sdk.ErrStopped.Error()},
		{do: "look", first: []train.Command{stop}, log: "stopped"},
		{do: "reject", log: "rejected: los=0.3"},
		{do: "checkpoint", error: "a WASM module has no files to save to: its trainable must report with " +
			"sdk.ReportState"},
		{do: "dir", saved: "a WASM module has no files to save to: its trainable must report with sdk.ReportState",
			then: []train.Command{save, proceed}},
		{do: "cannot save", saved: "the state is secret", then: []train.Command{save, proceed}},
		{do: "empty", log: "false 0 <nil>", then: []train.Command{save, proceed}},
		{do: "empty", log: "true 0 <nil>", trial: sdk.Trial{Restore: empty}, then: []train.Command{proceed}},
	} {
		run++
		c.trial.ID, c.trial.Dir = "abc", "/dir"
		events := m.train(t, d, run, c.do, c.trial, c.first, c.then)
		log := ""
		for _, e := range events {
			switch e.Kind {
			case train.Saved:
				if e.Error != c.saved {
					t.Errorf("%s: saved: %q, want %q", c.do, e.Error, c.saved)
				}
			case train.Log:
				log += strings.SplitN(e.Text, "\n", 2)[0] + "\n"
			case train.Ended:
				if e.Error != c.error {
					t.Errorf("%s: ended with %q, want %q", c.do, e.Error, c.error)
				}
			}
		}
		if !strings.Contains(log+"\n", c.log+"\n") {
			t.Errorf("%s: the log is %q, want %q", c.do, log, c.log)
		}
	}
}

// B-150: a module whose trial is killed is ended where it asks the host, because any answer would be a decision that
// nobody has made. Another trial can follow.
func (m curious) killed(t *testing.T) {
	d, err := sandboxtest.Start(t, m.config(t, sdk.KindTrainable)).OpenTrainable(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	kill := []train.Command{{Kind: train.Kill}}
	for i, c := range []struct {
		do          string
		first, then []train.Command
	}{{do: "told", then: kill}, {do: "look", first: kill}, {do: "until stopped", first: kill}} {
		for _, e := range m.train(t, d, uint64(i+1), c.do, sdk.Trial{}, c.first, c.then) {
			if told := strings.Contains(e.Text, "told") || strings.Contains(e.Text, "stopped"); told || e.Error != "" {
				t.Errorf("%s: %+v", c.do, e)
			}
		}
	}
}

// B-038: an instance of its own computes what a trial needs, so that after a failure other trials can
// still ask.
func (m curious) requests(t *testing.T) {
	d, err := sandboxtest.Start(t, m.config(t, sdk.KindTrainable)).OpenTrainable(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = d.Request(t.Context(), []byte(`{"do": "exit"}`))
	says(t, err, plugin.Failed, `trainable "curious" `, "failed in Request: the module exited with status 5")
	if got, err := d.Request(t.Context(), []byte(`{}`)); err != nil || string(got) != `{"cpu": 3}` {
		t.Errorf("%s, %v", got, err)
	}
}

func (m curious) checksum(t *testing.T) {
	c := m.config(t, sdk.KindSearcher)
	c.SHA256 = strings.Repeat("0", 64)
	p := sandboxtest.Process(t, c)
	startFails(t, p, "has changed: its SHA-256 is ")
}
