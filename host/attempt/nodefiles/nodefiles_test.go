package nodefiles

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/agent"
	"github.com/tunehost/tunehost/host/agent/link"
	"github.com/tunehost/tunehost/host/agent/message"
	"github.com/tunehost/tunehost/host/attempt"
	"github.com/tunehost/tunehost/host/exec"
	"github.com/tunehost/tunehost/host/hostlog"
	"github.com/tunehost/tunehost/host/local"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/mirror"
	"github.com/tunehost/tunehost/internal/testplace"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// nodes are connections to an agent, a new one when the last has ended.
type nodes struct {
	agent *agent.Agent
	blind bool // it sees nothing of the host's files
	// sees are folders that it sees although it is blind.
	sees []string
	// noStore has it refuse to use the storage.
	noStore bool
	gone    error // there are no further connections
	slow    bool  // it makes no directory before it is asked for output
	// limit ends each connection after so many bytes; 0: none.
	limit int64
	// limitOut is the same for what the host sends, and out is how much it has sent.
	limitOut int64
	out      atomic.Int64

	mu       sync.Mutex
	sessions []link.Session
}

func (n *nodes) Session(context.Context, core.LeaseID, int) (link.Session, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.sessions) > 0 {
		last := n.sessions[len(n.sessions)-1]
		if !lost(last) {
			return last, nil
		}
	}
	if n.gone != nil {
		return nil, n.gone
	}
	a, b := net.Pipe()
	host, err1 := link.Over(&worn{Conn: a, left: n.limit, leftOut: n.limitOut, out: &n.out}, true)
	node, err2 := link.Over(b, false)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	n.limit *= 2
	go func() { _ = n.agent.Serve(&eyes{Session: node, of: n}) }()
	n.sessions = append(n.sessions, host)
	return host, nil
}

func (n *nodes) close() {
	n.mu.Lock()
	for _, s := range n.sessions {
		_ = s.Close()
	}
	n.mu.Unlock()
	n.agent.Close()
}

// end ends the lease.
func (n *nodes) end() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.gone = errors.New("the lease has ended")
	for _, s := range n.sessions {
		_ = s.Close()
	}
}

// worn is a connection that breaks after some bytes.
type worn struct {
	net.Conn
	left int64 // 0: it holds
	// leftOut is left for what is sent, which out counts.
	leftOut int64
	out     *atomic.Int64
}

func (w *worn) Write(p []byte) (int, error) {
	n, err := w.Conn.Write(p)
	w.out.Add(int64(n))
	if w.leftOut > 0 {
		if w.leftOut -= int64(n); w.leftOut <= 0 {
			_ = w.Conn.Close()
			return n, io.ErrUnexpectedEOF
		}
	}
	return n, err
}

func (w *worn) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	if w.left > 0 {
		if w.left -= int64(n); w.left <= 0 {
			_ = w.Conn.Close()
			return 0, io.ErrUnexpectedEOF
		}
	}
	return n, err
}

// eyes are an agent's, which may be blind.
type eyes struct {
	link.Session
	of   *nodes
	held net.Conn // a request of a slow node
	logs bool     // it was asked for output
}

func (e *eyes) Accept() (link.Purpose, net.Conn, error) {
	for {
		if conn := e.held; conn != nil && e.logs {
			e.held = nil
			return link.Purpose{Kind: message.StreamFiles}, conn, nil
		}
		p, conn, err := e.Session.Accept()
		e.logs = e.logs || p.Kind == message.StreamLogs
		if err == nil && p.Kind == message.StreamFiles && e.of.slow && !e.logs {
			e.held = conn
			continue
		}
		if err == nil && p.Kind == message.StreamStore && e.of.noStore {
			go func() {
				_ = message.Expect(conn, message.Ask, nil)
				_ = message.NewWriter(conn).Put(message.No, message.Refusal{Why: "no credentials"})
				_ = conn.Close()
			}()
			continue
		}
		if err != nil || p.Kind != message.StreamProbe || !e.of.blind {
			return p, conn, err
		}
		go func() {
			var want message.Probe
			_ = message.Expect(conn, message.Ask, &want)
			found := message.Probed{Trials: filepath.Join(e.of.agent.Dir, "trials")}
			for _, dir := range e.of.sees {
				info, err := os.Stat(want.Path)
				found.Folder = found.Folder || strings.HasPrefix(want.Path, dir) && err == nil && info.IsDir()
			}
			_ = message.NewWriter(conn).Put(message.Yes, found)
			_ = conn.Close()
		}()
	}
}

// place has the files of an experiment, and a trial that runs on a node.
type place struct {
	files *Files
	lease *bundles
	nodes *nodes
	at    exec.Place
	dir   string // of the trial on the host
	trial *sdk.Trial
	log   *testplace.Screen
	told  []string
}

func made(t *testing.T, blind bool) *place {
	t.Helper()
	return madeWith(t, blind, "")
}

// madeWith is made for an experiment whose storage is a URL, or "".
func madeWith(t *testing.T, blind bool, url string) *place {
	t.Helper()
	dir, err := storage.At(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	host := dir.Trial("00001_abc")
	if err := os.MkdirAll(host, 0o700); err != nil {
		t.Fatal(err)
	}
	n := &nodes{blind: blind, agent: agent.New(agent.Options{Mark: local.NewMark(t.TempDir()), Dir: real(t)})}
	p := &place{lease: &bundles{all: []*nodes{n}}, nodes: n, at: exec.Place{Lease: 3}, dir: host,
		log: &testplace.Screen{}}
	o := Options{Sessions: p.lease, Storage: dir, Log: hostlog.New(hclog.New(&hclog.LoggerOptions{Output: p.log})),
		Tell: func(e core.Event) { p.told = append(p.told, fmt.Sprintf("%+v", e)) }}
	if url != "" {
		store, err := mirror.Open(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = store.Close() })
		o.Nodes = mirror.NewNodes(store)
	}
	p.files = New(o)
	p.trial = &sdk.Trial{Dir: host, Params: []byte(`{"x":1}`), Restore: storage.RestoredDir(host, 1),
		ExportDir: storage.NewExports(host)}
	t.Cleanup(n.close)
	t.Cleanup(p.files.Close)
	if err := p.files.Prepare(p.at, p.trial); err != nil {
		t.Fatal(err)
	}
	return p
}

// real is a folder by a path without links.
func real(t *testing.T) string {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func (p *place) item(id uint32) attempt.Item { return attempt.Item{Place: p.at, Dir: p.dir, ID: id} }

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

func has(t *testing.T, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s has %.100q, %v; want %.100q", path, got, err, want)
	}
}

// save has a trial save a text as its checkpoint.
func (p *place) save(t *testing.T, id uint32, text string) {
	t.Helper()
	if _, done, err := p.files.Stage(p.item(id), true); done || err != nil {
		t.Errorf("it would wait for the node: %v", err)
	}
	dir, _, err := p.files.Stage(p.item(id), false)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "model", "weights"), text)
	if n, err := p.files.Commit(p.item(id), storage.Manifest{Trial: 1}); err != nil || n != int64(len(text)) {
		t.Fatal(n, err)
	}
	has(t, filepath.Join(storage.CheckpointFiles(p.dir, id), "model", "weights"), text)
}

// A node is asked for the directory of a trial and for its output at once, because an answer may have a long way. What
// it cannot do leaves nothing behind.
func TestAsksAtOnce(t *testing.T) {
	p := made(t, true)
	p.nodes.slow = true
	for _, s := range p.nodes.sessions {
		_ = s.Close()
	}
	again := &sdk.Trial{Dir: p.dir, Params: []byte(`{"x":2}`)}
	if err := p.files.Prepare(p.at, again); err != nil {
		t.Fatal(err)
	}
	has(t, filepath.Join(again.Dir, "params.json"), "{\"x\":2}\n")
	p.files.Leave(p.at, again)
	write(t, filepath.Join(filepath.Dir(again.Dir), "00002_def"), "no directory")
	refused := &sdk.Trial{Dir: filepath.Join(filepath.Dir(p.dir), "00002_def"), Params: []byte(`{}`)}
	before := *refused
	if err := p.files.Prepare(p.at, refused); err == nil || refused.Dir != before.Dir {
		t.Errorf("%v, in %s", err, refused.Dir)
	}
	if len(p.files.output) != 0 {
		t.Errorf("output is still followed: %v", p.files.output)
	}
}

// A node that sees the experiment's directory uses it.
func TestSharedFiles(t *testing.T) {
	p := made(t, false)
	if p.trial.Dir != p.dir || p.trial.Restore != storage.RestoredDir(p.dir, 1) {
		t.Errorf("%+v", p.trial)
	}
	p.save(t, 1, "shared")
	if left, _ := os.ReadDir(p.nodes.agent.Dir); len(left) > 0 {
		t.Errorf("the agent has files: %v", left)
	}
	if probes, _ := filepath.Glob(filepath.Join(p.files.Storage.Path(), ".probe*")); len(probes) > 0 {
		t.Errorf("%v is left", probes)
	}
}

// B-051: on a node with files of its own a trial has a directory there, and checkpoints are copied.
func TestOwnFiles(t *testing.T) {
	p := made(t, true)
	if within := filepath.Dir(filepath.Dir(p.trial.Dir)); within != p.nodes.agent.Dir {
		t.Fatalf("the trial's directory is %s", p.trial.Dir)
	}
	has(t, filepath.Join(p.trial.Dir, "params.json"), "{\"x\":1}\n")
	p.save(t, 1, "one")
	if err := p.files.Fetch(p.at, storage.CheckpointDir(p.dir, 1), p.trial.Restore, nil); err != nil {
		t.Fatal(err)
	}
	has(t, filepath.Join(p.trial.Restore, "model", "weights"), "one")
	if err := p.files.Discard(p.at, p.trial.Restore); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(p.trial.Restore); err == nil {
		t.Error("the copy is still there")
	}

	write(t, filepath.Join(p.trial.Dir, "mine"), "two")
	if done, err := p.files.Take(p.item(2), filepath.Join(p.trial.Dir, "mine"), false); !done || err != nil {
		t.Fatal(done, err)
	}
	if _, err := p.files.Commit(p.item(2), storage.Manifest{Trial: 1}); err != nil {
		t.Fatal(err)
	}
	has(t, filepath.Join(storage.CheckpointFiles(p.dir, 2), "mine"), "two")

	write(t, filepath.Join(p.trial.ExportDir, "onnx", "model.onnx"), "three")
	x := attempt.Item{Place: p.at, Dir: p.dir, Format: "onnx"}
	if _, err := p.files.Commit(x, storage.Manifest{Trial: 1}); err != nil {
		t.Fatal(err)
	}
	has(t, filepath.Join(storage.ExportFiles(p.dir, "onnx"), "model.onnx"), "three")
}

// A checkpoint that has changed is not restored.
func TestDamaged(t *testing.T) {
	p := made(t, true)
	p.save(t, 1, "one")
	file := filepath.Join(storage.CheckpointFiles(p.dir, 1), "model", "weights")
	if err := os.Chmod(file, 0o600); err != nil {
		t.Fatal(err)
	}
	write(t, file, "0ne")
	err := p.files.Fetch(p.at, storage.CheckpointDir(p.dir, 1), p.trial.Restore, nil)
	if _, damaged := errors.AsType[*storage.DamagedError](err); !damaged {
		t.Errorf("%v", err)
	}
}

// A transfer continues with the next connection to the same agent.
func TestConnectionIsLost(t *testing.T) {
	p := made(t, true)
	text := strings.Repeat("0123456789abcdef", 1<<16) // 1 MiB
	dir, _, err := p.files.Stage(p.item(1), false)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "weights"), text)
	p.nodes.limit = 100_000
	_ = p.nodes.sessions[0].Close()
	if _, err := p.files.Commit(p.item(1), storage.Manifest{Trial: 1}); err != nil {
		t.Fatal(err)
	}
	has(t, filepath.Join(storage.CheckpointFiles(p.dir, 1), "weights"), text)
	if n := len(p.nodes.sessions); n < 3 {
		t.Errorf("only %d connections were needed", n)
	}
}

// Sending to a node continues with the next connection, too, and sends no file twice.
func TestSendingIsInterrupted(t *testing.T) {
	t.Parallel()
	p := made(t, true)
	text := strings.Repeat("0123456789abcdef", 1<<16) // 1 MiB
	p.save(t, 1, text)
	first := len(p.nodes.sessions)
	p.nodes.limitOut = 400_000
	_ = p.nodes.sessions[first-1].Close()
	if err := p.files.Fetch(p.at, storage.CheckpointDir(p.dir, 1), p.trial.Restore, nil); err != nil {
		t.Fatal(err)
	}
	has(t, filepath.Join(p.trial.Restore, "model", "weights"), text)
	if n := len(p.nodes.sessions) - first; n < 3 || p.nodes.out.Load() > 1_900_000 {
		t.Errorf("%d connections carried %d bytes", n, p.nodes.out.Load())
	}
}

// What is left of another transfer is replaced.
func TestOtherRest(t *testing.T) {
	t.Parallel()
	p := made(t, true)
	p.save(t, 1, "0123456789")
	write(t, filepath.Join(p.trial.Restore, "model", "weights"), "01X34")
	c := copying{checkpoint: storage.CheckpointDir(p.dir, 1), trial: trialOf(p.dir), path: p.trial.Restore, rest: true}
	c.lease = p.at.Lease
	if err := p.files.fetch(c); err != nil {
		t.Fatal(err)
	}
	has(t, filepath.Join(p.trial.Restore, "model", "weights"), "0123456789")
}

// Large checkpoints that go over the connection are mentioned, once, in both directions.
func TestLargeCheckpoints(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"from", "to"} {
		p := made(t, true)
		p.save(t, 1, "0123456789")
		p.files.large = 5
		if way == "from" {
			p.save(t, 2, "0123456789")
			p.save(t, 3, "0123456789")
		} else {
			for range 2 {
				if err := p.files.Fetch(p.at, storage.CheckpointDir(p.dir, 1), p.trial.Restore, nil); err != nil {
					t.Fatal(err)
				}
			}
		}
		if said := p.log.String(); strings.Count(said, "more than 1 GiB") != 1 {
			t.Errorf("%s the node: %s", way, said)
		}
	}
}

// Output comes while a trial runs, and the rest of it when it ends. An earlier attempt's is not repeated.
func TestOutput(t *testing.T) {
	p := made(t, true)
	out := filepath.Join(p.trial.Dir, "stdout")
	write(t, out, "first\n")
	testplace.Soon(t, "the output", func() bool {
		got, _ := os.ReadFile(filepath.Join(p.dir, "stdout"))
		return string(got) == "first\n"
	})
	write(t, out, "first\nlast\n")
	p.files.Leave(p.at, p.trial)
	has(t, filepath.Join(p.dir, "stdout"), "first\nlast\n")

	again := &sdk.Trial{Dir: p.dir, Params: []byte(`{}`)}
	if err := p.files.Prepare(p.at, again); err != nil {
		t.Fatal(err)
	}
	write(t, out, "first\nlast\nagain\n")
	p.files.Leave(p.at, again)
	has(t, filepath.Join(p.dir, "stdout"), "first\nlast\nagain\n")
}

// An agent cannot make the host write other files than it was asked for.
func TestStrangeOutput(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"../escaped", "/tmp/escaped", "params.json", ""} {
		a, b := net.Pipe()
		go func() {
			w := message.NewWriter(b)
			_ = w.Put(message.Log, message.LogFile{Name: name})
			_ = w.Write(message.Data, []byte("x"))
			_ = b.Close()
		}()
		o := &output{conn: a}
		if err := o.copy(filepath.Join(dir, "trial"), []string{"stdout"}); err == nil {
			t.Errorf("%q was accepted", name)
		}
		_ = a.Close()
	}
	if list, _ := os.ReadDir(dir); len(list) > 0 {
		t.Errorf("%v was written", list)
	}
}

// Paths outside of the trial's directory are refused by the agent.
func TestStrangePaths(t *testing.T) {
	p := made(t, true)
	s, _ := p.nodes.Session(t.Context(), 3, 0)
	outside := real(t)
	write(t, filepath.Join(outside, "f"), "1")
	if err := os.Symlink(outside, filepath.Join(p.trial.Dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{outside, "/", p.trial.Dir, p.trial.Dir + "/../x", p.trial.Dir + "/link",
		p.trial.Dir + "/link/f", "stdout", ""} {
		for _, op := range []message.Op{message.OpGet, message.OpPut, message.OpRemove} {
			if op != message.OpGet && strings.HasSuffix(path, "/link") {
				continue // the link itself would go
			}
			if _, err := p.files.ask(s, message.Files{Op: op, Trial: trialOf(p.dir), Path: path}); err == nil {
				t.Errorf("%s of %q was done", op, path)
			}
		}
	}
	for _, trial := range []string{"", ".", "..", "a/b", "/a"} {
		if _, err := p.files.ask(s, message.Files{Op: message.OpMake, Trial: trial}); err == nil {
			t.Errorf("the trial %q was made", trial)
		}
	}
	has(t, filepath.Join(outside, "f"), "1")
}
