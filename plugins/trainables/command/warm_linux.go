package command

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/tunehost/tunehost/plugins/sdk"
)

func warmHere() error { return nil }

// warm has the interpreters that are forked for trials, one for each script.
type warm struct {
	mu           sync.Mutex
	interpreters map[string]*interpreter
}

func newWarm() *warm { return &warm{interpreters: map[string]*interpreter{}} }

// An interpreter has imported what its script imports.
type interpreter struct {
	script string
	ready  chan struct{} // closed when it can be forked, or why is set
	why    error

	mu    sync.Mutex
	conn  *net.UnixConn
	lines *bufio.Reader
}

// start runs a script in a fork of the interpreter, which starts with the first trial.
func (w *warm) start(file string, args []string, attr *syscall.ProcAttr) (*process, error) {
	path, at, err := script(args, attr.Dir)
	if err != nil {
		return nil, err
	}
	i := w.interpreter(path, file, args[:at:at], attr)
	<-i.ready
	if i.why == nil {
		var p *process
		if p, err = i.fork(args[at:], attr); err == nil {
			return p, nil
		}
		w.forget(i)
		return nil, err
	}
	w.forget(i)
	return nil, i.why
}

// interpreter returns the one of a script.
func (w *warm) interpreter(path, file string, prefix []string, attr *syscall.ProcAttr) *interpreter {
	w.mu.Lock()
	defer w.mu.Unlock()
	if i := w.interpreters[path]; i != nil {
		return i
	}
	i := &interpreter{script: path, ready: make(chan struct{})}
	w.interpreters[path] = i
	go func() {
		i.why = i.begin(file, prefix, attr)
		close(i.ready)
	}()
	return i
}

// forget lets the next trial start another one.
func (w *warm) forget(i *interpreter) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.interpreters[i.script] == i {
		delete(w.interpreters, i.script)
		i.close()
	}
}

func (i *interpreter) close() {
	if i.conn != nil {
		_ = i.conn.Close() // the interpreter ends with it
	}
}

// begin starts the interpreter and waits until it has imported the modules.
func (i *interpreter) begin(file string, prefix []string, attr *syscall.ProcAttr) error {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("socketpair", err)
	}
	theirs := os.NewFile(uintptr(fds[1]), "warm")
	ours := os.NewFile(uintptr(fds[0]), "warm")
	defer ours.Close()
	conn, err := net.FileConn(ours)
	if err != nil {
		theirs.Close()
		return err
	}
	i.conn = conn.(*net.UnixConn)
	i.lines = bufio.NewReader(i.conn)
	args := append(prefix, "-c", warmCode, i.script, "3")
	p, err := start(file, args, &syscall.ProcAttr{Dir: attr.Dir, Env: ofNoTrial(attr.Env),
		Files: []uintptr{attr.Files[0], 2, 2, theirs.Fd()}})
	theirs.Close() // or the end of the interpreter would not be heard
	if err != nil {
		return err
	}
	children.warm(p)
	_, err = i.answer()
	return err
}

// ofNoTrial returns the variables that do not belong to a trial. The host's mark stays: the kernel goes on showing
// these variables as those of the forks, and the next host finds by them what this one leaves behind.
func ofNoTrial(env []string) (kept []string) {
	for _, kv := range env {
		if !strings.HasPrefix(kv, "TUNEHOST_") || strings.HasPrefix(kv, markVariable) {
			kept = append(kept, kv)
		}
	}
	return kept
}

// answer reads a line.
func (i *interpreter) answer() (string, error) {
	line, err := i.lines.ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("warm: the interpreter of %s has ended; the log of the plugin command says more: "+
			"try without warm", i.script)
	}
	line = strings.TrimSuffix(line, "\n")
	if why, failed := strings.CutPrefix(line, "error "); failed {
		return "", &sdk.StartError{Err: fmt.Errorf("warm: %s cannot be forked: %s: leave out warm", i.script, why)}
	}
	return line, nil
}

// fork has the interpreter run its script with these arguments.
func (i *interpreter) fork(args []string, attr *syscall.ProcAttr) (*process, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	children.mu.Lock() // an unknown child would look like an orphan
	defer children.mu.Unlock()
	fds := make([]int, len(attr.Files))
	for n, fd := range attr.Files {
		fds[n] = int(fd)
	}
	data := forkMessage(args, attr)
	sent, _, err := i.conn.WriteMsgUnix(data, syscall.UnixRights(fds...), nil)
	if err == nil {
		_, err = i.conn.Write(data[sent:])
	}
	if err != nil {
		return nil, err
	}
	line, err := i.answer()
	if err != nil {
		return nil, err
	}
	pid, err := strconv.Atoi(line)
	if err != nil {
		return nil, fmt.Errorf("warm: the interpreter of %s answers %q", i.script, line)
	}
	children.known[pid] = true
	p := &process{pid: pid, exited: make(chan struct{})}
	go p.wait(pidfdOpen(pid))
	return p, nil
}

const sysPidfdOpen = 434 // on every architecture

// pidfdOpen returns -1 with a kernel before 5.3.
func pidfdOpen(pid int) int {
	fd, _, errno := syscall.Syscall(sysPidfdOpen, uintptr(pid), 0, 0)
	if errno != 0 {
		return -1
	}
	return int(fd)
}

func forkMessage(args []string, attr *syscall.ProcAttr) []byte {
	parts := append([]string{attr.Dir, strconv.Itoa(len(args))}, args...)
	body := strings.Join(append(parts, attr.Env...), "\x00")
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(body))), body...)
}
