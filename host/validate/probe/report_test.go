package probe

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tunehost/tunehost/plugins/sdk"
)

func TestMain(m *testing.M) {
	if value := os.Getenv(sdk.AgentVariable); Handles(value, nil) {
		os.Exit(Main(value, "test", nil))
	}
	os.Exit(m.Run())
}

// A lease may be given back while its probe still speaks with the receiver: no socket stays on the node, whichever
// signal the engine sends.
func TestSocketOfReleasedProbe(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGUSR1} {
		dir, err := os.MkdirTemp("/tmp", "probe-") // its path is short
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		socket := filepath.Join(dir, "node", "agent")
		probe := startProbe(t, socket)
		conn := connect(t, socket)
		line, err := bufio.NewReader(conn).ReadString('\n')
		if err != nil || !strings.Contains(line, `"Token":"secret"`) {
			t.Fatal(line, err)
		}
		time.AfterFunc(10*time.Second, func() { _ = conn.Close() }) // a probe that ignores the signal ends then
		if err := probe.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
		_ = probe.Wait()
		if _, err := os.Lstat(filepath.Dir(socket)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v: the folder of the socket is left: %v", s, err)
		}
	}
}

// startProbe starts a probe that is reached at a socket.
func startProbe(t *testing.T, socket string) *exec.Cmd {
	t.Helper()
	text, err := json.Marshal(instructions{Token: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), sdk.AgentVariable+"="+prefix+base64.RawURLEncoding.EncodeToString(text),
		sdk.AgentSocketVariable+"="+socket)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd
}

// connect waits for a socket.
func connect(t *testing.T, socket string) net.Conn {
	t.Helper()
	for range 600 {
		if conn, err := net.Dial("unix", socket); err == nil {
			return conn
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("the probe does not listen")
	return nil
}
