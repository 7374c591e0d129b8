package command

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
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

// triedInterpreters is how many interpreters in a row may end without having started a trial. That is not the
// trial's fault: the system may kill this process, with all its imports, for lack of memory.
const triedInterpreters = 3

// start runs a script in a fork of the interpreter, which starts with the first trial and again after its end.
func (w *warm) start(file string, args []string, attr *syscall.ProcAttr) (p *process, err error) {
	path, at, err := script(args, attr.Dir)
	if err != nil {
		return nil, err
	}
	for range triedInterpreters {
		i := w.interpreter(path, file, args[:at:at], attr)
		p, err = i.run(args[at:], attr)
		if err == nil || i.why == nil && lacking(err) {
			return p, err
		}
		w.forget(i)
		if _, ended := errors.AsType[*endedError](err); !ended {
			return nil, err
		}
	}
	return nil, err
}

// run forks the interpreter when it is ready.
func (i *interpreter) run(args []string, attr *syscall.ProcAttr) (*process, error) {
	<-i.ready
	if i.why != nil {
		return nil, i.why
	}
	return i.fork(args, attr)
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
	return i.become()
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
		return "", &endedError{i.script}
	}
	return strings.TrimSuffix(line, "\n"), nil
}

// become waits until the interpreter can be forked.
func (i *interpreter) become() error {
	line, err := i.answer()
	if why, failed := strings.CutPrefix(line, "error "); failed {
		return &sdk.StartError{Err: fmt.Errorf("warm: %s cannot be forked: %s: leave out warm", i.script, why)}
	}
	return err
}

// fork has the interpreter run its script with these arguments. The fork waits for a byte before it begins, because
// the interpreter may end after the fork and before the answer.
func (i *interpreter) fork(args []string, attr *syscall.ProcAttr) (*process, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	children.mu.Lock() // an unknown child would look like an orphan
	defer children.mu.Unlock()
	wait, begin, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer wait.Close()
	defer begin.Close()
	pid, err := i.ask(forkMessage(args, attr), append(slices.Clone(attr.Files), wait.Fd()))
	if err != nil {
		return nil, err
	}
	children.known[pid] = true
	p := &process{pid: pid, exited: make(chan struct{})}
	go p.wait(pidfdOpen(pid))
	_, _ = begin.Write([]byte{1}) // one that has been killed by now is waited for like any other
	return p, nil
}

// ask sends the request for a fork with the files of a trial, and returns the fork's process id.
func (i *interpreter) ask(request []byte, files []uintptr) (pid int, err error) {
	fds := make([]int, len(files))
	for n, fd := range files {
		fds[n] = int(fd)
	}
	sent, _, err := i.conn.WriteMsgUnix(request, syscall.UnixRights(fds...), nil)
	if err == nil {
		_, err = i.conn.Write(request[sent:])
	}
	if err != nil {
		return 0, &endedError{i.script}
	}
	line, err := i.answer()
	if err != nil {
		return 0, err
	}
	if text, failed := strings.CutPrefix(line, "errno "); failed {
		if no, _ := strconv.Atoi(text); no > 0 {
			return 0, os.NewSyscallError("fork", syscall.Errno(no))
		}
		return 0, &endedError{i.script}
	}
	if pid, err = strconv.Atoi(line); err != nil {
		return 0, fmt.Errorf("warm: the interpreter of %s answers %q", i.script, line)
	}
	return pid, nil
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
