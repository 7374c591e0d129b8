package control

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

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

func (r *recorder) Find(name string) (uint32, error) {
	if name == "17" {
		return 17, nil
	}
	return 0, fmt.Errorf("no trial %q", name)
}

func which(no *uint32) string {
	if no == nil {
		return "all"
	}
	return fmt.Sprint(*no)
}

func (r *recorder) Stop(no *uint32) error { return r.note("stop %s", which(no)) }
func (r *recorder) Pause(no *uint32, force bool) error {
	err := r.note("pause %s", which(no))
	if r.loses != "" && !force {
		return &steer.LossError{What: r.loses}
	}
	return err
}
func (r *recorder) Interrupt() error                  { return r.note("interrupt") }
func (r *recorder) Retry(no uint32, fresh bool) error { return r.note("retry %d %t", no, fresh) }
func (r *recorder) Unpause(no *uint32) error          { return r.note("unpause %s", which(no)) }
func (r *recorder) Add(p []byte) (uint32, error) {
	return 5, r.note("add %s", p)
}

func (r *recorder) Clone(no uint32, p []byte) (uint32, error) {
	return 6, r.note("clone %d %s", no, p)
}

func start(t *testing.T, h Handler) (storage.Dir, net.Listener) {
	t.Helper()
	d, err := storage.At(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l, remove, err := Listen()
	if err != nil {
		t.Fatal(err)
	}
	hide, err := Announce(d, l)
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
	err := errors.Join(c.Stop("17"), c.Stop(""), c.Pause("17", false), c.Pause("", false), c.Unpause("17"), c.Unpause(""),
		c.Retry("17", true), c.Interrupt())
	no, err2 := c.Add([]byte(`{"lr":0.1}`))
	clone, err3 := c.Clone("17", []byte(`{}`))
	if err != nil || err2 != nil || err3 != nil || no != 5 || clone != 6 {
		t.Fatal(err, err2, err3, no, clone)
	}
	const want = `stop 17; stop all; pause 17; pause all; unpause 17; unpause all; retry 17 true; interrupt; add {"lr":0.1}; clone 17 {}`
	if got := h.said(); got != want {
		t.Errorf("heard %s\nwant  %s", got, want)
	}
}

func TestRefusalsReachTheUser(t *testing.T) {
	h := &recorder{fail: errors.New("it has ended")}
	d, _ := start(t, h)
	c := dial(t, d)
	if err := c.Stop("99"); err == nil || err.Error() != `no trial "99"` {
		t.Error(err)
	}
	if err := c.Stop("17"); err == nil || err.Error() != "it has ended" {
		t.Error(err)
	}
	if _, err := c.Add([]byte(`{}`)); err == nil || err.Error() != "it has ended" {
		t.Error(err)
	}
}

// What is not understood gets an error, and the connection goes on.
func TestNonsense(t *testing.T) {
	h := &recorder{}
	_, l := start(t, h)
	conn, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	lines := bufio.NewScanner(conn)
	for _, line := range []string{"", "x", "{}", `{"stop":{},"pause":{}}`, `{"stop":{"trail":"1"}}`, `{"stop":{}} {}`, `[]`, `{"stop":3}`, `{"kill":{}}`} {
		if _, err := conn.Write([]byte(line + "\n")); err != nil {
			t.Fatal(err)
		}
		if !lines.Scan() || !strings.HasPrefix(lines.Text(), `{"error":"not a request`) {
			t.Errorf("%s got %s", line, lines.Text())
		}
	}
	if _, err := conn.Write([]byte(`{"stop":{}}` + "\n")); err != nil || !lines.Scan() || lines.Text() != `{"ok":true}` {
		t.Errorf("a request after nonsense got %q, %v", lines.Text(), err)
	}
	if h.said() != "stop all" {
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
	if _, err := Announce(d, l); err != nil {
		t.Fatal(err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	l.Close()
	if _, err := Dial(d); !errors.Is(err, ErrNoHost) {
		t.Errorf("after a crash: %v", err)
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
func TestALossIsToldApart(t *testing.T) {
	h := &recorder{loses: "12 iterations"}
	d, _ := start(t, h)
	c := dial(t, d)
	var loss *steer.LossError
	if err := c.Pause("", false); !errors.As(err, &loss) || loss.What != "12 iterations" {
		t.Errorf("found %v", err)
	}
	if err := c.Pause("", true); err != nil {
		t.Error(err)
	}
	if err := c.Stop("18"); err == nil || errors.As(err, &loss) {
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
	conn, err := connect(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte(`{"interrupt": {}}` + "\n")); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || r.said() != "interrupt" {
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
		conn, err := connect(l.Addr().String())
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
	if err := dial(t, d).Interrupt(); err == nil || !strings.Contains(err.Error(), "the host answers 128 others already: try again") {
		t.Error(err)
	}
	for _, conn := range flood {
		_ = conn.Close()
	}
	for try := 0; ; try++ { // the host hears of each end a moment later
		err := dial(t, d).Interrupt()
		if err == nil {
			break
		}
		if try == 1000 {
			t.Fatal(err)
		}
	}
}
