// Package guest is a plugin within a WASM module: it answers the calls that package
// abi describes, by an author's plugin. It knows nothing of pointers, so that it runs
// and is tested anywhere; sdk/serve exports it from modules that are built with
// GOOS=wasip1.
//
// It is for those who carry plugins, not for authors.
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

// Plugins is what a module serves: at most one plugin of each kind.
type Plugins struct {
	Searcher  *sdk.SearcherPlugin
	Scheduler *sdk.SchedulerPlugin
	Trainable *sdk.TrainablePlugin
}

// Host is what a module imports; package abi says what the functions do.
type Host interface {
	Log(level int, line string)
	Report(message []byte) abi.Answer
	Saved(message []byte) abi.Answer
	Stopped() abi.Answer
}

// Module answers calls, one at a time.
type Module struct {
	host    Host
	methods map[string]method
}

// method takes a request's message and returns the answer's.
type method func(request []byte) (proto.Message, error)

// New makes a module of plugins.
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

// message is a *Q that is a message.
type message[Q any] interface {
	*Q
	proto.Message
}

// add makes a function of messages a method.
func add[Q any, P message[Q], A proto.Message](m *Module, name string, f func(context.Context, P) (A, error)) {
	m.methods["/tunehost.v1."+name] = func(request []byte) (proto.Message, error) {
		q := P(new(Q))
		if err := proto.Unmarshal(request, q); err != nil {
			return nil, &service.Error{Code: service.InvalidArgument, Text: "the request cannot be read: " + err.Error()}
		}
		return f(context.Background(), q)
	}
}

// Invoke answers one call: request and answer are the buffers of
// [abi.ExportInvoke].
func (m *Module) Invoke(request []byte) (answer []byte) {
	defer func() {
		if v := recover(); v != nil {
			answer = m.failed(&service.Error{Code: service.Internal, Text: fmt.Sprint("panic: ", v), Stack: debug.Stack()})
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

// find reads which method is called.
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

// split takes a request apart.
func split(request []byte) (name string, message []byte, err error) {
	if len(request) >= 2 {
		n := int(binary.LittleEndian.Uint16(request))
		if rest := request[2:]; n <= len(rest) {
			return string(rest[:n]), rest[n:], nil
		}
	}
	return "", nil, &service.Error{Code: service.InvalidArgument, Text: fmt.Sprintf("a call of %d bytes has no method", len(request))}
}

// failed makes an error an answer; the stack of a panic goes to the log.
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
