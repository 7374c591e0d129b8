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
)

// checkpointDir is the folder of the trial's directory where programs make
// checkpoints, apart from those that the host has taken over.
const checkpointDir = ".checkpoints"

// attempt is one run of the program for one trial.
//
// Train's goroutine supervises the process; one goroutine reads stdout, one
// hands results to the host once there are any, and each connection of the
// channel has one.
type attempt struct {
	p     *program
	run   sdk.Run
	trial sdk.Trial

	args           []string
	proc           *process
	socket         *socket
	stdout, stderr *logFile
	output         []*os.File // ends of pipes that are read
	readers        sync.WaitGroup
	stderrTail     tail // of a stderr without a log
	heard          clock
	stderrSize     int64 // when the deadline last looked

	results results
	conns   connections
	hung    bool
	killed  bool
}

func newAttempt(p *program, run sdk.Run) *attempt {
	a := &attempt{p: p, run: run, trial: run.Trial(), stdout: &logFile{}, stderr: &logFile{}}
	a.results.init(a)
	a.conns.a = a
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
	file, err := findProgram(a.args[0], a.p.path)
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
	return a.launch(file, a.p.trialEnv(t, paths, own))
}

func (a *attempt) openFiles(paths *paths) (err error) {
	t := &a.trial
	paths.checkpoints = filepath.Join(t.Dir, checkpointDir)
	if err := os.Mkdir(paths.checkpoints, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("cannot make the folder of new checkpoints: %w", err)
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

var devNull = sync.OnceValues(func() (*os.File, error) { return os.Open(os.DevNull) })

func (a *attempt) launch(file string, env []string) error {
	null, err := devNull()
	if err != nil {
		return err
	}
	stdout, err := a.pipe()
	if err != nil {
		return err
	}
	defer stdout.Close()
	stderr := a.stderr.File
	if stderr == nil {
		if stderr, err = a.pipe(); err != nil {
			return err
		}
		defer stderr.Close()
	}
	a.heard.touch()
	a.proc, err = start(file, a.args, &syscall.ProcAttr{
		Dir: a.trial.Dir, Env: env, Files: []uintptr{null.Fd(), stdout.Fd(), stderr.Fd()},
	})
	if err != nil {
		return startError(a.args, err)
	}
	a.read()
	return nil
}

// pipe makes one whose reading end is ours; the other is returned.
func (a *attempt) pipe() (*os.File, error) {
	r, w, err := os.Pipe()
	if err == nil {
		a.output = append(a.output, r)
	}
	return w, err
}

// read starts the readers: stdout's, and stderr's where it has no log.
func (a *attempt) read() {
	a.readers.Go(a.readStdout)
	if len(a.output) > 1 {
		a.readers.Go(func() { _, _ = io.Copy(io.MultiWriter(&a.stderrTail, a), a.output[1]) })
	}
}

// Write notes that something was heard.
func (a *attempt) Write(b []byte) (int, error) {
	a.heard.touch()
	return len(b), nil
}

var buffers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, 32<<10) }}

func (a *attempt) readStdout() {
	b := buffers.Get().(*bufio.Reader)
	b.Reset(&loggedReader{a: a, from: a.output[0]})
	defer func() {
		b.Reset(nil)
		buffers.Put(b)
	}()
	lines := channel.NewLines(b)
	for {
		line, cut, err := lines.Next()
		if err != nil {
			return
		}
		a.results.printed(line, cut)
	}
}

// loggedReader writes to the log what it reads. A log that cannot be written
// does not hold up the program.
type loggedReader struct {
	a    *attempt
	from *os.File
}

func (r *loggedReader) Read(b []byte) (int, error) {
	n, err := r.from.Read(b)
	if n > 0 {
		r.a.heard.touch()
		if log := r.a.stdout.File; log != nil {
			if _, err := log.Write(b[:n]); err != nil {
				r.a.results.warn("log", "cannot write the log of stdout: %v", err)
			}
		}
	}
	return n, err
}

// finish kills what is left of the trial and takes what was on its way.
func (a *attempt) finish() {
	killLeftovers(a.proc.pid, a.trial.ID, a.trial.Dir)
	a.awaitReaders()
	a.socket.retire()
	a.conns.drain()
	a.results.drain()
}

// awaitReaders reads to the end of the pipes, which is near: all writers are
// dead, unless one could not be found.
func (a *attempt) awaitReaders() {
	late := time.AfterFunc(2*time.Second, func() {
		for _, f := range a.output {
			_ = f.SetReadDeadline(time.Now())
		}
	})
	a.readers.Wait()
	late.Stop()
}

// release hands back what was borrowed.
func (a *attempt) release() {
	a.stdout.close()
	a.stderr.close()
	if a.socket != nil {
		a.p.sockets.giveBack(a.socket)
	}
	for _, f := range a.output {
		f.Close()
	}
}

// outcome is how the attempt ended.
func (a *attempt) outcome(ctx context.Context) error {
	if err := a.results.stopError(); err != nil {
		return err
	}
	switch s := a.proc.status; {
	case a.hung:
		return a.failure(fmt.Sprintf("was silent (no output, no report) for its deadline of %v and was killed", a.p.deadline))
	case a.killed && ctx.Err() != nil:
		return stopCause(a.run)
	case s.Signaled():
		return a.failure("was killed by " + signalName(s.Signal()))
	case s.ExitStatus() != 0:
		return a.failure(fmt.Sprintf("ended with exit status %d", s.ExitStatus()))
	}
	a.results.warnIfNone()
	return nil
}
