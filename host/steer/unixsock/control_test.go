package unixsock

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/host/steer"
	"github.com/tunehost/tunehost/host/storage"
)

// recorder is a host that writes down what it is asked.
type recorder struct {
	mu    sync.Mutex
	heard []string
	fail  error
	loses string // by a pause
}

func (r *recorder) note(format string, args ...any) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.heard = append(r.heard, fmt.Sprintf(format, args...))
	return r.fail
}

func (r *recorder) said() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.heard, "; ")
}

// Do implements steer.Handler.
func (r *recorder) Do(q steer.Request) (a steer.Answer, err error) {
	text, err := steer.Encode(q)
	if err != nil {
		return a, err
	}
	err = r.note("%s", text)
	switch q := q.(type) {
	case steer.Pause:
		if r.loses != "" && !q.Force {
			err = &steer.LossError{What: r.loses}
		}
	case steer.Add:
		no := core.TrialNo(5)
		a.Trial = &no
	case steer.Set:
		a.Changed = []steer.Change{{Key: "trials", Old: []byte("3"), New: []byte("7")}}
	}
	return a, err
}

// held is the directory of an experiment that this process has.
func held(t *testing.T) storage.Dir {
	t.Helper()
	d, err := storage.At(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	lock, err := journal.LockDir(d.Path(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lock.Unlock() })
	return d
}

func start(t *testing.T, h steer.Handler) (storage.Dir, net.Listener) {
	t.Helper()
	d := held(t)
	l, remove, err := Listen()
	if err != nil {
		t.Fatal(err)
	}
	hide, err := Announce(d, l, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- Serve(l, h) }()
	t.Cleanup(func() {
		l.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
		hide()
		remove()
	})
	return d, l
}

func ask(c *Client, r steer.Request) error {
	_, err := c.Do(r)
	return err
}

func dial(t *testing.T, d storage.Dir) *Client {
	t.Helper()
	c, err := Dial(d)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// B-007, B-024
func TestRequestsReachTheHost(t *testing.T) {
	h := &recorder{}
	d, _ := start(t, h)
	c := dial(t, d)
	for _, x := range []struct {
		r    steer.Request
		want string
	}{
		{steer.Stop{Trial: "17"}, `{"stop":{"trial":"17"}}`}, {steer.Stop{}, `{"stop":{}}`},
		{steer.Pause{Trial: "17"}, `{"pause":{"trial":"17"}}`}, {steer.Pause{Force: true}, `{"pause":{"force":true}}`},
		{steer.Unpause{Trial: "17"}, `{"unpause":{"trial":"17"}}`}, {steer.Unpause{}, `{"unpause":{}}`},
		{steer.Retry{Trial: "17", Fresh: true}, `{"retry":{"trial":"17","fresh":true}}`},
		{steer.Interrupt{}, `{"interrupt":{}}`},
		{steer.Add{Params: []byte(`{"lr":0.1}`)}, `{"add":{"params":{"lr":0.1}}}`},
		{steer.Add{Params: []byte(`{}`), Clone: "17"}, `{"add":{"params":{},"clone":"17"}}`},
		{steer.Set{Settings: []string{"trials=7"}}, `{"set":{"settings":["trials=7"]}}`},
	} {
		h.heard = nil
		a, err := c.Do(x.r)
		if err != nil || h.said() != x.want {
			t.Errorf("%+v: heard %s, %v", x.r, h.said(), err)
		}
		switch x.r.(type) {
		case steer.Add:
			if a.Trial == nil || *a.Trial != 5 {
				t.Errorf("%+v: %+v", x.r, a)
			}
		case steer.Set:
			if len(a.Changed) != 1 || a.Changed[0].Key != "trials" || string(a.Changed[0].New) != "7" {
				t.Errorf("%+v: %+v", x.r, a)
			}
		}
	}
}

// late is a host that is held up before it hears a request, and before it carries one out.
type late struct {
	recorder
	open func() bool
}

// While implements steer.Timely.
func (h *late) While(open func() bool) steer.Handler {
	h.open = open
	return h
}

// A request that its client has given up is not carried out: neither if the host hears it later, nor if it has heard it
// and comes to it later.
func TestGivenUpRequests(t *testing.T) {
	h := &late{}
	d, _ := start(t, h)
	c := dial(t, d)
	line := func(before int64) string { return fmt.Sprintf(`{"before":%d,"request":{"stop":{}}}`, before) }
	for _, x := range []struct {
		line, want string
		open       bool
	}{
		{line(now() - 1), "", false}, {line(now() + int64(time.Hour)), `{"stop":{}}`, true},
	} {
		h.heard, h.open = nil, func() bool { return false }
		if _, err := c.conn.Write([]byte(x.line + "\n")); err != nil || !c.lines.Scan() {
			t.Fatal(err, c.lines.Err())
		}
		if h.said() != x.want || h.open() != x.open || strings.Contains(c.lines.Text(), `"busy":true`) == x.open {
			t.Errorf("%s: heard %q, open %t, answered %s", x.line, h.said(), h.open(), c.lines.Text())
		}
	}
	was := timeout
	timeout = 60 * time.Millisecond
	defer func() { timeout = was }()
	if err := ask(c, steer.Stop{}); err != nil {
		t.Fatal(err)
	}
	for h.open() { // until shortly before the client gives up
		time.Sleep(time.Millisecond)
	}
}

func TestRefusalsReachTheUser(t *testing.T) {
	h := &recorder{fail: errors.New("it has ended")}
	d, _ := start(t, h)
	c := dial(t, d)
	for _, r := range []steer.Request{steer.Stop{Trial: "17"}, steer.Add{Params: []byte(`{}`)}} {
		if _, err := c.Do(r); err == nil || err.Error() != "it has ended" {
			t.Error(err)
		}
	}
}

// What is not understood gets an error, and the connection continues.
func TestNonsense(t *testing.T) {
	h := &recorder{}
	_, l := start(t, h)
	conn, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	lines := bufio.NewScanner(conn)
	for _, line := range []string{"", "x", "{}", `{"stop":{},"pause":{}}`, `{"stop":{"trail":"1"}}`, `{"stop":{}} {}`,
		`[]`, `{"stop":3}`, `{"kill":{}}`} {
		if _, err := conn.Write([]byte(line + "\n")); err != nil {
			t.Fatal(err)
		}
		if !lines.Scan() || !strings.HasPrefix(lines.Text(), `{"error":"not a request`) {
			t.Errorf("%s got %s", line, lines.Text())
		}
	}
	if _, err := conn.Write([]byte(`{"stop":{}}` + "\n")); err != nil || !lines.Scan() ||
		lines.Text() != `{"ok":true}` {
		t.Errorf("a request after nonsense got %q, %v", lines.Text(), err)
	}
	if h.said() != `{"stop":{}}` {
		t.Errorf("heard %s", h.said())
	}
}

func TestNoHost(t *testing.T) {
	d, err := storage.At(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Dial(d); !errors.Is(err, ErrNoHost) {
		t.Errorf("without a host: %v", err)
	}
	// A host that was killed leaves its address and its socket.
	l, remove, err := Listen()
	if err != nil {
		t.Fatal(err)
	}
	defer remove()
	if _, err := Announce(d, l, func(string) {}); err != nil {
		t.Fatal(err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	l.Close()
	if _, err := Dial(d); !errors.Is(err, ErrNoHost) {
		t.Errorf("after a crash: %v", err)
	}
}

// A copy of an experiment that runs has the address of its host, which must not hear what is meant for the copy.
func TestCopyHasNoHost(t *testing.T) {
	d, _ := start(t, &recorder{})
	dial(t, d)
	other, err := storage.At(t.TempDir())
	if err == nil {
		err = os.CopyFS(other.Path(), os.DirFS(d.Path()))
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Dial(other); !errors.Is(err, ErrNoHost) {
		t.Errorf("the copy's host: %v", err)
	}
}

// B-092
func TestSocketIsPrivate(t *testing.T) {
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), strings.Repeat("long", 30)))
	if err := os.MkdirAll(os.Getenv("TMPDIR"), 0o700); err != nil {
		t.Fatal(err)
	}
	l, remove, err := Listen()
	if err != nil {
		t.Fatal(err)
	}
	defer remove()
	defer l.Close()
	info, err := os.Stat(filepath.Dir(l.Addr().String()))
	if err != nil || info.Mode().Perm() != 0o700 || len(l.Addr().String()) > 103 {
		t.Errorf("%s: %v, %v", l.Addr(), info.Mode(), err)
	}
}

// A pause that loses progress is not carried out before the user has confirmed it.
func TestLossNeedsConfirmation(t *testing.T) {
	h := &recorder{loses: "12 iterations"}
	d, _ := start(t, h)
	c := dial(t, d)
	var loss *steer.LossError
	if err := ask(c, steer.Pause{}); !errors.As(err, &loss) || loss.What != "12 iterations" {
		t.Errorf("found %v", err)
	}
	if err := ask(c, steer.Pause{Force: true}); err != nil {
		t.Error(err)
	}
	h.fail = errors.New("it has ended")
	if err := ask(c, steer.Stop{Trial: "18"}); err == nil || errors.As(err, &loss) {
		t.Errorf("found %v", err)
	}
}

// short is a listener for which there are no file descriptors at first.
type short struct {
	net.Listener
	fails int
}

func (l *short) Accept() (net.Conn, error) {
	if l.fails--; l.fails >= 0 {
		return nil, &net.OpError{Op: "accept", Err: syscall.EMFILE}
	}
	return l.Listener.Accept()
}

// A host that had no file descriptors for a moment can be steered after it.
func TestNoDescriptors(t *testing.T) {
	l, remove, err := Listen()
	if err != nil {
		t.Fatal(err)
	}
	defer remove()
	served := make(chan error, 1)
	r := &recorder{}
	go func() { served <- Serve(&short{l, 2}, r) }()
	conn, err := Connect(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte(`{"interrupt": {}}` + "\n")); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || r.said() != `{"interrupt":{}}` {
		t.Errorf("%q: %s, %v", line, r.said(), err)
	}
	if err := errors.Join(l.Close(), <-served); err != nil {
		t.Error(err)
	}
}

// A flood of connections takes no more of the host than it gives, and who comes too late
// hears why. When the others have left, all is as before.
func TestFloodOfConnections(t *testing.T) {
	d, l := start(t, &recorder{})
	var flood []net.Conn
	for range maxOpen {
		conn, err := Connect(l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		flood = append(flood, conn)
		// An answer shows that the host has taken the connection.
		_, err = conn.Write([]byte("{}\n"))
		if _, errR := bufio.NewReader(conn).ReadString('\n'); err != nil || errR != nil {
			t.Fatal(err, errR)
		}
	}
	var busy *steer.BusyError
	if err := ask(dial(t, d), steer.Interrupt{}); !errors.As(err, &busy) ||
		!strings.Contains(err.Error(), "the host answers 128 others already: try again") {
		t.Error(err)
	}
	for _, conn := range flood {
		_ = conn.Close()
	}
	for try := 0; ; try++ { // the host hears of each end a moment later
		err := ask(dial(t, d), steer.Interrupt{})
		if err == nil {
			break
		}
		if try == 1000 {
			t.Fatal(err)
		}
	}
}

// A host that had no room for its address on a full disk says where it listens once there is some, and not after its
// end.
func TestAddressWaitsForRoom(t *testing.T) {
	was := roomPause
	roomPause = time.Millisecond
	defer func() { roomPause = was }()
	d, err := storage.At(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var full atomic.Bool
	write := func() error {
		if full.Load() {
			return &os.PathError{Op: "write", Path: d.Control(), Err: syscall.ENOSPC}
		}
		return storage.WriteFile(d.Control(), []byte("/run/user/0/tunehost/habcdef/control\n"))
	}
	there := func() bool { _, err := os.Stat(d.Control()); return err == nil }
	for _, room := range []bool{true, false} {
		full.Store(true)
		var said []string
		hide, err := announce(d, write, func(text string) { said = append(said, text) })
		if err != nil || len(said) != 1 || !strings.HasPrefix(said[0], "until the disk has room, ") || there() {
			t.Fatalf("%v, %q, there: %t", err, said, there())
		}
		full.Store(!room)
		for end := time.Now().Add(10 * time.Second); room && !there(); time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("the host has not said where it listens")
			}
		}
		hide()
		full.Store(false)
		time.Sleep(10 * roomPause)
		if there() {
			t.Error("the address is there after the end")
		}
	}
}
