package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/channel"
	"github.com/tunehost/tunehost/plugins/trainables/command/argv"
)

// checkpointDir is the folder of the trial's directory in which programs create checkpoints,
// separate from those that the host has stored.
const checkpointDir = ".checkpoints"

// An attempt is one run of the program for one trial.
//
// The goroutine of Train supervises the process. One goroutine reads stdout, one sends results to
// the host when there are any, and each connection of the channel has one. In a gang the attempt's
// own worker is rank 0, and each of the other workers has a goroutine that waits for its end.
type attempt struct {
	p     *program
	run   sdk.Run
	trial sdk.Trial
	worker
	others []*worker

	args       []string
	dir        string // the working directory
	port       int    // of the gang's rendezvous
	socket     *socket
	output     []*os.File // read ends of pipes
	readers    sync.WaitGroup
	intake     intake // of stdout
	heard      clock
	stderrSize int64 // at the last check of the deadline

	results results
	conns   connections
	fate
}

// fate is how the program ends.
type fate struct {
	hung    bool
	killed  bool
	overdue bool      // killed because its grace time was over
	handles bool      // it handled the signal of its stop
	blamed  []*worker // failed workers, the first first
	late    []*worker // workers that did not end in time after rank 0
}

func newAttempt(p *program, run sdk.Run) *attempt {
	a := &attempt{p: p, run: run, trial: run.Trial(), worker: worker{stdout: &logFile{}, stderr: &logFile{}}}
	a.results.init(a)
	a.conns.a = a
	a.intake.idle.L = &a.intake.mu
	return a
}

// start prepares everything and starts the program.
func (a *attempt) start() (err error) {
	t := &a.trial
	if t.Restore != "" {
		if _, err := os.ReadDir(t.Restore); err != nil {
			return &sdk.RestoreError{Err: err}
		}
	}
	values, err := parseParams(t.Params)
	if err != nil {
		return &sdk.StartError{Err: err}
	}
	var paths paths
	if paths.params, err = writeParams(t.Dir, t.Params); err != nil {
		return fmt.Errorf("cannot write the trial's parameters: %w", err)
	}
	if a.args, err = a.p.arguments(values, paths.params); err != nil {
		return &sdk.StartError{Err: err}
	}
	if a.dir, err = a.p.workingDir(t.Dir); err != nil {
		return &sdk.StartError{Err: err}
	}
	file, err := argv.Find(a.args[0], a.p.path)
	if err != nil {
		return startError(a.args, err)
	}
	if err := a.openFiles(&paths); err != nil {
		return err
	}
	own, clash := values.environ()
	if clash != "" {
		a.run.Log("warning: " + clash)
	}
	env := a.p.trialEnv(t, a.dir, paths, own)
	if !a.isGang() {
		return a.launch(file, append(env, channelVariable+paths.channel, devicesVariable+a.visible(t.Devices)))
	}
	return a.launchGang(file, env, paths.channel)
}

func (a *attempt) openFiles(paths *paths) (err error) {
	t := &a.trial
	paths.checkpoints = filepath.Join(t.Dir, checkpointDir)
	if err := os.Mkdir(paths.checkpoints, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("cannot make the folder of new checkpoints: %w", err)
	}
	if info, err := os.Lstat(paths.checkpoints); err != nil || !info.IsDir() {
		return fmt.Errorf("%s is a link or a file: tunehost has a folder of that name; move it away", paths.checkpoints)
	}
	if a.stdout, err = openLog(t.Dir, a.p.o.Log.Stdout); err != nil {
		return err
	}
	a.stderr = a.stdout
	if a.p.o.Log.Stderr != a.p.o.Log.Stdout {
		if a.stderr, err = openLog(t.Dir, a.p.o.Log.Stderr); err != nil {
			return err
		}
	}
	if paths.exports, err = a.prepareExports(); err != nil {
		return err
	}
	a.stderrSize = a.stderr.from
	if a.socket, err = a.p.sockets.take(a.conns.accept); err != nil {
		return err
	}
	paths.channel = a.socket.path
	return nil
}

var null struct {
	sync.Mutex
	file *os.File
}

// devNull is opened once; a failed open is retried.
func devNull() (f *os.File, err error) {
	null.Lock()
	defer null.Unlock()
	if null.file == nil {
		null.file, err = os.OpenFile(os.DevNull, os.O_RDWR, 0)
	}
	return null.file, err
}

func (a *attempt) launch(file string, env []string) error {
	null, err := devNull()
	if err != nil {
		return err
	}
	from, stdout, err := a.pipe()
	if err != nil {
		return err
	}
	defer stdout.Close()
	stderr := a.stderr.File
	if stderr == nil {
		if stderr, err = a.keepTail(&a.worker); err != nil {
			return err
		}
		defer stderr.Close()
	}
	a.heard.reset()
	a.proc, err = a.p.starter()(file, a.args, &syscall.ProcAttr{
		Dir: a.dir, Env: env, Files: []uintptr{null.Fd(), stdout.Fd(), stderr.Fd()},
	})
	if err != nil {
		return startError(a.args, err)
	}
	if r, ok := a.run.(sdk.Starter); ok {
		r.Started(a.proc.pid)
	}
	close(a.results.started)
	a.readers.Go(func() { a.readStdout(from) })
	return nil
}

// pipe creates a pipe whose read end is ours.
func (a *attempt) pipe() (r, w *os.File, err error) {
	r, w, err = os.Pipe()
	if err == nil {
		a.output = append(a.output, r)
	}
	return r, w, err
}

// keepTail returns the stderr of a worker without a log; the end of it is kept for messages.
func (a *attempt) keepTail(w *worker) (*os.File, error) {
	from, stderr, err := a.pipe()
	if err != nil {
		return nil, err
	}
	to := io.Writer(&w.stderrTail)
	if w == &a.worker {
		to = io.MultiWriter(to, a)
	}
	a.readers.Go(func() { _, _ = io.Copy(to, &pipeEnd{File: from}) })
	return stderr, nil
}

// Write records the time of the output.
func (a *attempt) Write(b []byte) (int, error) {
	a.heard.reset()
	return len(b), nil
}

var buffers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, 32<<10) }}

func (a *attempt) readStdout(from *os.File) {
	b := buffers.Get().(*bufio.Reader)
	b.Reset(&loggedReader{a: a, from: &pipeEnd{File: from, in: &a.intake}})
	defer a.intake.end()
	defer func() {
		b.Reset(nil)
		buffers.Put(b)
	}()
	lines := channel.NewLines(b)
	for {
		line, cut, err := lines.Next()
		if err != nil {
			a.results.printedAll()
			return
		}
		if cut {
			a.results.cut(line, lines.Size())
		} else {
			a.results.printed(line)
		}
	}
}

// A loggedReader writes everything that it reads to the log. Errors of the log do not block the
// program.
type loggedReader struct {
	a    *attempt
	from *pipeEnd
}

func (r *loggedReader) Read(b []byte) (int, error) {
	n, err := r.from.Read(b)
	if n > 0 {
		r.a.heard.reset()
		if log := r.a.stdout.File; log != nil {
			if _, err := log.Write(b[:n]); err != nil {
				r.a.results.warn("log", "cannot write the log of stdout: %v", err)
			}
		}
	}
	return n, err
}

// A pipeEnd is the read end of a pipe. Its deadline limits the waiting: data in the pipe at that
// time is still read, however late this process reads it.
type pipeEnd struct {
	*os.File
	in   *intake // the consumer, if relevant
	late int     // bytes read after the deadline
}

// maxLate is more than the size of a pipe: it bounds the reading of a pipe that still has a writer.
const maxLate = 4 << 20

func (p *pipeEnd) Read(b []byte) (int, error) {
	n, err := p.read(b)
	if !errors.Is(err, os.ErrDeadlineExceeded) || p.late > maxLate {
		return n, err
	}
	conn, connErr := p.SyscallConn()
	if connErr == nil {
		connErr = conn.Control(func(fd uintptr) { n, _ = syscall.Read(int(fd), b) })
	}
	if connErr != nil || n <= 0 {
		return 0, err
	}
	p.late += n
	return n, nil
}

func (p *pipeEnd) read(b []byte) (int, error) {
	if p.in != nil {
		return p.in.read(p.File, b)
	}
	return p.File.Read(b)
}

// finish kills the remaining processes of the trial and processes the remaining output.
func (a *attempt) finish() {
	for w := range a.workers() {
		killLeftovers(w.proc.pid, a.trial.ID, a.trial.Dir)
	}
	a.awaitReaders()
	a.socket.retire()
	a.conns.drain()
	a.results.drain()
}

// awaitReaders reads the pipes to their ends, which are near: all writers are dead, unless one was
// not found.
func (a *attempt) awaitReaders() {
	late := time.AfterFunc(2*time.Second, func() {
		for _, f := range a.output {
			_ = f.SetReadDeadline(time.Now())
		}
	})
	a.readers.Wait()
	late.Stop()
}

// release returns the borrowed resources.
func (a *attempt) release() {
	for w := range a.workers() {
		w.stdout.close()
		w.stderr.close()
	}
	a.p.ports.giveBack(a.port)
	if a.socket != nil {
		a.p.sockets.giveBack(a.socket)
	}
	for _, f := range a.output {
		f.Close()
	}
}

// outcome returns how the attempt ended.
func (a *attempt) outcome(ctx context.Context) error {
	if err := a.results.stopError(); err != nil {
		a.sayUnclean()
		return err
	}
	switch {
	case a.hung:
		return a.failure(fmt.Sprintf("was silent (no output, no report) for its deadline of %v and was killed",
			a.p.deadline), &a.worker)
	case a.killed && ctx.Err() != nil:
		return stopCause(a.run)
	case len(a.blamed) > 0:
		return a.failure(a.blamed[0].ending(), a.blamed...)
	case len(a.late) > 0:
		return a.failure(fmt.Sprintf("did not end within %v after rank 0 and was killed", a.followTime()), a.late...)
	}
	if !a.results.any() {
		a.results.hintNone()
	}
	return nil
}
