package channel

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"path/filepath"
)

// Decision is the host's answer to a report.
type Decision string

// The decisions. After Pause and Stop the program shall save what it needs and
// exit; it is killed when it does not.
const (
	Continue Decision = "continue"
	Pause    Decision = "pause"
	Stop     Decision = "stop"
)

// Report connects to the socket (TUNEHOST_CHANNEL), hands over one report and
// waits for the decision. iteration 0 lets the host count; checkpoint is a
// directory, relative to the working directory, or "".
func Report(socket string, metrics map[string]float64, iteration uint64, checkpoint string) (Decision, error) {
	c, err := Dial(socket)
	if err != nil {
		return "", err
	}
	defer c.Close()
	return c.Report(metrics, iteration, checkpoint)
}

// Client is one connection. It is for one goroutine.
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
		return nil, fmt.Errorf("cannot connect to the report channel: %w", err)
	}
	return &Client{conn: conn, lines: NewLines(bufio.NewReader(conn))}, nil
}

// Close ends the connection; the trial goes on.
func (c *Client) Close() error { return c.conn.Close() }

// Message is a report as a program makes it.
type Message struct {
	Metrics map[string]float64
	// Values are what is reported beside the metrics, as encoding/json writes it: texts,
	// truths, lists. They are kept in the trial's files.
	Values map[string]any
	// Iteration counts from 1; 0 lets the host count.
	Iteration uint64
	// Checkpoint is a directory, relative to the working directory, or "".
	Checkpoint string
}

// Report hands over one report and waits for the decision.
func (c *Client) Report(metrics map[string]float64, iteration uint64, checkpoint string) (Decision, error) {
	return c.Send(Message{Metrics: metrics, Iteration: iteration, Checkpoint: checkpoint})
}

// Send hands over one report and waits for the decision.
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
		return "", fmt.Errorf("cannot report: %w", err)
	}
	return c.answer()
}

func (c *Client) answer() (Decision, error) {
	line, _, err := c.lines.Next()
	if err != nil {
		return "", fmt.Errorf("the report channel ended without an answer: %w", err)
	}
	var a answer
	if err := json.Unmarshal(line, &a); err != nil {
		return "", fmt.Errorf("the report channel answered nonsense: %w", err)
	}
	if a.Error != "" {
		return "", errors.New("the report was refused: " + a.Error)
	}
	return a.Decision, nil
}

// answer is the host's line.
type answer struct {
	Decision Decision `json:"decision,omitempty"`
	Error    string   `json:"error,omitempty"`
}
