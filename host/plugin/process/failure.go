package process

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/tunehost/tunehost/host/deadlines"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/host/untrusted"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// failure returns an error of this plugin with the end of its output.
func (p *Process) failure(f plugin.Failure, what string, cause error) *plugin.Error {
	e := &plugin.Error{
		Plugin: p.config.title(), Failure: f, What: what,
		Tail: p.lastOutput(), Err: cause,
	}
	if p.runner.output.printed() && exists(p.config.LogPath) { // a log without its lines explains nothing
		e.Log = p.config.LogPath
	}
	if (f == plugin.NotStarted || f == plugin.Crashed) && p.runner.output.lacks() {
		e.What += ": the system lets it start no more threads or processes (ulimit -u), or has no memory for them"
		e.Err = errors.Join(cause, syscall.EAGAIN) // it may work once other processes have ended
	}
	return e
}

// allowed is how long a start may take, which is less than the plugin's own limit where the caller has less time.
func allowed(within context.Context, begun time.Time) time.Duration {
	until, _ := within.Deadline()
	return until.Sub(begun).Round(100 * time.Millisecond)
}

// lastOutput returns the plugin's last lines. They arrive separately from its failure, perhaps a
// moment later.
func (p *Process) lastOutput() []string {
	for range 5 {
		if len(p.runner.output.last()) > 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	time.Sleep(10 * time.Millisecond)
	return p.runner.output.last()
}

// notExecuted says why the system does not execute the program. It names the program itself, since the
// executed path is a link to its file.
func (c *Program) notExecuted(err error) string {
	name := c.file()
	var cause *fs.PathError
	switch {
	case errors.Is(err, syscall.ENOEXEC) && isBinary(firstLine(name)):
		return name + " is a program for another system or processor than this machine's, " + runtime.GOOS + " on " +
			runtime.GOARCH + ": build it for this one"
	case errors.Is(err, syscall.ENOEXEC):
		return name + " is not a program; " +
			"a script needs a first line such as #!/usr/bin/env python3, or a plugin.yaml with a command"
	case !errors.As(err, &cause):
		return err.Error() + limitOf(err)
	case cause.Path == os.DevNull:
		return cause.Error() + ": each program needs it"
	case errors.Is(err, fs.ErrNotExist) && exists(name):
		return name + ": " + noInterpreter(name)
	}
	return cause.Op + " " + name + ": " + cause.Err.Error() + limitOf(err)
}

// noInterpreter says what a file needs that does not exist: the program of its #! line, or the loader of a binary.
func noInterpreter(file string) string {
	line, isScript := strings.CutPrefix(firstLine(file), "#!")
	words := strings.Fields(line)
	switch {
	case !isScript:
		return "what loads its libraries (ld.so) does not exist: it was built for another system, such as one with " +
			"glibc where there is musl; build it here, or without shared libraries"
	case len(words) == 0:
		return "the program in its #! line does not exist"
	case len(words) == 1 && strings.HasSuffix(line, "\r"):
		return fmt.Sprintf("its lines end as on Windows, so that its #! line names %q: save it with the line ends of "+
			"Unix", words[0]+"\r")
	}
	return fmt.Sprintf("the program in its #! line, %s, does not exist", untrusted.Word(words[0]))
}

// isBinary reports whether a file begins as programs of Linux, macOS and Windows do.
func isBinary(begin string) bool {
	for _, magic := range []string{"\x7fELF", "\xcf\xfa\xed\xfe", "\xca\xfe\xba\xbe", "MZ"} {
		if strings.HasPrefix(begin, magic) {
			return true
		}
	}
	return false
}

// firstLine returns the beginning of a file's first line; "" if it cannot be read.
func firstLine(file string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	begin, _ := io.ReadAll(io.LimitReader(f, 256))
	line, _, _ := strings.Cut(string(begin), "\n")
	return line
}

// limitOf names the limit that prevented a program from starting; "" if none did.
func limitOf(err error) string {
	switch {
	case errors.Is(err, syscall.EMFILE):
		return "; raise the limit of open files (ulimit -n)"
	case errors.Is(err, syscall.EAGAIN):
		return "; raise the limit of processes (ulimit -u)"
	}
	return ""
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// instead says what a program serves that is not of the kind that it was started as.
func (p *Process) instead(ctx context.Context) string {
	for _, kind := range sdk.Kinds() {
		if _, err := p.describe(ctx, kind); err == nil {
			return ": the program is " + kind.WithArticle()
		}
	}
	return ""
}

// startFailure finds the best reason why a start failed: a mistake in the handshake, the end of the
// process, or what gRPC says.
func (p *Process) startFailure(ctx, within context.Context, begun time.Time, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	p.runner.mu.Lock()
	refused, started, socket := p.runner.refused, p.runner.child != nil, p.runner.socket
	p.runner.mu.Unlock()
	_, unreachable := errors.AsType[*UnreachableError](err)
	switch {
	case unreachable, p.runner.unreachable() != "":
		why := cmp.Or(p.runner.unreachable(), err.Error())
		return p.failure(plugin.Unreachable, "cannot be started: its node cannot be reached: "+why, err)
	case !started:
		return p.failure(plugin.NotStarted, "cannot be started: "+err.Error(), err)
	case refused != nil:
		return p.failure(plugin.NotStarted, "cannot be used: "+refused.Error(), err)
	// The plugin's side of the deadline may pass a moment before ours.
	case within.Err() != nil, status.Code(err) == codes.Canceled, status.Code(err) == codes.DeadlineExceeded:
		return p.startedLate(allowed(within, begun), err)
	case status.Code(err) == codes.Unimplemented:
		wanted := sdk.Kind(p.config.kind()).WithArticle()
		return p.failure(plugin.NotStarted, "is not "+wanted+p.instead(within), errOtherKind)
	}
	if s, ok := status.FromError(err); ok && s.Code() != codes.Unavailable {
		return p.failure(plugin.NotStarted, "cannot be used: "+s.Message(), err) // what Describe answered
	}
	return p.endedEarly(socket, err)
}

// startedLate is the failure of a plugin that was not ready in time; 0: there was no time left for it.
func (p *Process) startedLate(allowed time.Duration, err error) error {
	what := "was not started: the time for it was up before"
	if allowed > 0 {
		what = fmt.Sprintf("was not ready within %s of its start", deadlines.Text(allowed))
	}
	return p.failure(plugin.NotStarted, what, errors.Join(err, plugin.ErrLate))
}

// endedEarly says how the process ended before it was ready, or that it cannot be connected to. The socket is known
// once there was a handshake, and p.conn once there was a connection.
func (p *Process) endedEarly(socket string, err error) error {
	fail := func(what string) error { return p.failure(plugin.NotStarted, what, err) }
	how := p.runner.status(exitWait)
	switch why := p.runner.killReason(); {
	case why == noHandshake:
		return fail("ended its stdout before the handshake, and was killed: it is not a tunehost plugin, or " +
			"it failed to start")
	case why != "" && p.conn == nil && socket == "":
		return p.failure(plugin.Crashed, how+" before it was ready", err)
	case (socket == "" || p.conn != nil) && p.runner.signalled():
		// A user may have killed it, or the kernel for lack of memory: a retry may succeed.
		return p.failure(plugin.Crashed, how+" before it was ready", err)
	case how != "" && socket == "":
		if p.runner.output.lacks() {
			return fail(how + " before the handshake")
		}
		return fail(how + " before the handshake: it is not a tunehost plugin, or it failed to start")
	case how != "" && p.conn != nil:
		return fail(how + " before it had described itself")
	}
	return fail("cannot be connected to: " + err.Error())
}

// callFailure classifies a failed call, and ends the process if it can no longer be trusted.
func (p *Process) callFailure(ctx context.Context, call string, err error) error {
	p.mu.Lock()
	killed := p.killed
	p.mu.Unlock()
	if killed != nil {
		return p.failure(plugin.Crashed, "cannot be called: it "+killed.What, killed)
	}
	s := status.Convert(err)
	// The plugin's side of the deadline may pass a moment before ours.
	if ctx.Err() != nil || s.Code() == codes.DeadlineExceeded {
		return p.late(ctx, call)
	}
	switch s.Code() {
	case codes.InvalidArgument:
		if call == "Open" {
			e := p.failure(plugin.Refused, "refused: "+s.Message(), err)
			e.Tail = p.runner.output.besideTrace()
			return e
		}
	case codes.OutOfRange:
		return p.failure(plugin.Failed, plugin.FailedIn(call)+": "+s.Message(), space.ErrTight)
	case codes.ResourceExhausted:
		return p.garbage(call, fmt.Errorf("a message is too large: %s", s.Message()))
	case codes.Unavailable, codes.Canceled:
		return p.crashed(call, err)
	}
	e := p.failure(plugin.Failed, plugin.FailedIn(call)+": "+s.Message(), err)
	e.Tail = p.runner.output.besideTrace()
	return e
}

// late ends the plugin because the caller no longer waits for its answer; the state of the plugin is
// unknown. A searcher or scheduler whose caller has left, because the experiment ends, is not to blame: it is
// closed, in order.
func (p *Process) late(ctx context.Context, call string) error {
	left := errors.Is(ctx.Err(), context.Canceled)
	if kind := p.config.Kind; left && (kind == sdk.KindSearcher || kind == sdk.KindScheduler) {
		return ctx.Err()
	}
	e := p.failure(plugin.Hung, fmt.Sprintf("did not answer %s%s, and was killed", call, deadlines.For(ctx)),
		context.DeadlineExceeded)
	p.destroy(e)
	if left {
		return ctx.Err()
	}
	return e
}

// garbage ends the plugin because its answer is invalid.
func (p *Process) garbage(call string, err error) error {
	e := p.failure(plugin.InvalidAnswer, fmt.Sprintf("broke the protocol in %s: %v", call, err), err)
	p.destroy(e)
	return e
}

// crashed waits a moment for the exit status, which says more than a broken connection.
func (p *Process) crashed(call string, err error) error {
	how := p.runner.status(exitWait)
	if how == "" {
		how = "closed its connection"
		p.runner.kill(brokenCall)
		p.runner.status(exitWait) // wait for its last output
	}
	if p.runner.unreachable() != "" {
		return p.failure(plugin.Unreachable, how, err)
	}
	return p.failure(plugin.Crashed, fmt.Sprintf("%s in %s", how, call), err)
}
