package link

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
)

// open opens a stream on one side, and accepts it on the other.
func open(t *testing.T, from, to Session, p Purpose) (near, far net.Conn) {
	t.Helper()
	near, err := from.Open(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	got, far, err := to.Accept()
	if err != nil || got.Kind != p.Kind || !bytes.Equal(got.Args, p.Args) {
		t.Fatal(got, err)
	}
	return near, far
}

// pipe is a pipe that ends with the test.
func pipe(t *testing.T) (host, agent Session) {
	host, agent = Pipe()
	t.Cleanup(func() { _ = host.Close(); _ = agent.Close() })
	return host, agent
}

// Both sides open streams, with bytes both ways. After the end of one direction the other still
// works.
func TestStreams(t *testing.T) {
	host, agent := pipe(t)
	for _, sides := range [][2]Session{{host, agent}, {agent, host}} {
		near, far := open(t, sides[0], sides[1], Purpose{Kind: "start", Args: json.RawMessage(`{"a":1}`)})
		go func() {
			_, _ = io.Copy(far, far)
			_ = far.Close()
		}()
		sent := bytes.Repeat([]byte("line\n"), 1<<20)
		go func() {
			_, _ = near.Write(sent)
			_ = near.(HalfCloser).CloseWrite()
		}()
		if got, err := io.ReadAll(near); err != nil || !bytes.Equal(got, sent) {
			t.Error(len(got), err)
		}
		_ = near.Close()
	}
}

// Closing a stream wakes its reader, and a writer on the other side gets an error.
func TestStreamCloses(t *testing.T) {
	host, agent := pipe(t)
	near, far := open(t, host, agent, Purpose{Kind: "dial"})
	read := make(chan error)
	go func() {
		_, err := near.Read(make([]byte, 1))
		read <- err
	}()
	_ = near.Close()
	if err := <-read; !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
	if _, err := far.Read(make([]byte, 1)); err != io.EOF {
		t.Error(err)
	}
	if _, err := far.Write(make([]byte, 4<<20)); err != nil { // more than a window: it does not hang
		t.Error(err)
	}
}

// The end of a session ends its streams, with an error that is not io.EOF: they were cut off.
func TestSessionEnds(t *testing.T) {
	host, agent := pipe(t)
	near, _ := open(t, host, agent, Purpose{Kind: "start"})
	_ = agent.Close()
	if _, err := near.Read(make([]byte, 1)); err == nil || errors.Is(err, io.EOF) {
		t.Error(err)
	}
	<-host.Done()
	if _, _, err := host.Accept(); err == nil {
		t.Error("a stream came after the end")
	}
	if _, err := host.Open(t.Context(), Purpose{Kind: "start"}); err == nil {
		t.Error("a stream was opened after the end")
	}
}

// Streams with an invalid purpose never reach Accept, and do not stop others.
func TestSenselessPurposes(t *testing.T) {
	host, agent := pipe(t)
	mux := host.(*session).mux
	for _, text := range []string{"", "\n", "{}\n", "{", "null\n", `{"kind":3}` + "\n",
		strings.Repeat("x", MaxPurpose+9)} {
		conn, err := mux.OpenStream(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			_, _ = conn.Write([]byte(text))
			_ = conn.Close()
		}()
	}
	open(t, host, agent, Purpose{Kind: "start"})
	if _, err := host.Open(t.Context(), Purpose{Kind: strings.Repeat("x", MaxPurpose)}); err == nil {
		t.Error("a purpose of any length is accepted")
	}
}

// Streams that nobody accepts are bounded: others wait until their context ends.
func TestUnreadStreams(t *testing.T) {
	host, agent := pipe(t)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for len(agent.(*session).accepted) < maxUnread {
			runtime.Gosched()
		}
		cancel()
	}()
	var err error
	for err == nil {
		_, err = host.Open(ctx, Purpose{Kind: "start"})
	}
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func FuzzPurpose(f *testing.F) {
	f.Add([]byte(`{"kind":"start","args":{"path":"x"}}` + "\nrest"))
	f.Add([]byte("\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		host, agent := net.Pipe()
		go func() {
			_, _ = host.Write(text)
			_ = host.Close()
		}()
		defer agent.Close()
		p, err := readPurpose(bufio.NewReader(agent))
		if err == nil && p.Kind == "" {
			t.Error("a purpose without a kind")
		}
	})
}
