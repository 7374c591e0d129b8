// Package probe asks an executor for one small lease and looks at what is there: the node, its
// programs and GPUs, whether it sees this machine's files, and whether it reaches this machine. It is
// for tunehost doctor.
//
// The probe is this program: the executor starts it as the agent of the lease (sdk.AgentVariable), with a
// value that [Handles]. It reports to a [receiver] on this machine, over a connection, or in a file if the
// node has the same files and cannot connect.
package probe

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/tunehost/tunehost/host/agent"
	"github.com/tunehost/tunehost/host/agent/door"
	"github.com/tunehost/tunehost/host/agent/link"
	"github.com/tunehost/tunehost/host/storage/runtimedir"
	"github.com/tunehost/tunehost/host/untrusted"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// prefix begins the values of probes; other values are for agents.
const prefix = "probe."

// instructions tell a probe where to report.
type instructions struct {
	Dial  []string // addresses of the receiver
	Token string   // identifies the probe to the receiver
	File  string   // a file on the host's machine that has the token

	socket string // the engine's connection comes here; "": there is none
}

// Report is what a probe has found.
type Report struct {
	Token   string
	Host    string // the name of the node, as it says itself
	System  string
	Version string // of tunehost
	Python  string
	GPUs    []string // models
	Visible string   // CUDA_VISIBLE_DEVICES
	Shared  bool     // the node sees this machine's files
	// Address is the one at which the node reached this machine. Unreached has the errors of the others.
	Address   string
	Unreached []string
	// Engine: the report was to use the engine's own connection. If it did, Address is the name of that.
	Engine bool
	// NoRoom is why an agent cannot keep files on the node; "": it can.
	NoRoom string
	// Failure is why nothing can run on the node; "": something can.
	Failure string
}

// Handles reports whether a value of sdk.AgentVariable is a probe's.
//
// args are the arguments of the agent. The command bridge is for agents, whatever the value.
func Handles(value string, args []string) bool {
	return strings.HasPrefix(value, prefix) && !door.IsBridge(args)
}

// The times of a probe.
const (
	dialWithin    = 5 * time.Second
	programWithin = 10 * time.Second
	// stays is how long a probe waits for the end of its lease.
	stays = time.Minute
)

// Main is the probe. It returns the exit status of the process.
func Main(value, version string, args []string) int {
	text, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(value, prefix))
	var e instructions
	if err == nil {
		err = json.Unmarshal(text, &e)
	}
	if err == nil {
		e.socket, err = door.Socket(args)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "this is no probe:", err)
		return 2
	}
	// The lease may be given back as soon as the report has arrived: the socket is removed then, too.
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP,
		syscall.SIGUSR1)
	defer cancel()
	r := inspect(&e, version)
	r.Failure = os.Getenv(sdk.AgentFailureVariable)
	if err := r.deliver(ctx, &e); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if r.Failure != "" {
		return 0
	}
	select {
	case <-ctx.Done():
	case <-time.After(stays):
	}
	return 0
}

// inspect describes the machine that it runs on.
func inspect(e *instructions, version string) *Report {
	r := &Report{Token: e.Token, System: runtime.GOOS + "/" + runtime.GOARCH, Version: version,
		Visible: os.Getenv("CUDA_VISIBLE_DEVICES"), Python: firstLine("python3", "--version")}
	r.Host, r.NoRoom = agent.NodeName(), noRoom()
	if list := output("nvidia-smi", "--query-gpu=name", "--format=csv,noheader"); list != "" {
		r.GPUs = strings.Split(list, "\n")
	}
	text, err := os.ReadFile(e.File)
	r.Shared = err == nil && string(text) == e.Token
	return r
}

// enough is how much the files of a small trial need.
const enough = 64 << 10

// noRoom does what an agent does first, and says why that fails.
func noRoom() string {
	f, err := runtimedir.MakeLarge()
	if err != nil {
		return agent.NoRoom(err)
	}
	defer func() { _ = f.Remove() }()
	if err := os.WriteFile(filepath.Join(f.Path(), "probe"), make([]byte, enough), 0o600); err != nil {
		return agent.NoRoom(err)
	}
	return ""
}

func firstLine(name string, args ...string) string {
	line, _, _ := strings.Cut(output(name, args...), "\n")
	return line
}

// output is what a program prints, or "".
func output(name string, args ...string) string {
	ctx, cancel := context.WithTimeout(context.Background(), programWithin)
	defer cancel()
	out, err := exec.CommandContext(ctx, name, args...).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// engineWithin is how long the engine may take to open its connection: it may have to start a container for it.
const engineWithin = time.Minute

// through sends the report over the engine's own connection.
func (r *Report) through(ctx context.Context, socket string) error {
	d, err := door.Open(socket)
	if err != nil {
		return err
	}
	defer d.Close()
	within, cancel := context.WithTimeout(ctx, engineWithin)
	defer cancel()
	conn, err := d.Take(within)
	if err != nil {
		return fmt.Errorf("no connection of the engine came within %v", engineWithin)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	r.Address = door.Name
	if err := json.NewEncoder(conn).Encode(r); err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, conn) // until it has arrived
	return nil
}

// deliver sends the report over the engine's connection, or to the first address that answers, or writes a file.
func (r *Report) deliver(ctx context.Context, e *instructions) error {
	if r.Engine = e.socket != ""; r.Engine {
		err := r.through(ctx, e.socket)
		if err == nil || ctx.Err() != nil {
			return ctx.Err()
		}
		r.Address, r.Unreached = "", append(r.Unreached, err.Error())
	}
	for _, address := range e.Dial {
		conn, err := (&net.Dialer{Timeout: dialWithin}).DialContext(ctx, "tcp", address)
		if err != nil {
			r.Unreached = append(r.Unreached, err.Error())
			continue
		}
		defer conn.Close()
		r.Address = address
		return json.NewEncoder(conn).Encode(r)
	}
	if !r.Shared {
		return fmt.Errorf("no address of the host answers (%s), and its files are not here",
			strings.Join(r.Unreached, "; "))
	}
	return r.leave(e.File + reported)
}

// reported ends the name of the file with a report.
const reported = ".report"

func (r *Report) leave(path string) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// receiver waits for the report.
type receiver struct {
	listener     net.Listener
	instructions instructions
	reports      chan Report
}

// newReceiver listens on a port of this machine, and leaves a file in dir. Nodes try the address first; 0 is any port,
// and "" no address.
func newReceiver(dir, address string, port int) (*receiver, error) {
	token := make([]byte, 32)
	if _, err := rand.Read(token); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", ":"+strconv.Itoa(port))
	if err != nil {
		return nil, portError(port, err)
	}
	d := &receiver{listener: l, reports: make(chan Report, 1), instructions: instructions{
		Token: base64.RawURLEncoding.EncodeToString(token), File: filepath.Join(dir, "probe")}}
	if err := os.WriteFile(d.instructions.File, []byte(d.instructions.Token), 0o600); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	d.instructions.Dial = link.DialAddresses(address, l.Addr().(*net.TCPAddr).Port)
	go d.accept()
	return d, nil
}

// portError says what to do where this machine cannot listen.
func portError(port int, err error) error {
	if port == 0 {
		return err
	}
	return fmt.Errorf("this machine cannot listen on port %d (the executor's option host_port): %w; choose another "+
		"port", port, err)
}

// host is the address at which the executor's process reaches the receiver.
func (d *receiver) host() string {
	_, port, _ := net.SplitHostPort(d.listener.Addr().String())
	return net.JoinHostPort("127.0.0.1", port)
}

// value is what the probe is told.
func (d *receiver) value() (string, error) {
	text, err := json.Marshal(d.instructions)
	return prefix + base64.RawURLEncoding.EncodeToString(text), err
}

func (d *receiver) accept() {
	for {
		conn, err := d.listener.Accept()
		if err != nil {
			return // closed
		}
		go d.read(conn)
	}
}

// maxReport bounds what a stranger may send.
const maxReport = 1 << 16

func (d *receiver) read(conn net.Conn) {
	defer conn.Close()
	if conn.SetDeadline(time.Now().Add(dialWithin)) != nil {
		return
	}
	line, err := bufio.NewReader(io.LimitReader(conn, maxReport)).ReadBytes('\n')
	if err == nil {
		d.take(line)
	}
}

// take keeps a report with the right token.
func (d *receiver) take(text []byte) {
	var r Report
	if json.Unmarshal(text, &r) != nil ||
		subtle.ConstantTimeCompare([]byte(r.Token), []byte(d.instructions.Token)) != 1 {
		return
	}
	select {
	case d.reports <- r:
	default:
	}
}

// fileEvery is how often the receiver looks for a report in a file.
const fileEvery = 200 * time.Millisecond

// wait waits for the report.
func (d *receiver) wait(ctx context.Context) (Report, error) {
	tick := time.NewTicker(fileEvery)
	defer tick.Stop()
	for {
		select {
		case r := <-d.reports:
			return r.clean(), nil
		case <-ctx.Done():
			return Report{}, ctx.Err()
		case <-tick.C:
			if text, err := os.ReadFile(d.instructions.File + reported); err == nil {
				d.take(text)
			}
		}
	}
}

// maxText bounds what a report says.
const maxText = 200

// clean makes the words of a report fit for a terminal.
func (r Report) clean() Report {
	for _, text := range []*string{&r.Host, &r.System, &r.Version, &r.Python, &r.Visible, &r.Address} {
		*text = untrusted.Line(*text, maxText)
	}
	r.NoRoom = untrusted.Line(r.NoRoom, 2*maxText)
	for _, list := range [][]string{r.GPUs, r.Unreached} {
		for i := range list {
			list[i] = untrusted.Line(list[i], maxText)
		}
	}
	return r
}

func (d *receiver) close() { _ = d.listener.Close() }
