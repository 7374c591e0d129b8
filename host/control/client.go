package control

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

	"github.com/tunehost/tunehost/host/steer"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/nolink"
	"github.com/tunehost/tunehost/host/untrusted"
)

// errRefused: the socket's file is there, and nobody listens.
const errRefused = syscall.ECONNREFUSED

// ErrNoHost is returned where no host is running.
var ErrNoHost = errors.New("no host is running this experiment; go on with `tunehost resume`")

// maxAddress is longer than any address of a socket.
const maxAddress = 4 << 10

// timeout is how long the host may take for an answer, from the request's first byte to
// the answer's last. Tests have a shorter one.
var timeout = 30 * time.Second

// Client is a connection to a running host. It is for one goroutine.
type Client struct {
	conn  net.Conn
	lines *bufio.Scanner
}

// Dial connects to the host of an experiment.
func Dial(d storage.Dir) (*Client, error) {
	text, err := nolink.ReadFile(d.Control(), maxAddress)
	var conn net.Conn
	if err == nil {
		conn, err = connect(strings.TrimSpace(string(text)))
	}
	if noHost(err) {
		err = ErrNoHost
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.Path(), err)
	}
	lines := bufio.NewScanner(conn)
	lines.Buffer(nil, maxLineBytes)
	lines.Split(wholeLines)
	return &Client{conn, lines}, nil
}

// wholeLines is bufio.ScanLines without what has no end: that is half an answer.
func wholeLines(data []byte, atEOF bool) (advance int, token []byte, err error) {
	if atEOF && !bytes.Contains(data, []byte{'\n'}) {
		return len(data), nil, nil
	}
	return bufio.ScanLines(data, atEOF)
}

// connect connects to a host of this user and to nobody else: whoever can write to the
// experiment's directory could have named any socket.
func connect(socket string) (net.Conn, error) {
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
			return nil, errors.New("the host has not taken this connection, since many others wait: see who connects to it, and try again")
		}
	}
}

// Close ends the connection.
func (c *Client) Close() error { return c.conn.Close() }

// Stop ends a trial, by number or id, or for "" the experiment.
func (c *Client) Stop(trial string) error {
	_, err := c.ask(request{Stop: &target{trial}})
	return err
}

// Interrupt ends the host; the experiment can go on later.
func (c *Client) Interrupt() error {
	_, err := c.ask(request{Interrupt: &struct{}{}})
	return err
}

// Pause holds a trial, or for "" all of them. Where progress would be lost by that, it
// does nothing and returns a [steer.LossError], unless force is set.
func (c *Client) Pause(trial string, force bool) error {
	_, err := c.ask(request{Pause: &pausing{target{trial}, force}})
	return err
}

// Retry runs a trial in ERROR again: from its last checkpoint, or, if fresh, from its
// beginning in a new directory.
func (c *Client) Retry(trial string, fresh bool) error {
	_, err := c.ask(request{Retry: &retrying{trial, fresh}})
	return err
}

// Unpause lets a trial go on, or for "" all of them.
func (c *Client) Unpause(trial string) error {
	_, err := c.ask(request{Unpause: &target{trial}})
	return err
}

// Add makes a trial of parameters, a JSON object, and returns its number.
func (c *Client) Add(params []byte) (trial uint32, err error) { return c.add(adding{Params: params}) }

// Clone makes a trial of another's parameters, but for those given, that starts
// from the other one's newest checkpoint.
func (c *Client) Clone(trial string, params []byte) (clone uint32, err error) {
	return c.add(adding{Params: params, Clone: trial})
}

func (c *Client) add(x adding) (trial uint32, err error) {
	a, err := c.ask(request{Add: &x})
	if err == nil && a.Trial == nil {
		err = errors.New("the host does not say which trial it is")
	}
	if err != nil {
		return 0, err
	}
	return *a.Trial, nil
}

func (c *Client) ask(r request) (a answer, err error) {
	text, err := json.Marshal(r)
	if err != nil {
		return a, err
	}
	if err := c.conn.SetDeadline(time.Now().Add(timeout)); err != nil {
		return a, err
	}
	_, unasked := c.conn.Write(append(text, '\n'))
	if !c.lines.Scan() { // a host that refuses has answered before it was asked
		if unasked != nil {
			return a, fmt.Errorf("the host cannot be asked: %w", unasked)
		}
		err := c.lines.Err()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return a, fmt.Errorf("the host has not answered within %v; it may be busy: look at its terminal or host.log", timeout)
		}
		if err == nil {
			err = io.ErrUnexpectedEOF
		}
		return a, fmt.Errorf("the host ended without an answer: %w", err)
	}
	if err := json.Unmarshal(c.lines.Bytes(), &a); err != nil {
		return a, fmt.Errorf("the host answered nonsense: %s", untrusted.Line(err.Error(), 256))
	}
	if a.Loses {
		return a, &steer.LossError{What: untrusted.Line(a.Error, untrusted.MaxText)}
	}
	if a.Error != "" {
		return a, errors.New(untrusted.Line(a.Error, untrusted.MaxText))
	}
	return a, nil
}
