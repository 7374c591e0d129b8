package unixsock

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/steer"
)

// line is a connection: what was sent, and what was answered.
type line struct {
	io.Reader
	bytes.Buffer
}

func (l *line) Read(b []byte) (int, error)  { return l.Reader.Read(b) }
func (l *line) Write(b []byte) (int, error) { return l.Buffer.Write(b) }

// strict is a host that refuses everything, and notices what it should not be asked.
type strict struct{ asked int }

var errNo = errors.New("refused\nin two lines")

// Do implements steer.Handler.
func (s *strict) Do(r steer.Request) (steer.Answer, error) {
	s.asked++
	switch r := r.(type) {
	case steer.Interrupt, steer.Unpause, steer.Set:
		return steer.Answer{}, nil
	case steer.Pause:
		if !r.Force {
			return steer.Answer{}, &steer.LossError{What: "all\nof it"}
		}
	case steer.Add:
		if r.Clone != "" {
			no := core.TrialNo(len(r.Clone))
			return steer.Answer{Trial: &no}, nil
		}
	}
	return steer.Answer{}, errNo
}

// FuzzRequest: whatever comes over the control socket, each line has an answer of one
// line, and brings about one thing at most.
func FuzzRequest(f *testing.F) {
	for _, text := range []string{`{"stop":{}}`, `{"pause":{"trial":"3"}}`, `{"add":{"params":{"x":1},"clone":"0"}}`,
		`{"stop":{},"pause":{}}`,
		`{"stop":null}`, `{"unpause":{"trial":"../x"}}{}`, "{\"stop\":{}}\n\n{\"stop\":{}}", "\x00", `{"Stop":{}}`,
		`{"add":{"params":[[[[`,
		`{"interrupt":{}}`, `{"retry":{"trial":"3","fresh":true}}`, `{"pause":{"force":true}}`,
		`{"set":{"settings":["trials=3"]}}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, sent []byte) {
		h := &strict{}
		conn := &line{Reader: bytes.NewReader(sent)}
		(&server{handler: h}).serve(conn)
		answers := bytes.Split(bytes.TrimSuffix(conn.Bytes(), []byte("\n")), []byte("\n"))
		requests := bytes.Count(sent, []byte("\n"))
		if len(sent) > 0 && sent[len(sent)-1] != '\n' {
			requests++
		}
		if requests == 0 {
			return
		}
		if len(answers) != requests || h.asked > requests {
			t.Fatalf("%d requests, %d answers, %d things done", requests, len(answers), h.asked)
		}
		for _, a := range answers {
			var x answer
			if err := json.Unmarshal(a, &x); err != nil || x.OK == (x.Error != "") {
				t.Fatalf("%q: %v", a, err)
			}
		}
	})
}
