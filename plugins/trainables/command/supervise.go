package command

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// A step of a stop: a signal, some time after the previous step.
type step struct {
	after  time.Duration
	signal syscall.Signal
}

// stopSteps returns SIGTERM, the grace time, SIGKILL (B-023). A program that was told to stop in
// the answer to its report cleans up and exits by itself: a signal would interrupt that (B-150).
func stopSteps(grace time.Duration, told bool) []step {
	if told {
		return []step{{grace, syscall.SIGKILL}}
	}
	return []step{{0, syscall.SIGTERM}, {grace, syscall.SIGKILL}}
}

// supervise returns when the program has ended.
func (a *attempt) supervise(ctx context.Context) {
	s := supervisor{a: a, left: 1 + len(a.others), head: a.proc.exited, ended: a.awaitOthers(),
		cancelled: ctx.Done(), stopped: a.results.stopped}
	if r, ok := a.run.(sdk.Stopper); ok {
		s.asked = r.Stopped()
	}
	if a.p.deadline > 0 {
		s.silence = time.NewTimer(a.p.deadline)
		defer s.silence.Stop()
	}
	for s.next(ctx) {
	}
	s.arm(nil)
}

// A supervisor waits for one event after the other. Channels that are finished are nil.
type supervisor struct {
	a         *attempt
	left      int             // workers that are running
	head      <-chan struct{} // the end of rank 0
	ended     <-chan *worker  // the ends of the others
	phase     phase
	cancelled <-chan struct{}
	asked     <-chan struct{}
	stopped   <-chan struct{}
	silence   *time.Timer
	steps     []step
	timer     *time.Timer
}

func (s *supervisor) next(ctx context.Context) bool {
	select {
	case <-s.head:
		s.head = nil
		return s.lost(&s.a.worker)
	case w := <-s.ended:
		return s.lost(w)
	case <-s.cancelled:
		s.cancelled = nil
		s.a.kill()
	case <-s.asked:
		s.asked = nil
		if ctx.Err() == nil { // else it is killed
			s.a.conns.stop(stopCause(s.a.run))
		}
	case <-s.stopped:
		s.stopped, s.silence, s.phase = nil, nil, stopping
		s.arm(stopSteps(seconds(s.a.trial.GraceSeconds), s.a.results.wasTold()))
	case <-timeOf(s.timer):
		s.signal(s.steps[0].signal)
		s.arm(s.steps[1:])
	case <-timeOf(s.silence):
		s.listen()
	}
	return true
}

// stopCause returns the error that Report would return to a trial that was told to stop.
func stopCause(run sdk.Run) error {
	if r, ok := run.(sdk.Pauser); ok && r.Paused() {
		return sdk.ErrPaused
	}
	return sdk.ErrStopped
}

func timeOf(t *time.Timer) <-chan time.Time {
	if t == nil {
		return nil
	}
	return t.C
}

// arm waits for the first step.
func (s *supervisor) arm(steps []step) {
	if s.timer != nil {
		s.timer.Stop()
	}
	s.steps, s.timer = steps, nil
	if len(steps) > 0 {
		s.timer = time.NewTimer(steps[0].after)
	}
}

// listen fails the trial if its deadline has passed in silence, or waits for the rest of it.
func (s *supervisor) listen() {
	left := s.a.p.deadline - s.a.silent()
	if left > 0 {
		s.silence.Reset(left)
		return
	}
	s.silence = nil
	s.a.hung = true
	s.a.kill()
}

func (a *attempt) kill() {
	a.killed = true
	a.signal(syscall.SIGKILL)
}

// silent returns how long the program has been silent. The program writes its log of stderr itself,
// so the log is checked too. A program that waits for a decision is not silent.
func (a *attempt) silent() time.Duration {
	if size := a.stderr.size(); size != a.stderrSize {
		a.stderrSize = size
		a.heard.reset()
	}
	if a.conns.waiting() || a.results.queue.holds() {
		a.heard.reset()
	}
	return a.heard.since()
}

// failure returns the message of a trial whose program failed: how it ended with its last line, for
// lists; then the path of its log, and more lines (B-070). The lines are those of the first worker.
func (a *attempt) failure(how string, workers ...*worker) error {
	w, who := workers[0], a.args[0]+a.ranks(workers)
	words, where := w.stderr.tail(), w.stderr.name("stderr")
	if w.stderr.File == nil {
		words, where = w.stderrTail.bytes(), "its stderr is not logged"
	}
	a.hintElsewhere(words)
	last := lastLines(words)
	if last == "  " {
		return fmt.Errorf("%s %s; it wrote nothing to stderr; %s", who, how, w.stdout.name("stdout"))
	}
	lines := strings.Split(last, "\n")
	text := fmt.Sprintf("%s %s: %s\n%s", who, how, strings.TrimSpace(lastOwnLine(lines)), where)
	if len(lines) > 1 {
		text += "; it ends:\n" + last
	}
	return errors.New(text)
}

// launchers are the beginnings of lines from programs that start other programs on several nodes. Their last line
// only says that one of those programs has ended.
var launchers = []string{"srun: ", "slurmstepd: "}

// lastOwnLine returns the last line that does not come from a launcher, or the last line if all do.
func lastOwnLine(lines []string) string {
	for _, l := range slices.Backward(lines) {
		own := func(name string) bool { return strings.HasPrefix(strings.TrimSpace(l), name) }
		if !slices.ContainsFunc(launchers, own) {
			return l
		}
	}
	return lines[len(lines)-1]
}

func (l *logFile) name(what string) string {
	if l.File == nil {
		return "its " + what + " is not logged"
	}
	return "its " + what + " is in " + filepath.Clean(l.Name())
}

// signalName returns a signal's name for people.
func signalName(s syscall.Signal) string {
	name := fmt.Sprintf("signal %d (%v)", int(s), s)
	if s == syscall.SIGKILL {
		name += ", by the system because of a lack of memory, or by a user"
	}
	return name
}
