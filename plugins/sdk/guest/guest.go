// Package guest implements a plugin inside a WASM module: it answers the calls of package abi with
// an author's plugin. It does not handle pointers, so it runs and is tested on any platform;
// sdk/serve exports it from modules built with GOOS=wasip1.
//
// It is for implementations of transports, not for authors.
package guest

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/abi"
	"github.com/tunehost/tunehost/plugins/sdk/service"
)

// Plugins are the plugins of a module: at most one of each kind.
type Plugins struct {
	Searcher  *sdk.SearcherPlugin
	Scheduler *sdk.SchedulerPlugin
	Trainable *sdk.TrainablePlugin
}

// Host is the interface of a module's imports; package abi documents the functions.
type Host interface {
	Log(level int, line string)
	Report(message []byte) abi.Answer
	Saved(message []byte) abi.Answer
	Stopped() abi.Answer
}

// A Module answers calls, one at a time.
type Module struct {
	host    Host
	methods map[string]method
}

// A method decodes a request message and returns the response message.
type method func(request []byte) (proto.Message, error)

// New returns a module that serves the plugins.
func New(p Plugins, host Host) *Module {
	m := &Module{host: host, methods: map[string]method{}}
	if p.Searcher != nil {
		s := service.NewSearcher(*p.Searcher)
		add(m, "SearcherService/DescribeSearcher", s.DescribeSearcher)
		add(m, "SearcherService/OpenSearcher", s.OpenSearcher)
		add(m, "SearcherService/Suggest", s.Suggest)
		add(m, "SearcherService/SnapshotSearcher", s.SnapshotSearcher)
	}
	if p.Scheduler != nil {
		s := service.NewScheduler(*p.Scheduler)
		add(m, "SchedulerService/DescribeScheduler", s.DescribeScheduler)
		add(m, "SchedulerService/OpenScheduler", s.OpenScheduler)
		add(m, "SchedulerService/Decide", s.Decide)
		add(m, "SchedulerService/SnapshotScheduler", s.SnapshotScheduler)
	}
	if p.Trainable != nil {
		t := &trainable{service.NewTrainable(*p.Trainable), host}
		add(m, "TrainableService/DescribeTrainable", t.DescribeTrainable)
		add(m, "TrainableService/OpenTrainable", t.OpenTrainable)
		add(m, "TrainableService/RequestResources", t.RequestResources)
		add(m, "GuestService/GuestTrain", t.train)
	}
	return m
}

// message is a pointer to Q that implements proto.Message.
type message[Q any] interface {
	*Q
	proto.Message
}

// add registers a function of messages as a method.
func add[Q any, P message[Q], A proto.Message](m *Module, name string, f func(context.Context, P) (A, error)) {
	m.methods["/tunehost.v1."+name] = func(request []byte) (proto.Message, error) {
		q := P(new(Q))
		if err := proto.Unmarshal(request, q); err != nil {
			return nil, &service.Error{Code: service.InvalidArgument,
				Text: "the request cannot be read: " + err.Error()}
		}
		return f(context.Background(), q)
	}
}

// Invoke answers one call: request and answer are the buffers of [abi.ExportInvoke].
func (m *Module) Invoke(request []byte) (answer []byte) {
	defer func() {
		if v := recover(); v != nil {
			answer = m.failed(&service.Error{Code: service.Internal, Text: fmt.Sprint("panic: ", v),
				Stack: debug.Stack()})
		}
	}()
	call, err := m.find(request)
	if err != nil {
		return m.failed(err)
	}
	out, err := call()
	if err != nil {
		return m.failed(err)
	}
	answer, err = proto.MarshalOptions{}.MarshalAppend([]byte{0}, out)
	if err != nil {
		return m.failed(err)
	}
	return answer
}

// find parses the name of the method.
func (m *Module) find(request []byte) (call func() (proto.Message, error), err error) {
	name, message, err := split(request)
	if err != nil {
		return nil, err
	}
	f, ok := m.methods[name]
	if !ok {
		return nil, &service.Error{Code: service.Unimplemented, Text: "this module has no method " + name}
	}
	return func() (proto.Message, error) { return f(message) }, nil
}

// split splits a request into the method's name and the message.
func split(request []byte) (name string, message []byte, err error) {
	if len(request) >= 2 {
		n := int(binary.LittleEndian.Uint16(request))
		if rest := request[2:]; n <= len(rest) {
			return string(rest[:n]), rest[n:], nil
		}
	}
	return "", nil, &service.Error{Code: service.InvalidArgument,
		Text: fmt.Sprintf("a call of %d bytes has no method", len(request))}
}

// failed encodes an error as an answer; the stack of a panic is logged.
func (m *Module) failed(err error) []byte {
	e, ok := errors.AsType[*service.Error](err)
	if !ok {
		e = &service.Error{Code: service.Internal, Text: err.Error()}
	}
	if e.Stack != nil {
		m.host.Log(abi.Error, e.Text+"\n"+string(e.Stack))
	}
	return append([]byte{byte(e.Code)}, strings.ToValidUTF8(e.Text, "\uFFFD")...)
}
