package quick

import (
	"errors"
	"net"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// A goroutine that computes after a message does not keep the only processor for itself, whether the runtime was
// asleep or not when the message came.
func TestOthersRun(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	a, b := pair(t, "unix", filepath.Join(t.TempDir(), "s"))
	for range 20 {
		end := echo(t, a, b)
		var others atomic.Bool
		go others.Store(true)
		for since := time.Now(); !others.Load(); {
			if time.Since(since) > 20*time.Second {
				t.Fatal("no other goroutine has run for 20 s")
			}
		}
		if err := end(); err != nil {
			t.Fatal(err)
		}
	}
}

// echo has another process send a message, while this one does nothing. It makes no system call after that.
func echo(t *testing.T, a, b net.Conn) (end func() error) {
	t.Helper()
	out, err := a.(*conn).Conn.(*net.UnixConn).File()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("printf", "x")
	cmd.Stdout = out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	return func() error { return errors.Join(cmd.Wait(), out.Close()) }
}
