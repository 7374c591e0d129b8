package unixsock

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tunehost/tunehost/host/steer"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/runtimedir"
)

// listener is somebody who listens in a folder of a mode, at the address that an
// experiment's directory names.
func listener(t *testing.T, mode os.FileMode) (storage.Dir, net.Listener) {
	t.Helper()
	folder, err := runtimedir.Make()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = folder.Remove() })
	if err := os.Chmod(folder.Path(), mode); err != nil {
		t.Fatal(err)
	}
	d := held(t)
	l, err := net.Listen("unix", filepath.Join(folder.Path(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	if _, err := Announce(d, l, func(string) {}); err != nil {
		t.Fatal(err)
	}
	return d, l
}

// B-092: nothing is sent to a socket at which another user could listen.
func TestForeignSocket(t *testing.T) {
	for _, mode := range []os.FileMode{0o755, 0o777, 0o710} {
		d, _ := listener(t, mode)
		_, err := Dial(d)
		var foreign *ForeignError
		if !errors.As(err, &foreign) || strings.Contains(err.Error(), "\n") {
			t.Errorf("mode %o: %v", mode, err)
		}
	}
	for _, address := range []string{"@abstract", "relative/s", "", "/etc/s", "/tmp/s\nx", "/tmp/\x1b[31m\u202es"} {
		d, err := storage.At(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(d.Control(), []byte(address), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err = Dial(d)
		var foreign *ForeignError
		if !errors.As(err, &foreign) || strings.ContainsAny(err.Error(), "\n\x1b\u202e") {
			t.Errorf("%q: %v", address, err)
		}
	}
}

// B-092: another user who listens is not spoken to.
func TestForeignListener(t *testing.T) {
	for uid, want := range map[int]bool{os.Getuid(): true, 0: true, os.Getuid() + 1: false,
		65534: os.Getuid() == 65534} {
		if err := checkUser(uid, "/x"); (err == nil) != want {
			t.Errorf("user %d: %v", uid, err)
		}
	}
}

// What the other side says is harmless and of one line; one that never ends its answer is
// given up at the deadline, however often it says something.
func TestStrangeAnswers(t *testing.T) {
	was := timeout
	timeout = 300 * time.Millisecond
	defer func() { timeout = was }()
	for _, c := range []struct {
		answer func(conn net.Conn)
		want   string
	}{
		{func(c net.Conn) { fmt.Fprintln(c, `{"error":"\u001b[2J\u202efiles\nsecond"}`) },
			`\x1b[2J\u202efiles\nsecond`},
		{func(c net.Conn) { fmt.Fprintln(c, "\x1b[2J") }, "the host answered nonsense"},
		{func(c net.Conn) { c.Close() }, "the host ended without an answer"},
		{func(c net.Conn) {
			for _, err := c.Write([]byte("x")); err == nil; _, err = c.Write([]byte("x")) {
				time.Sleep(10 * time.Millisecond) // it drips
			}
		}, "the host has not answered within 300ms"},
	} {
		d, l := listener(t, 0o700)
		go func() {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			defer conn.Close()
			_, _ = bufio.NewReader(conn).ReadString('\n')
			c.answer(conn)
		}()
		client, err := Dial(d)
		if err != nil {
			t.Fatal(err)
		}
		err = ask(client, steer.Stop{})
		var unknown *steer.UnknownError
		if late := strings.Contains(c.want, "has not answered") || strings.Contains(c.want, "ended without"); late !=
			errors.As(err, &unknown) {
			t.Errorf("%v: it is known what has become of the request: %t", err, !late)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) ||
			strings.ContainsAny(err.Error(), "\n\x1b\u202e") {
			t.Errorf("%v, want %s", err, c.want)
		}
		client.Close()
	}
}
