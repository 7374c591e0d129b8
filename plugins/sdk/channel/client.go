package channel

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"syscall"
)

// A Decision is the host's answer to a report.
type Decision string

// After Pause and Stop the program must save what it needs and exit; otherwise it is killed.
const (
	Continue Decision = "continue"
	Pause    Decision = "pause"
	Stop     Decision = "stop"
)

// ErrNoAnswer says that a report is not answered: the host is gone, or has killed the trial. Its result may be missing
// in the record. A program saves nothing as its final state then, and exits; the next host runs the trial again.
var ErrNoAnswer = errors.New("the host is gone, and the result may not be recorded")

// Report connects to the socket (TUNEHOST_CHANNEL), sends one report and waits for the decision. If
// iteration is 0, the host counts. checkpoint is a directory, relative to the working directory, or
// "".
func Report(socket string, metrics map[string]float64, iteration uint64, checkpoint string) (Decision, error) {
	c, err := Dial(socket)
	if err != nil {
		return "", err
	}
	defer c.Close()
	return c.Report(metrics, iteration, checkpoint)
}

// A Client is one connection. It is not safe for concurrent use.
type Client struct {
	conn  net.Conn
	lines *Lines
}

// Dial connects to the socket.
func Dial(socket string) (*Client, error) {
	if socket == "" {
		return nil, errors.New("no report channel: TUNEHOST_CHANNEL is not set; is this program run by tunehost?")
	}
	conn, err := net.Dial("unix", socket)
	if err != nil {
		if errors.Is(err, syscall.ECONNREFUSED) {
			return nil, fmt.Errorf("cannot connect to the report channel: %w: %w", err, ErrNoAnswer)
		}
		return nil, fmt.Errorf("cannot connect to the report channel: %w", err)
	}
	return &Client{conn: conn, lines: NewLines(bufio.NewReader(conn))}, nil
}

// Close closes the connection; the trial continues.
func (c *Client) Close() error { return c.conn.Close() }

// A Message is a report of a program.
type Message struct {
	Metrics map[string]float64
	// Values are reported values that are not numbers, as encoding/json writes them: strings,
	// booleans, lists. They are stored in the trial's files.
	Values map[string]any
	// Iteration starts at 1; 0 lets the host count.
	Iteration uint64
	// Checkpoint is a directory, relative to the working directory, or "".
	Checkpoint string
}

// Report sends one report and waits for the decision.
func (c *Client) Report(metrics map[string]float64, iteration uint64, checkpoint string) (Decision, error) {
	return c.Send(Message{Metrics: metrics, Iteration: iteration, Checkpoint: checkpoint})
}

// Send sends one report and waits for the decision.
func (c *Client) Send(m Message) (Decision, error) {
	if m.Checkpoint != "" {
		abs, err := filepath.Abs(m.Checkpoint)
		if err != nil {
			return "", fmt.Errorf("checkpoint %s: %w", m.Checkpoint, err)
		}
		m.Checkpoint = abs
	}
	line, err := format(m)
	if err != nil {
		return "", err
	}
	if _, err := c.conn.Write(line); err != nil {
		return "", fmt.Errorf("cannot report: %w: %w", err, ErrNoAnswer)
	}
	return c.answer()
}

func (c *Client) answer() (Decision, error) {
	line, _, err := c.lines.Next()
	if err != nil {
		return "", fmt.Errorf("the report channel ended without an answer: %w", ErrNoAnswer)
	}
	var a answer
	if err := json.Unmarshal(line, &a); err != nil {
		return "", fmt.Errorf("the report channel gave an invalid answer: %w", err)
	}
	if a.Error != "" {
		return "", errors.New("the report was refused: " + a.Error)
	}
	return a.Decision, nil
}

// answer is the line of the host.
type answer struct {
	Decision Decision `json:"decision,omitempty"`
	Error    string   `json:"error,omitempty"`
}
