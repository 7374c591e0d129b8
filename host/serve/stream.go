package serve

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/tunehost/tunehost/host/serve/experiments"
	"github.com/tunehost/tunehost/host/serve/guard"
	"github.com/tunehost/tunehost/host/serve/problem"
	"github.com/tunehost/tunehost/host/view"
)

// streamers registers the operations whose answers do not end, or are no JSON.
func (s *Server) streamers() {
	huma.Register(s.api, s.streaming("/experiments/{name}/events", "events",
		"Follow the events of an experiment, as lines of `run --json`", "text/event-stream"), s.events)
	huma.Register(s.api, s.streaming("/experiments/{name}/trials/{id}/log", "log", "Get what a trial has printed",
		"text/plain"), s.log)
	huma.Register(s.api, s.streaming("/experiments/{name}/host-log", "host_log", "Get the log of the host",
		"text/plain"), s.hostLog)
	huma.Register(s.api, s.streaming("/experiments/{name}/file", "file", "Get the experiment file as it was recorded",
		"text/plain"), s.file)
}

// streaming is an operation that answers with a stream.
func (s *Server) streaming(path, id, summary, media string) huma.Operation {
	text := map[string]*huma.MediaType{media: {Schema: &huma.Schema{Type: "string"}}}
	return huma.Operation{OperationID: id, Method: http.MethodGet, Path: v1 + path, Summary: summary,
		Tags: []string{"read"}, Responses: map[string]*huma.Response{"200": {Description: "OK", Content: text}}}
}

// plain is the type of texts.
const plain = "text/plain; charset=utf-8"

// errMany refuses a stream.
var errMany = problem.New(http.StatusServiceUnavailable, fmt.Sprintf("%d streams are open; close some", maxStreams))

// respond answers with a stream of a media type. A reader that does not take a part of it in time is
// dropped.
func (s *Server) respond(name, media string,
	f func(context.Context, *experiments.Shared, *stream) error) (*huma.StreamResponse, error) {
	select {
	case s.streams <- struct{}{}:
	default:
		return nil, errMany
	}
	x, done, err := s.catalog.Get(name)
	if err != nil {
		<-s.streams
		return nil, unopened(err)
	}
	return &huma.StreamResponse{Body: func(c huma.Context) {
		defer func() { done(); <-s.streams }()
		ctx, cancel := context.WithCancel(c.Context())
		defer cancel()
		go func() {
			select {
			case <-s.over:
				cancel()
			case <-ctx.Done():
			}
		}()
		_, w := humago.Unwrap(c)
		out := &stream{to: w, control: http.NewResponseController(w), media: media, head: c.Method() == http.MethodHead,
			patience: cmp.Or(s.ReaderTimeout, guard.WriteTimeout)}
		_ = out.control.SetReadDeadline(time.Time{}) // the request is read
		out.end(f(ctx, x, out))
	}}, nil
}

// stream is an answer that is written in parts.
type stream struct {
	to      http.ResponseWriter
	control *http.ResponseController
	media   string
	last    time.Time
	// begun says that the status is written.
	begun bool
	// head says that only the header is wanted.
	head bool
	// patience is how long a reader may take for a part.
	patience time.Duration
}

// errHead ends a stream of which only the header is wanted.
var errHead = errors.New("no body is wanted")

// begin writes the header: what is wrong from now on cannot be answered.
func (w *stream) begin() error {
	if w.head {
		return errHead
	}
	if w.begun {
		return nil
	}
	w.begun = true
	w.to.Header().Set("Content-Type", w.media)
	w.to.Header().Set("X-Accel-Buffering", "no") // nginx would collect 16 KiB before it passes on anything
	w.to.WriteHeader(http.StatusOK)
	return w.control.Flush()
}

// end writes the header if that was not done: a problem if there is one.
func (w *stream) end(err error) {
	var p *problem.Problem
	switch {
	case w.begun:
	case err != nil && err != errHead && errors.As(problem.Of(err), &p):
		p.Write(w.to)
	default:
		w.head = false
		_ = w.begin() // the reader may be gone
	}
}

// Write writes a part at once.
func (w *stream) Write(b []byte) (int, error) {
	if err := w.begin(); err != nil {
		return 0, err
	}
	w.last = time.Now()
	if err := w.control.SetWriteDeadline(w.last.Add(w.patience)); err != nil {
		return 0, err
	}
	n, err := w.to.Write(b)
	if err == nil {
		err = w.control.Flush()
	}
	return n, err
}

// aliveEvery is how often a stream of events says that it is alive.
const aliveEvery = 15 * time.Second

type eventsQuery struct {
	Named
	After int64 `query:"after" minimum:"-1" default:"0" doc:"only events after this number; -1: only those from now on"`
	Last  int64 `header:"Last-Event-ID" minimum:"0" doc:"the same; a browser sends it when it connects again"`
}

// events answers with Server-Sent Events. The id of each is its number. The last one is named end, when no
// host runs the experiment any more.
func (s *Server) events(_ context.Context, in *eventsQuery) (*huma.StreamResponse, error) {
	after := in.After
	if in.Last > 0 {
		after = in.Last
	}
	return s.respond(in.Name, "text/event-stream", func(ctx context.Context, x *experiments.Shared, w *stream) error {
		if _, err := w.Write([]byte(": events of tunehost\n\n")); err != nil {
			return err
		}
		err := x.Events(ctx, after, func(list []view.Event) error { return w.events(list) })
		if err == nil && !x.Experiment.Running() { // on another machine it may: the reader comes back for more
			_, err = w.Write([]byte("event: end\ndata: {}\n\n"))
		}
		return err
	})
}

// events writes events, or a sign of life.
func (w *stream) events(list []view.Event) error {
	var b []byte
	for i := range list {
		line := list[i].AppendJSON(nil)
		if len(line) == 0 {
			continue
		}
		b = append(strconv.AppendUint(append(b, "id: "...), list[i].Number, 10), "\ndata: "...)
		b = append(append(b, line...), '\n')
	}
	if len(b) == 0 && time.Since(w.last) > aliveEvery {
		b = append(b, ": alive\n\n"...)
	}
	if len(b) == 0 {
		return nil
	}
	_, err := w.Write(b)
	return err
}

// looks is how often a file is looked at.
const looks = 250 * time.Millisecond

// text copies a file that grows, from an offset on, until it ends and more says that there will be no more.
func (w *stream) text(ctx context.Context, from int64, read func(from int64, last bool) (view.Text, error),
	more func() bool) error {
	for {
		again := more() // asked first: everything is copied at the end
		t, err := read(from, !again)
		if err != nil {
			return err
		}
		if n := wholeText(t.Lines); n > 0 {
			if _, err := w.Write(bytes.ToValidUTF8(t.Lines[:n], replacement)); err != nil {
				return err
			}
			from = t.Next - int64(len(t.Lines)-n)
			continue
		}
		if !again {
			return nil
		}
		if err := w.begin(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(looks):
		}
	}
}

// replacement stands for bytes that are no text: programs print what they like, and the answer is in UTF-8.
var replacement = []byte("\uFFFD")

// wholeText is the length of a part of a text without a character that goes on in the next part; a part that has
// nothing else is whole.
func wholeText(part []byte) int {
	for i := len(part) - 1; i >= max(0, len(part)-utf8.UTFMax); i-- {
		if utf8.RuneStart(part[i]) {
			if i > 0 && !utf8.FullRune(part[i:]) {
				return i
			}
			break
		}
	}
	return len(part)
}

// TailQuery asks for a part of a text.
type TailQuery struct {
	Follow bool  `query:"follow" doc:"continue with what is added, until the trial or the host ends"`
	Tail   int64 `query:"tail" minimum:"0" default:"0" doc:"the whole lines in the last so many bytes; 0: all"`
}

type logQuery struct {
	Numbered
	TailQuery
	Stream string `query:"stream" enum:"stdout,stderr" default:"stdout" doc:"which output"`
	Rank   uint16 `query:"rank" maximum:"65535" doc:"the worker, for a trial with workers"`
}

func (s *Server) log(_ context.Context, in *logQuery) (*huma.StreamResponse, error) {
	var name string
	err := s.with(in.Name, func(x *experiments.Shared) (err error) {
		no, err := x.Find(in.ID)
		if err != nil {
			return problem.NotFound(err)
		}
		if name, err = logFile(x, in.Stream, in.Rank); err != nil {
			return err
		}
		if err := x.CheckRank(no, in.Rank, name); err != nil {
			return problem.NotFound(err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s.respond(in.Name, plain,
		func(ctx context.Context, x *experiments.Shared, w *stream) error {
			no, err := x.Find(in.ID)
			if err != nil {
				return err
			}
			if in.Follow {
				defer x.Watch()()
			}
			return w.text(ctx, -in.Tail, func(from int64, last bool) (view.Text, error) {
				return x.Printed(no, name, from, last)
			}, func() bool { return in.Follow && x.Trains(no) })
		})
}

// logFile returns the name of the file of an output, in a trial's directory.
func logFile(x *experiments.Shared, stream string, rank uint16) (string, error) {
	log := x.Config.Log
	if x.IsElsewhere() {
		return "", elsewhere(x, "the output of trials is stored only there")
	}
	if !log.On {
		return "", problem.Conflict(errors.New("the output of trials was not stored: the " +
			"experiment file has log: false"))
	}
	name, stderr := log.Files()
	if stream == "stderr" {
		name = stderr
	}
	if rank > 0 {
		name += fmt.Sprintf(".%d", rank)
	}
	return name, nil
}

type hostLogQuery struct {
	Named
	TailQuery
}

func (s *Server) hostLog(_ context.Context, in *hostLogQuery) (*huma.StreamResponse, error) {
	return s.respond(in.Name, plain,
		func(ctx context.Context, x *experiments.Shared, w *stream) error {
			if x.IsElsewhere() {
				return elsewhere(x, "its log is stored only there")
			}
			if in.Follow {
				defer x.Watch()()
			}
			return w.text(ctx, -in.Tail, func(from int64, _ bool) (view.Text, error) { return x.Log(from) },
				func() bool { return in.Follow && x.Running() })
		})
}

func (s *Server) file(_ context.Context, in *Named) (*huma.StreamResponse, error) {
	return s.respond(in.Name, plain, func(_ context.Context, x *experiments.Shared, w *stream) error {
		_, err := w.Write(bytes.ToValidUTF8(x.Config.Source, replacement))
		return err
	})
}
