package link

import (
	"crypto/tls"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
)

// A stranger that sends something other than a handshake, an endless line or nothing is disconnected, and
// keeps nobody else out.
func TestStrangers(t *testing.T) {
	w := openHub(t, t.TempDir())
	for _, text := range []string{"GET / HTTP/1.1\r\n\r\n", strings.Repeat("\x16", 1<<16), "\x16\x03\x01\xff\xff"} {
		conn, err := net.Dial("tcp", w.Addresses()[0])
		if err != nil {
			t.Fatal(err)
		}
		_, _ = conn.Write([]byte(text))
		_ = conn.(*net.TCPConn).CloseWrite()
		_, _ = io.Copy(io.Discard, conn) // until the hub closes it
	}
	long, err := tls.Dial("tcp", w.Addresses()[0], w.client())
	if err != nil {
		t.Fatal(err)
	}
	_, _ = long.Write([]byte(strings.Repeat("x", 2*maxHello)))
	if a, err := readAnswer(long); err == nil && a.Refused == "" {
		t.Error(a)
	}
}

// Strangers that say nothing fill all places. The oldest ones are disconnected when others come.
func TestSlowStrangers(t *testing.T) {
	w := openHub(t, t.TempDir())
	for range maxStrangers {
		conn, err := net.Dial("tcp", w.Addresses()[0])
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
	}
	for w.gate.size() < maxStrangers {
		runtime.Gosched()
	}
	w.clock.advance(patience)
	run(t, w.expect("th-1", 1), 0)
	w.next(Connected)
}
