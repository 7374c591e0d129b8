package unixsock

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/tunehost/tunehost/core/journal"
	"github.com/tunehost/tunehost/host/steer"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/nolink"
	"github.com/tunehost/tunehost/host/untrusted"
	"github.com/tunehost/tunehost/host/usererror"
)

// errRefused: the socket's file is there, and nobody listens.
const errRefused = syscall.ECONNREFUSED

// ErrNoHost is returned where no host is running. One may be about to begin.
var ErrNoHost error = &steer.BusyError{What: "no host is running this experiment; resume it with `tunehost resume`"}

// maxAddress is longer than any address of a socket.
const maxAddress = 4 << 10

// timeout is how long the host may take for an answer, from the request's first byte to
// the answer's last. Tests have a shorter one.
var timeout = 30 * time.Second

// Client is a connection to a running host, the [steer.Handler] of its experiment. It is for
// one goroutine.
type Client struct {
	conn  net.Conn
	lines *bufio.Scanner
	dir   string // of the experiment
}

// Dial connects to the host of an experiment.
func Dial(d storage.Dir) (*Client, error) {
	text, err := nolink.ReadFile(d.Control(), maxAddress)
	var conn net.Conn
	if err == nil {
		conn, err = Connect(strings.TrimSpace(string(text)))
	}
	if err == nil && copied(d) {
		err = errors.Join(errRefused, conn.Close())
	}
	if noHost(err) {
		err = absent(d)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.Path(), err)
	}
	lines := bufio.NewScanner(conn)
	lines.Buffer(nil, maxLineBytes)
	lines.Split(wholeLines)
	return &Client{conn, lines, d.Path()}, nil
}

// copied reports whether the address of a host that listens is that of another experiment, of which this directory is a
// copy: no host has this one.
func copied(d storage.Dir) bool {
	held, err := journal.Holder(d.Path())
	return err == nil && held == nil
}

// absent is the error of an experiment at whose address nobody listens.
func absent(d storage.Dir) error {
	held, err := journal.Holder(d.Path())
	if err != nil || held == nil {
		return ErrNoHost
	}
	if full := storage.Room(d.Path()); full != nil { // the host may have had none for its address
		return &steer.BusyError{What: fmt.Sprintf("process %d has this experiment and takes no requests here: %v",
			held.PID, full)}
	}
	if held.Passing() {
		return &steer.BusyError{What: "a host of this experiment is just starting or ending: try again in a moment"}
	}
	return &steer.BusyError{What: fmt.Sprintf("process %d has this experiment and takes no requests here: if it is "+
		"`tunehost asktell`, end its input first; otherwise try again in a moment", held.PID)}
}

// wholeLines is bufio.ScanLines without what has no end: that is half an answer.
func wholeLines(data []byte, atEOF bool) (advance int, token []byte, err error) {
	if atEOF && !bytes.Contains(data, []byte{'\n'}) {
		return len(data), nil, nil
	}
	return bufio.ScanLines(data, atEOF)
}

// Connect connects to a host of this user and to nobody else: a user who can write to the
// experiment's directory could have named any socket.
func Connect(socket string) (net.Conn, error) {
	if err := checkAddress(socket); err != nil {
		return nil, err
	}
	conn, err := queueUp(socket)
	if err != nil {
		return nil, err
	}
	if err := checkListener(conn, socket); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// dialAgain is how long a client waits before it tries again to get into the queue of a
// host to which many connect.
const dialAgain = 50 * time.Millisecond

// queueUp waits where the system has no room for another connection that the host has not
// taken yet, which it reports at once.
func queueUp(socket string) (net.Conn, error) {
	for began := time.Now(); ; time.Sleep(dialAgain) {
		conn, err := net.DialTimeout("unix", socket, timeout)
		if !errors.Is(err, syscall.EAGAIN) {
			return conn, err
		}
		if time.Since(began) > timeout {
			return nil, &steer.BusyError{What: "the host has not taken this connection, since many others wait: see " +
				"who connects to it, and try again"}
		}
	}
}

// Close ends the connection.
func (c *Client) Close() error { return c.conn.Close() }

// Do implements [steer.Handler]: it asks the host. On a full disk the host could record nothing, and would have no
// answer to anything but an interrupt.
func (c *Client) Do(r steer.Request) (steer.Answer, error) {
	if _, leaves := r.(steer.Interrupt); !leaves {
		if err := storage.Room(c.dir); err != nil {
			return steer.Answer{}, err
		}
	}
	a, err := c.ask(r)
	if _, adds := r.(steer.Add); err == nil && adds && a.Trial == nil {
		err = errors.New("the host does not say which trial it is")
	}
	return a.Answer, err
}

// givenUp is the part of the client's patience at whose beginning the host no longer begins to carry a request out: the
// answer to what has begun arrives.
const givenUp = 6

func (c *Client) ask(r steer.Request) (a answer, err error) {
	text, err := steer.Encode(r)
	if err == nil {
		text, err = json.Marshal(timely{now() + int64(timeout-timeout/givenUp), text})
	}
	if err != nil {
		return a, err
	}
	if err := c.conn.SetDeadline(time.Now().Add(timeout)); err != nil {
		return a, err
	}
	_, unasked := c.conn.Write(append(text, '\n'))
	if !c.lines.Scan() { // a host that refuses has answered before it was asked
		if unasked != nil {
			return a, &steer.BusyError{What: fmt.Sprintf("the host cannot be asked (%v): try again in a moment",
				unasked)}
		}
		err := c.lines.Err()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return a, &steer.UnknownError{What: fmt.Sprintf("the host has not answered within %v, and will not begin "+
				"to carry this out later; it may be busy: look at its terminal or host.log, and whether it was done "+
				"before you send it again", timeout)}
		}
		if err == nil {
			err = io.ErrUnexpectedEOF
		}
		return a, &steer.UnknownError{What: fmt.Sprintf("the host ended without an answer (%v): look whether this was "+
			"done before you send it again", err)}
	}
	if err := json.Unmarshal(c.lines.Bytes(), &a); err != nil {
		return a, fmt.Errorf("the host answered nonsense: %s", untrusted.Line(err.Error(), 256))
	}
	if a.Loses {
		return a, &steer.LossError{What: untrusted.Line(a.Error, untrusted.MaxText)}
	}
	if a.Busy {
		return a, &steer.BusyError{What: untrusted.Line(a.Error, untrusted.MaxText)}
	}
	if a.Mistake {
		return a, usererror.Errorf("%s", untrusted.Line(a.Error, untrusted.MaxText))
	}
	if a.Error != "" {
		return a, errors.New(untrusted.Line(a.Error, untrusted.MaxText))
	}
	return a, nil
}
