package door

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tunehost/tunehost/internal/testplace"
)

// bridged runs a bridge to a socket; what it prints is read from the output.
func bridged(t *testing.T, socket string) (in *io.PipeWriter, out *io.PipeReader) {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	go func() { _ = outW.CloseWithError(Bridge(t.Context(), socket, inR, outW)) }()
	t.Cleanup(func() { _, _ = inW.Close(), outR.Close() })
	return inW, outR
}

// A bridge may be there before its agent. All bytes come as they are, and the end of one side is that of the other.
func TestBridge(t *testing.T) {
	socket := filepath.Join(testplace.Short(t), "d", "agent")
	in, out := bridged(t, socket)
	d, err := Open(socket)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := d.Take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	text := bytes.Repeat([]byte("\x00\r\n\xff"), 1<<18)
	go func() { _, _ = in.Write(text) }()
	got := make([]byte, len(text))
	if _, err := io.ReadFull(conn, got); err != nil || !bytes.Equal(got, text) {
		t.Error("the agent got something else", err)
	}
	go func() {
		_, _ = conn.Write(text)
		_ = conn.Close()
	}()
	if got, err := io.ReadAll(out); err != nil || !bytes.Equal(got, text) {
		t.Error("the host got something else", err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(filepath.Dir(socket)); err == nil {
		t.Error("the folder is left")
	}
}

// Nobody else reaches the socket, and a folder that somebody else has prepared is refused.
func TestModes(t *testing.T) {
	dir := testplace.Short(t)
	d, err := Open(filepath.Join(dir, "d", "agent"))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, path := range []string{d.path, filepath.Dir(d.path)} {
		if info, err := os.Lstat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Error(path, info.Mode(), err)
		}
	}
	open := filepath.Join(dir, "open")
	if err := os.Mkdir(open, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Dir(d.path), filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for path, why := range map[string]string{"open/agent": "other users", "link/other": "not a folder"} {
		_, err := Open(filepath.Join(dir, path))
		if err == nil || !strings.Contains(err.Error(), why) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// A bridge waits for its agent, and for nothing else.
func TestBridgeRefuses(t *testing.T) {
	dir := testplace.Short(t)
	for name, mode := range map[string]os.FileMode{"open": 0o755, "private": 0o700} {
		at := filepath.Join(dir, name)
		if err := errors.Join(os.Mkdir(at, mode), os.Chmod(at, mode)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "private", "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	open, _ := io.Pipe()
	for path, why := range map[string]string{"relative": "absolute path", "": "absolute path",
		"/" + strings.Repeat("x", 200): "at most 107 bytes", dir + "/open/agent": "other users can read",
		dir + "/private/file": "not a socket", dir + "/private/file/agent": "not a folder"} {
		err := Bridge(t.Context(), path, open, nil)
		if err == nil || !strings.Contains(err.Error(), why) || strings.Contains(err.Error(), "chmod") ||
			strings.Contains(err.Error(), "no agent listens") { // it has waited
			t.Errorf("%q: %v", path, err)
		}
	}
}

// A bridge whose host has left does not wait for its agent.
func TestBridgeIsUnwanted(t *testing.T) {
	socket := filepath.Join(testplace.Short(t), "d", "agent")
	began := time.Now()
	if err := Bridge(t.Context(), socket, strings.NewReader(""), io.Discard); !errors.Is(err, errUnwanted) {
		t.Error(err)
	}
	if waited := time.Since(began); waited > appears/2 {
		t.Error("it has waited for", waited)
	}
}

// B-132, B-137: engines signal all processes of a job to give notice of its end. The agent tells the host of it through
// the bridge, which ends with its sides alone.
func TestBridgeIsSignalled(t *testing.T) {
	socket := filepath.Join(testplace.Short(t), "d", "agent")
	d, err := Open(socket)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	defer signal.Reset(syscall.SIGUSR1, syscall.SIGUSR2)
	in, inW := io.Pipe()
	outR, out := io.Pipe()
	exit := make(chan int, 1)
	go func() {
		defer out.Close()
		exit <- Main([]string{"bridge", socket}, in, out, io.Discard)
	}()
	conn, err := d.Take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	go io.Copy(conn, conn)
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, syscall.SIGTERM, syscall.SIGHUP, os.Interrupt)
	defer signal.Stop(heard)
	for _, s := range []syscall.Signal{syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGHUP, syscall.SIGINT,
		syscall.SIGTERM} {
		if err := syscall.Kill(os.Getpid(), s); err != nil {
			t.Fatal(err)
		}
		if s != syscall.SIGUSR1 && s != syscall.SIGUSR2 {
			<-heard
		}
		for range 100 { // its bytes are carried as before
			go inW.Write([]byte("notice"))
			got := make([]byte, len("notice"))
			if _, err := io.ReadFull(outR, got); err != nil || string(got) != "notice" {
				t.Fatalf("after %v: %q, %v", s, got, err)
			}
		}
	}
	_ = inW.Close()
	if status := <-exit; status != 0 {
		t.Error(status)
	}
}

// The socket of a dead agent is replaced; that of one that lives, and a file, are not.
func TestStale(t *testing.T) {
	dir := testplace.Short(t)
	socket := filepath.Join(dir, "agent")
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	dead, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	dead.(*net.UnixListener).SetUnlinkOnClose(false)
	_ = dead.Close()
	d, err := Open(socket)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(socket); err == nil || !strings.Contains(err.Error(), "another agent listens") {
		t.Error(err)
	}
	_ = d.Close()
	if err := os.WriteFile(socket, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(socket); err == nil || !strings.Contains(err.Error(), "something else") {
		t.Error(err)
	}
	for _, path := range []string{"relative", "", "/" + strings.Repeat("x", 200)} {
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), "absolute path") {
			t.Error(err)
		}
	}
}

// A newer connection takes the place of one that nobody has taken: its bridge may have died unheard.
func TestNewest(t *testing.T) {
	socket := filepath.Join(testplace.Short(t), "d", "agent")
	d, err := Open(socket)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	_, first := bridged(t, socket)
	d.Await(t.Context())
	in, _ := bridged(t, socket)
	if text, err := io.ReadAll(first); err != nil || len(text) > 0 {
		t.Error(text, err)
	}
	go func() { _, _ = io.WriteString(in, "new") }()
	conn, err := d.Take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 3)
	if _, err := io.ReadFull(conn, got); err != nil || string(got) != "new" {
		t.Error(string(got), err)
	}
}

// The arguments of an agent.
func TestArguments(t *testing.T) {
	for _, c := range []struct {
		args   string
		socket string
		bad    bool
	}{{"", "", false}, {"--socket /a/b", "/a/b", false}, {"--socket=/a", "/a", false}, {"--socket", "", true},
		{"--socket=", "", true}, {"/a/b", "", true},
		{"--socket /a --socket", "", true}} {
		socket, err := Socket(strings.Fields(c.args))
		if socket != c.socket || (err != nil) != c.bad {
			t.Errorf("%q: %q, %v", c.args, socket, err)
		}
	}
	var out, errs bytes.Buffer
	if exit := Main([]string{"bridge"}, nil, &out, &errs); exit != 2 || !strings.Contains(errs.String(), "PATH") {
		t.Error(exit, errs.String())
	}
	exit := Main([]string{"bridge", "--help"}, nil, &out, &errs)
	if exit != 0 || !strings.Contains(out.String(), "PATH") {
		t.Error(exit, out.String())
	}
}
