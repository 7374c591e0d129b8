package link

import (
	"encoding/binary"
	"io"
	"net"
	"testing"
)

// The first frames of a session are small, and later ones are as long as they can be.
func TestGentle(t *testing.T) {
	a, b := net.Pipe()
	l := newLasting(a)
	t.Cleanup(func() { _ = b.Close(); _ = l.Close() })
	go func() { _, _ = l.Write(make([]byte, gently+2*maxFrame)) }()
	longest, sent := 0, 0
	for sent < gently+2*maxFrame {
		var head [frameHead]byte
		if _, err := io.ReadFull(b, head[:]); err != nil {
			t.Fatal(err)
		}
		n := int(binary.BigEndian.Uint32(head[8:]))
		if sent < gently && n > gentle {
			t.Errorf("a frame of %d bytes after %d", n, sent)
		}
		if _, err := io.CopyN(io.Discard, b, int64(n)); err != nil {
			t.Fatal(err)
		}
		longest, sent = max(longest, n), sent+n
	}
	if longest != maxFrame {
		t.Errorf("the longest frame has %d bytes, want %d", longest, maxFrame)
	}
}
