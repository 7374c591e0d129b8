package quick

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// pair returns both ends of a connection.
func pair(t *testing.T, network, address string) (a, b net.Conn) {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if a, err = net.Dial(network, l.Addr().String()); err == nil {
		b, err = l.Accept()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = a.Close(), b.Close() })
	return Own(a), Own(b)
}

// networks are those of the tests, with an address to listen at.
func networks(t *testing.T) map[string]string {
	return map[string]string{"tcp": "127.0.0.1:0", "unix": filepath.Join(t.TempDir(), "s")}
}

// Messages of all sizes arrive whole, also those that no socket has room for, and then the end.
func TestMessages(t *testing.T) {
	for network, address := range networks(t) {
		a, b := pair(t, network, address)
		large := bytes.Repeat([]byte("0123456789"), 1<<20)
		go func() {
			defer a.Close()
			for _, n := range []int{1, 0, 1000, len(large), 1} {
				if m, err := a.Write(large[:n]); m != n || err != nil {
					t.Errorf("%s: wrote %d of %d: %v", network, m, n, err)
				}
			}
		}()
		var want []byte
		for _, n := range []int{1, 0, 1000, len(large), 1} {
			want = append(want, large[:n]...)
		}
		if got, err := io.ReadAll(b); !bytes.Equal(got, want) || err != nil {
			t.Errorf("%s: read %d of %d bytes: %v", network, len(got), len(want), err)
		}
	}
}

// Deadlines, and the ends of connections, are told as those of package net are.
func TestErrors(t *testing.T) {
	for network, address := range networks(t) {
		t.Run(network, func(t *testing.T) { testErrors(t, network, address) })
	}
}

func testErrors(t *testing.T, network, address string) {
	a, b := pair(t, network, address)
	talk(t, a, b) // from now on reads are quick
	_ = b.SetReadDeadline(time.Unix(1, 0))
	if _, err := b.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("deadline: %v", err)
	}
	_ = b.SetReadDeadline(time.Time{})
	talk(t, a, b)
	got := make(chan error)
	go func() {
		_, err := b.Read(make([]byte, 1))
		got <- err
	}()
	_ = b.Close()
	if err := <-got; !errors.Is(err, net.ErrClosed) {
		t.Errorf("closed while it reads: %v", err)
	}
	if _, err := b.Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
		t.Errorf("write to a closed connection: %v", err)
	}
	if err := b.SetDeadline(time.Time{}); !errors.Is(err, net.ErrClosed) {
		t.Errorf("deadline of a closed connection: %v", err)
	}
	if err := b.Close(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("closed twice: %v", err)
	}
	var broken *net.OpError
	if _, err := io.Copy(a, endless{}); !errors.As(err, &broken) || broken.Op != "write" {
		t.Errorf("write to the other end of a closed connection: %v", err)
	}
}

// A write that waits for room ends at its deadline, and when the connection is closed.
func TestWritesWait(t *testing.T) {
	for network, address := range networks(t) {
		a, _ := pair(t, network, address)
		_ = a.SetWriteDeadline(time.Now().Add(20 * time.Millisecond))
		if _, err := io.Copy(a, endless{}); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: deadline: %v", network, err)
		}
		_ = a.SetWriteDeadline(time.Time{})
		got := make(chan error)
		go func() {
			_, err := io.Copy(a, endless{})
			got <- err
		}()
		_ = a.Close()
		if err := <-got; !errors.Is(err, net.ErrClosed) {
			t.Errorf("%s: closed while it writes: %v", network, err)
		}
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func talk(t *testing.T, from, to net.Conn) {
	t.Helper()
	_, err := from.Write([]byte("x"))
	if err == nil {
		_, err = to.Read(make([]byte, 1))
	}
	if err != nil {
		t.Fatal(err)
	}
}
