package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/tunehost/tunehost/host/agent/message"
	"github.com/tunehost/tunehost/host/local"
	"github.com/tunehost/tunehost/host/plugin/process"
	"github.com/tunehost/tunehost/host/storage/runtimedir"
)

// drainTime is how long output is read after the end of a process. A process that has left the group
// may hold the pipe open for ever.
const drainTime = 500 * time.Millisecond

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
	if err := a.Guard(); err != nil {
		return err
	}
	here := process.ThisMachine{Tag: local.TagOf(a.Mark).Set, Environ: a.Environ}
	child, err := here.Spawn(context.Background(), spec)
	if err != nil {
		return err
	}
	p := &running{Child: child, stream: s}
	if err := a.add(want.ID, p); err != nil {
		p.Kill()
		<-p.Exited()
		p.Release()
		return err
	}
	defer a.remove(want.ID)
	p.attend()
	return nil
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

// attend sends the output of the process and how it ends, and kills it when the host says so.
func (p *running) attend() {
	_ = p.stream.Put(message.Yes, message.Started{PID: p.PID()}) // obey notices if the host has left
	go p.obey()
	var output sync.WaitGroup
	output.Go(func() { p.pass(message.Stdout) })
	output.Go(func() { p.pass(message.Stderr) })
	<-p.Exited()
	p.drain(&output)
	e := p.Exit()
	_ = p.stream.Put(message.Exit, message.Ended{Code: e.Code, Signal: int(e.Signal)})
}

// pass sends an output to its end. If the host is gone, pass still reads, so that the process does
// not wait.
func (p *running) pass(kind message.Kind) {
	r := p.Stdout()
	if kind == message.Stderr {
		r = p.Stderr()
	}
	_ = p.stream.Copy(kind, r)
	_, _ = io.Copy(io.Discard, r)
}

func (p *running) drain(output *sync.WaitGroup) {
	done := make(chan struct{})
	go func() {
		output.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(drainTime):
	}
	p.Release()
	<-done
}

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
