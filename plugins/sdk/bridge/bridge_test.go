package bridge

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// unhurried is a bridge that does not wait between two tries, and ends after some.
func unhurried(t *testing.T, c Config, tries int) (pauses []time.Duration) {
	ctx, end := context.WithCancel(t.Context())
	defer end()
	c.pause = func(_ context.Context, d time.Duration) {
		if pauses = append(pauses, d); len(pauses) == tries {
			end()
		}
	}
	Run(ctx, c)
	return pauses
}

// The pauses grow to half a minute, and each failure is said.
func TestPauses(t *testing.T) {
	var said []string
	why := errors.New("the pod is gone")
	pauses := unhurried(t, Config{Warn: func(err error) { said = append(said, err.Error()) },
		Open: func(context.Context) (io.ReadWriteCloser, error) { return nil, why }}, 20)
	if len(said) != 20 || said[0] != why.Error() {
		t.Error(said)
	}
	if pauses[0] > 2*firstPause || pauses[19] < lastPause/2 || pauses[19] > 2*lastPause {
		t.Error(pauses)
	}
}

// A command that fails is told by its last words, and the host is not dialled for it.
func TestCommandFails(t *testing.T) {
	var said error
	unhurried(t, Config{Host: "127.0.0.1:1", Warn: func(err error) { said = err },
		Open: func(context.Context) (io.ReadWriteCloser, error) {
			return Command(exec.Command("sh", "-c", "echo first >&2; echo no such pod >&2; exit 3"))
		}}, 1)
	if said == nil || said.Error() != "sh: no such pod" {
		t.Error(said)
	}
	if _, err := Command(exec.Command("/no/such/program")); err == nil {
		t.Error("it was started")
	}
}

// The host is dialled when the agent says something, and hears all of it; what it answers reaches the agent.
func TestBytes(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, end := context.WithCancel(t.Context())
	kept := make(chan struct{})
	go func() {
		defer close(kept)
		Run(ctx, Config{Host: l.Addr().String(), Open: func(context.Context) (io.ReadWriteCloser, error) {
			return Command(exec.Command("sh", "-c", "echo hello; read answer; echo you said $answer; cat"))
		}})
	}()
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, want := range []string{"hello\n", "you said fine\n"} {
		got := make([]byte, len(want))
		if _, err := io.ReadFull(conn, got); err != nil || string(got) != want {
			t.Fatalf("%q %v", got, err)
		}
		_, _ = io.WriteString(conn, "fine\n")
	}
	end()
	<-kept
	if rest, err := io.ReadAll(conn); err != nil && !strings.Contains(err.Error(), "reset") {
		t.Errorf("%q %v", rest, err)
	}
}

// A command that ignores the end of its input is asked to end, so that it can end what it has started elsewhere.
func TestAskedToEnd(t *testing.T) {
	said := filepath.Join(t.TempDir(), "said")
	const script = `trap 'echo bye > "$0"; exit' TERM; echo on; while :; do sleep 0.1; done`
	c, err := Command(exec.Command("sh", "-c", script, said))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read(make([]byte, 3)); err != nil {
		t.Fatal(err)
	}
	c.(*command).grace = time.Millisecond
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(said); string(text) != "bye\n" {
		t.Errorf("it said %q, %v", text, err)
	}
}

// A command that ignores that as well is killed.
func TestStubborn(t *testing.T) {
	c, err := Command(exec.Command("sh", "-c", "trap '' TERM; exec sleep 3600"))
	if err != nil {
		t.Fatal(err)
	}
	c.(*command).grace = time.Millisecond
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
