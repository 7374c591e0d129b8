package channel

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// A Handler receives the reports of a connection, one at a time.
type Handler interface {
	// Report returns when the program may continue. An error is sent to the program, as for a line
	// that is not a report; [ErrNoAnswer] ends the connection without one.
	Report(r sdk.Result) (Decision, error)
	// Reject is called for each refused line, with the reason.
	Reject(line []byte, why error)
}

// Serve answers every line of one connection until the program closes it, including blank lines: a
// program would wait for a missing answer.
func Serve(conn io.ReadWriter, h Handler) error {
	lines := NewLines(bufio.NewReader(conn))
	for {
		line, cut, err := lines.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		a, err := handle(line, cut, h)
		if err == nil {
			err = reply(conn, a)
		}
		if err != nil {
			return err
		}
	}
}

// handle returns the answer, or ErrNoAnswer.
func handle(line []byte, cut bool, h Handler) (answer, error) {
	r, err := parse(line, cut)
	var d Decision
	if err == nil {
		d, err = h.Report(r)
	}
	if errors.Is(err, ErrNoAnswer) {
		return answer{}, err
	}
	if err != nil {
		h.Reject(line, err)
		return answer{Error: err.Error()}, nil
	}
	return answer{Decision: d}, nil
}

func parse(line []byte, cut bool) (sdk.Result, error) {
	if cut {
		return sdk.Result{}, fmt.Errorf("the line is longer than %d bytes", MaxLineBytes)
	}
	return Parse(line)
}

func reply(w io.Writer, a answer) error {
	b, err := json.Marshal(a)
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}
