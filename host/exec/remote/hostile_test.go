package remote

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/tunehost/tunehost/host/agent/link"
	"github.com/tunehost/tunehost/host/agent/message"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/plugin/process"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// begun sends the answer that a process has started.
func begun(conn net.Conn) *message.Writer {
	_ = message.Expect(conn, message.Ask, nil)
	w := message.NewWriter(conn)
	_ = w.Put(message.Yes, message.Started{PID: 1})
	return w
}

// hostile are agents that break the protocol, each with the host's message about it.
var hostile = map[string]struct {
	answer func(conn net.Conn)
	says   string
}{
	"closes":  {func(net.Conn) {}, "cannot be reached"},
	"garbage": {func(c net.Conn) { _, _ = io.WriteString(c, strings.Repeat("garbage\n", 1000)) }, "bytes, more than"},
	"endless": {func(c net.Conn) {
		_, _ = c.Write(huge())
		_, _ = io.Copy(c, forever{})
	}, "bytes, more than"},
	"other kind": {func(c net.Conn) { _ = message.NewWriter(c).Put(message.Exit, 1) }, "where 'y' was expected"},
	"no JSON": {func(c net.Conn) { _ = message.NewWriter(c).Write(message.Yes, []byte("{")) },
		"cannot be read"},
	"strange end": {func(c net.Conn) { _ = begun(c).Put(message.Exit, message.Ended{Code: -7}) },
		"broke the protocol"},
	"strange kind": {func(c net.Conn) { _ = begun(c).Write('!', nil) }, "broke the protocol"},
	"only noise": {func(c net.Conn) { _ = begun(c).Copy(message.Stdout, io.LimitReader(forever{}, 1<<20)) },
		"first line"},
	"refuses": {func(c net.Conn) { _ = message.NewWriter(c).Put(message.No, message.Refusal{Why: "a\nb\x1b"}) },
		"a"},
}

func huge() []byte { return binary.BigEndian.AppendUint32([]byte{'y'}, 1<<31) }

// forever is an output without an end and without a line.
type forever struct{}

func (forever) Read(p []byte) (int, error) { return len(p), nil }

// An agent that breaks the protocol makes its trial fail, and does not harm the host.
func TestHostileAgents(t *testing.T) {
	for name, h := range hostile {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			host, node := link.Pipe()
			defer host.Close()
			go serve(node, h.answer)
			c := process.Config{Program: process.Program{Kind: sdk.KindTrainable, Name: "x", StartTimeout: time.Minute},
				On: Machine(context.Background(), host)}
			p, err := process.Start(t.Context(), c)
			if err == nil {
				_ = p.Close()
				t.Fatal("it started")
			}
			if f := plugin.FailureOf(err); f != plugin.Unreachable && f != plugin.NotStarted {
				t.Errorf("the failure is %v", f)
			}
			if !strings.Contains(err.Error(), h.says) || strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Errorf("%q; want %q in it", err, h.says)
			}
		})
	}
}

// serve answers each stream of any kind.
func serve(s link.Session, answer func(net.Conn)) {
	for {
		_, conn, err := s.Accept()
		if err != nil {
			return
		}
		go func() {
			answer(conn)
			_ = conn.Close()
		}()
	}
}
