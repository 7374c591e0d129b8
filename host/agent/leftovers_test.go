package agent_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tunehost/tunehost/host/agent"
	"github.com/tunehost/tunehost/host/agent/link"
	"github.com/tunehost/tunehost/host/exec/remote"
	"github.com/tunehost/tunehost/host/local"
	"github.com/tunehost/tunehost/host/plugin/process"
)

// leaving starts processes beside a program in every manner of leaving it: in its group, in a session of their own,
// handed to another parent, and without the environment by which they could be known.
const leaving = `f="$PWD/kept"; touch "$f"
tail -f "$f" > /dev/null 2>&1 &
setsid tail -f "$f" > /dev/null 2>&1 &
(setsid sh -c 'tail -f "$PWD/kept" & exit' > /dev/null 2>&1 &)
(cd /; env -i setsid sh -c "tail -f $f & exit" > /dev/null 2>&1 &)
while [ "$(pgrep -fc "^tail -f $f")" -lt 4 ]; do sleep 0.02; done
touch ready
while [ ! -e end ]; do sleep 0.02; done
`

// B-025: what a program has started ends on its node with the program, or with the connection to the host: the next
// attempt of its trial may follow at once.
func TestLeftovers(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux shows whose processes are")
	}
	for name, end := range map[string]func(*testing.T, *node){
		"the host is gone":      func(_ *testing.T, n *node) { _ = n.session.Close() },
		"the program ends":      func(t *testing.T, n *node) { touch(t, filepath.Join(n.dir, "end")) },
		"the program is killed": func(_ *testing.T, n *node) { n.child.Kill() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := begin(t)
			end(t, n)
			<-n.ended
			if name == "the host is gone" {
				<-n.served // then the agent connects again, and the next attempt may begin
			}
			if left := tails(t, n.dir); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

// node is an agent with a program that has left processes behind.
type node struct {
	dir           string
	session       link.Session // the host's side
	child         process.Child
	served, ended chan struct{} // closed when the session and the program are over
}

func begin(t *testing.T) *node {
	t.Helper()
	host, side := link.Pipe()
	n := &node{dir: t.TempDir(), session: host, served: make(chan struct{}), ended: make(chan struct{})}
	a := agent.New(agent.Options{Mark: local.NewMark(t.TempDir()), Environ: os.Environ(), Dir: t.TempDir()})
	go func() {
		defer close(n.served)
		_ = a.Serve(side)
	}()
	t.Cleanup(func() {
		_ = host.Close()
		<-n.served
		a.Close()
		local.KillMarked(a.Mark)
	})
	var err error
	n.child, err = remote.Machine(context.Background(), host).Spawn(t.Context(), process.Spec{Program: process.Program{
		Name: "leaving", Path: "/bin/sh", Args: []string{"-c", leaving}, Dir: n.dir}})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(n.ended)
		n.child.Attend(nowhere{}, nowhere{})
	}()
	await(t, filepath.Join(n.dir, "ready"))
	return n
}

// nowhere takes the output of a program.
type nowhere struct{}

func (nowhere) Write(p []byte) (int, error) { return len(p), nil }
func (nowhere) Close() error                { return nil }

func touch(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// await waits until a file is there.
func await(t *testing.T, path string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(path); err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatal(path + " does not appear")
		}
	}
}

// tails lists the processes that the program in a folder has left behind.
func tails(t *testing.T, dir string) (list []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text, _ := os.ReadFile(f) // it may have ended
		if line := strings.ReplaceAll(string(text), "\x00", " "); strings.HasPrefix(line, "tail -f "+dir) {
			list = append(list, filepath.Base(filepath.Dir(f))+" "+line)
		}
	}
	return list
}
