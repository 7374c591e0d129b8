package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"

	"github.com/tunehost/tunehost/host/agent/message"
	"github.com/tunehost/tunehost/host/local"
	"github.com/tunehost/tunehost/host/plugin/process"
	"github.com/tunehost/tunehost/host/storage/runtimedir"
)

// maxProcesses is the largest number of processes of one agent at a time.
const maxProcesses = 1000

// running is a process that the host has started.
type running struct {
	process.Child
	stream *stream
}

// start starts a process and serves it until its end.
func (a *Agent) start(s *stream) error {
	var want message.Start
	if err := s.ask(&want); err != nil {
		return err
	}
	spec := process.Spec{Program: want.Program}
	spec.Env = append(slices.Clone(spec.Env), local.MarkVariable+"="+a.Mark)
	if len(want.Handshake) > 0 { // it is a plugin
		sockets, err := runtimedir.Make()
		if err != nil {
			return err
		}
		defer func() { _ = sockets.Remove() }()
		spec.Handshake, spec.Sockets = inFolder(want.Handshake, sockets.Path()), sockets.Path()
		spec.Env = append(spec.Env, a.ranksVariable()...)
	}
	p := &running{stream: s}
	if err := a.leftovers.mayStart(s.session, func() error { return a.spawn(want.ID, spec, p) }); err != nil {
		return err
	}
	a.attend(want.ID, p)
	return nil
}

// spawn starts a process, which counts from then on.
func (a *Agent) spawn(id string, spec process.Spec, p *running) (err error) {
	if err := a.Guard(); err != nil {
		return err
	}
	here := process.ThisMachine{Tag: local.TagOf(a.Mark).Set, Environ: a.Environ}
	if p.Child, err = here.Spawn(context.Background(), spec); err != nil {
		return err
	}
	if err = a.add(id, p); err != nil {
		p.Kill()
		go p.Attend(nowhere{io.Discard}, nowhere{io.Discard})
	}
	return err
}

// inFolder returns the variables of the handshake with another folder for the socket.
func inFolder(handshake []string, sockets string) []string {
	const folder = "PLUGIN_UNIX_SOCKET_DIR="
	out := slices.DeleteFunc(slices.Clone(handshake), func(v string) bool { return strings.HasPrefix(v, folder) })
	return append(out, folder+sockets)
}

func (a *Agent) add(id string, p *running) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.closed:
		return errors.New("the agent ends")
	case a.processes[id] != nil:
		return fmt.Errorf("there is a process %q already", id)
	case len(a.processes) >= maxProcesses:
		return fmt.Errorf("there are %d processes already, which is the most for one agent", maxProcesses)
	}
	a.processes[id] = p
	return nil
}

func (a *Agent) remove(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.processes, id)
}

// idle reports whether no process runs that the host has started.
func (a *Agent) idle() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.processes) == 0
}

// attend sends the output of a process and how it ends, and kills it when the host says so. When the last process
// has ended, everything that the processes have left behind is removed before the host hears of that end, because
// the host may then start the next attempt.
func (a *Agent) attend(id string, p *running) {
	_ = p.stream.Put(message.Yes, message.Started{PID: p.PID()}) // obey notices if the host has left
	go p.obey()
	e := p.Attend(output{p.stream, message.Stdout}, output{p.stream, message.Stderr})
	a.remove(id)
	a.leftovers.kill(a.Mark, a.idle)
	_ = p.stream.Put(message.Exit, message.Ended{Code: e.Code, Signal: int(e.Signal)})
}

// output sends an output of a process. It fails once the host is gone.
type output struct {
	stream *stream
	kind   message.Kind
}

// Write implements io.Writer.
func (o output) Write(p []byte) (int, error) { return len(p), o.stream.Writer.Write(o.kind, p) }

// Close implements io.Closer.
func (output) Close() error { return nil }

// nowhere takes the output of a process that the host does not hear of.
type nowhere struct{ io.Writer }

// Close implements io.Closer.
func (nowhere) Close() error { return nil }

// command carries out a command of the host for the process.
func (p *running) command(f message.Frame) {
	var s message.Signalled
	switch {
	case f.Kind == message.Kill:
		p.Kill()
	case f.Kind == message.Signal && message.Decode(f.Content, &s) == nil && s.Signal > 0 && s.Signal < 65:
		p.Signal(syscall.Signal(s.Signal))
	}
}

// obey reads the host's commands for the process. When the host is gone, it kills the process, because its
// trial may already continue elsewhere, in the same directory.
func (p *running) obey() {
	var buffer []byte
	for {
		f, err := message.Read(p.stream.Conn, buffer)
		if err != nil {
			p.Kill()
			return
		}
		p.command(f)
		buffer = f.Content
	}
}
