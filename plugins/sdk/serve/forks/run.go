//go:build linux

package forks

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/tunehost/tunehost/plugins/sdk/train"
)

// What an error message has of the standard error of a trial that died.
const (
	tailBytes = 4096
	tailLines = 20
)

// A run is one trial's process.
type run struct {
	id      uint64
	session *session
	conn    *net.UnixConn
	stderr  string // its file
	from    int64  // where this attempt begins in it
	exit    chan func()
	pid     atomic.Int32
	killed  atomic.Bool

	// Only for follow.
	started bool
	ended   *train.Event
}

// send sends to the process. If it has ended, nothing happens: the program reports that.
func (r *run) send(message any) {
	if data, err := frame(message); err == nil {
		_, _ = r.conn.Write(data)
	}
}

func (r *run) kill() {
	r.killed.Store(true)
	_ = r.session.program.send(nil, "kill", r.id)
}

// over is called when the process and all that it has started are gone. What it has said before is read first.
func (r *run) over(last func()) {
	r.exit <- last
	_ = r.conn.CloseRead()
}

// follow passes on what the process tells, until it has ended.
func (r *run) follow() {
	if err := r.listen(); err != nil {
		r.kill()
		r.ended = &train.Event{Kind: train.Ended, Error: "its process cannot be understood: " + err.Error()}
	}
	last := <-r.exit
	_ = r.conn.Close()
	last()
}

// listen returns nil at the end of the connection, and an error for what is no message.
func (r *run) listen() error {
	reader := bufio.NewReader(r.conn)
	var buffer []byte
	for {
		body, err := readFrame(reader, &buffer)
		switch {
		case errors.Is(err, errTooLarge):
			return err
		case err != nil:
			return nil
		}
		var m told
		if err := json.Unmarshal(body, &m); err != nil {
			return err
		}
		r.tell(m.event(r.id))
	}
}

func (r *run) tell(e train.Event) {
	if e.Kind == train.Ended {
		r.ended = &e // passed on when the process is gone and its resources are free
		return
	}
	r.started = r.started || e.Kind == train.Started
	r.session.out.Push(e)
}

// died ends the run with what the process has told, or how it died.
func (r *run) died(status int) {
	if !r.started {
		r.session.out.Push(train.Event{Kind: train.Started, Run: r.id, PID: uint32(r.pid.Load())})
	}
	switch {
	case r.ended != nil:
		r.end(*r.ended)
	case r.killed.Load():
		r.end(train.Event{Kind: train.Ended})
	default:
		r.end(train.Event{Kind: train.Ended, Error: strings.TrimSpace(death(status) + "\n" + r.tail())})
	}
}

func (r *run) end(e train.Event) {
	e.Run = r.id
	r.session.remove(r.id)
	r.session.out.Push(e)
}

// death says how a process ended that did not report its end.
func death(status int) string {
	if status >= 0 {
		return fmt.Sprintf("its process exited with status %d before the trial had ended", status)
	}
	name := unix.SignalName(syscall.Signal(-status))
	if name == "" {
		name = "unknown"
	}
	return fmt.Sprintf("its process was ended by signal %d (%s)", -status, name)
}

// tail returns the last lines that this attempt wrote to stderr.
func (r *run) tail() string {
	end := size(r.stderr)
	if end <= r.from {
		return ""
	}
	f, err := os.Open(r.stderr)
	if err != nil {
		return ""
	}
	defer f.Close()
	text, _ := io.ReadAll(io.NewSectionReader(f, max(r.from, end-tailBytes), tailBytes))
	lines := strings.Split(strings.TrimSpace(strings.ToValidUTF8(string(text), "\uFFFD")), "\n")
	lines = lines[max(0, len(lines)-tailLines):]
	return "its stderr is in " + r.stderr + "; it ends:\n" + strings.Join(lines, "\n")
}

func size(file string) int64 {
	info, err := os.Stat(file)
	if err != nil {
		return 0
	}
	return info.Size()
}
