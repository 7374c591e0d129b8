//go:build linux

package forks

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

// errGone says that the program has ended, and this process with it.
var errGone = errors.New("the process that forks trials is gone")

// A program is the process that forks, seen from here.
type program struct {
	conn    *net.UnixConn
	sending sync.Mutex

	mu      sync.Mutex
	calls   map[uint64]chan answer
	next    uint64
	session *session
}

// An answer of the author's code.
type answer struct {
	ok    bool
	value json.RawMessage
}

func newProgram(conn *net.UnixConn) *program {
	return &program{conn: conn, calls: map[uint64]chan answer{}}
}

// send sends a message to the program, with a file if there is one.
func (p *program) send(file *os.File, message ...any) error {
	data, err := frame(message)
	if err != nil {
		return err
	}
	p.sending.Lock()
	defer p.sending.Unlock()
	if file != nil {
		return sendFile(p.conn, data, file)
	}
	_, err = p.conn.Write(data)
	return err
}

// A refusedError is an error of the author's code, or a refusal of it.
type refusedError struct{ why string }

func (e *refusedError) Error() string { return e.why }

// call has the program call the author's code, and decodes what it returns.
func (p *program) call(into any, name string, arguments ...any) error {
	answered := make(chan answer, 1)
	p.mu.Lock()
	number := p.next
	p.next++
	p.calls[number] = answered
	p.mu.Unlock()
	if err := p.send(nil, append([]any{name, number}, arguments...)...); err != nil {
		return errGone
	}
	a := <-answered
	if a.ok {
		return json.Unmarshal(a.value, into)
	}
	var why string
	if err := json.Unmarshal(a.value, &why); err != nil {
		return err
	}
	return &refusedError{why}
}

// listen handles what the program says, until it has ended.
func (p *program) listen() error {
	reader := bufio.NewReaderSize(p.conn, 1<<16)
	var buffer []byte
	for {
		body, err := readFrame(reader, &buffer)
		if err != nil {
			return errGone
		}
		if err := p.understand(body); err != nil {
			return fmt.Errorf("the process that forks said %.80q: %w", body, err)
		}
	}
}

// understand handles one message: a name and arguments.
func (p *program) understand(body []byte) error {
	var message []json.RawMessage
	if err := decode(body, &message); err != nil {
		return err
	}
	var name string
	if err := all(message, &name); err != nil {
		return err
	}
	return p.hear(name, message[1:])
}

func (p *program) hear(name string, arguments []json.RawMessage) error {
	var number uint64
	var ok bool
	var pid, status int
	var why string
	switch name {
	case "reply":
		var value json.RawMessage
		err := all(arguments, &number, &ok, &value)
		p.replied(number, answer{ok, append(json.RawMessage(nil), value...)})
		return err
	case "forked":
		err := all(arguments, &number, &pid)
		p.trials().forked(number, pid)
		return err
	case "unforked":
		err := all(arguments, &number, &why)
		p.trials().unforked(number, why)
		return err
	case "exited":
		err := all(arguments, &number, &status)
		p.trials().exited(number, status)
		return err
	}
	return errors.New("nobody knows that")
}

func (p *program) replied(number uint64, a answer) {
	p.mu.Lock()
	answered := p.calls[number]
	delete(p.calls, number)
	p.mu.Unlock()
	if answered != nil {
		answered <- a
	}
}

// begin makes the session of the program's trials.
func (p *program) begin() *session {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.session = &session{program: p, out: train.NewQueue(), runs: map[uint64]*run{}}
	return p.session
}

func (p *program) trials() *session {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.session
}

// all decodes one argument after the other.
func all(arguments []json.RawMessage, into ...any) error {
	if len(arguments) < len(into) {
		return errors.New("an argument is missing")
	}
	for i, target := range into {
		if err := decode(arguments[i], target); err != nil {
			return err
		}
	}
	return nil
}

func decode(text []byte, into any) error { return json.Unmarshal(text, into) }

// description is what the program says about its trainable.
type description struct {
	Name, Version, Summary, Options string
}

func (d description) info() sdk.Info {
	return sdk.Info{Kind: sdk.KindTrainable, Name: d.Name, Version: d.Version, Summary: d.Summary,
		Options: []byte(d.Options)}
}
