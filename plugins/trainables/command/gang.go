package command

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/tunehost/tunehost/plugins/sdk"
)

// A worker is a process of an attempt: the only one, or one of a gang.
type worker struct {
	rank           int
	proc           *process // nil until it starts
	stdout, stderr *logFile
	stderrTail     tail // of a stderr without a log
}

// gangVariables are set for each worker of a gang, as programs for distributed training expect.
var gangVariables = []string{"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "NODE_RANK", "MASTER_ADDR",
	"MASTER_PORT"}

// masterAddr returns the address of rank 0, which is this machine unless the workers run on several.
func masterAddr(bundles []sdk.Bundle) string { return cmp.Or(bundles[0].Address, "127.0.0.1") }

// gangEnv returns the variables that describe a worker's place in the gang. The rank of a node is
// its position in the order in which the bundles name nodes.
func gangEnv(bundles []sdk.Bundle, rank, port int) []string {
	var nodes []string
	local, locals := 0, 0
	for i, b := range bundles {
		if !slices.Contains(nodes, b.Node) {
			nodes = append(nodes, b.Node)
		}
		if b.Node == bundles[rank].Node {
			locals++
			if i < rank {
				local++
			}
		}
	}
	values := []string{strconv.Itoa(rank), strconv.Itoa(len(bundles)), strconv.Itoa(local), strconv.Itoa(locals),
		strconv.Itoa(slices.Index(nodes, bundles[rank].Node)), masterAddr(bundles),
		strconv.Itoa(port)}
	env := make([]string, len(values))
	for i, v := range values {
		env[i] = gangVariables[i] + "=" + v
	}
	return env
}

// gangDevices returns the devices of all the gang's bundles on a worker's node, ordered by rank:
// programs for distributed training use the one at LOCAL_RANK. A worker whose bundle has none gets
// none.
func gangDevices(bundles []sdk.Bundle, rank int) (devices []string) {
	if len(bundles[rank].Devices) == 0 {
		return nil
	}
	for _, b := range bundles {
		for _, d := range b.Devices {
			if b.Node == bundles[rank].Node && !slices.Contains(devices, d) {
				devices = append(devices, d)
			}
		}
	}
	return devices
}

// visible is p.devices for a program of this attempt. One without GPUs beside others that have some sees none: what its
// node shows may be those of other trials.
func (a *attempt) visible(granted []string) string {
	if len(granted) == 0 && a.hasDevices() {
		return a.p.o.Env["CUDA_VISIBLE_DEVICES"]
	}
	return a.p.devices(granted)
}

// hasDevices reports whether a bundle of the trial has GPUs.
func (a *attempt) hasDevices() bool {
	return slices.ContainsFunc(a.trial.Bundles, func(b sdk.Bundle) bool { return len(b.Devices) > 0 })
}

func (a *attempt) isGang() bool { return a.p.o.Workers && len(a.trial.Bundles) > 0 }

// workers yields the created workers, rank 0 first.
func (a *attempt) workers() iter.Seq[*worker] {
	return func(yield func(*worker) bool) {
		if !yield(&a.worker) {
			return
		}
		for _, w := range a.others {
			if !yield(w) {
				return
			}
		}
	}
}

// launchGang starts the command once for each bundle. If one cannot start, none continues.
func (a *attempt) launchGang(file string, env []string, channel string) (err error) {
	if a.port, err = a.p.ports.take(); err != nil {
		return fmt.Errorf("no port for the workers to meet: %w", err)
	}
	bundles := a.trial.Bundles
	own := func(rank int) []string {
		return append(append(slices.Clone(env), gangEnv(bundles, rank, a.port)...),
			devicesVariable+a.visible(gangDevices(bundles, rank)))
	}
	if err := a.launch(file, append(own(0), channelVariable+channel)); err != nil {
		return err
	}
	for rank := 1; rank < len(bundles); rank++ {
		if err := a.launchOther(file, own(rank), rank); err != nil {
			a.abandon()
			return err
		}
	}
	return nil
}

// launchOther starts a worker that does not report: its output goes to its own logs.
func (a *attempt) launchOther(file string, env []string, rank int) error {
	w := &worker{rank: rank, stdout: &logFile{}, stderr: &logFile{}}
	defer func() {
		if w.proc == nil {
			w.stdout.close()
			w.stderr.close()
		}
	}()
	if err := w.openLogs(a.trial.Dir, a.p.o.Log); err != nil {
		return err
	}
	null, err := devNull()
	if err != nil {
		return err
	}
	file, args, env, err := a.onItsNode(file, env, rank)
	if err != nil {
		return err
	}
	stdout, stderr := w.stdout.File, w.stderr.File
	if stdout == nil {
		stdout = null
	}
	if stderr == nil {
		if stderr, err = a.keepTail(w); err != nil {
			return err
		}
		defer stderr.Close()
	}
	w.proc, err = start(file, args, &syscall.ProcAttr{
		Dir: a.dir, Env: env, Files: []uintptr{null.Fd(), stdout.Fd(), stderr.Fd()},
	})
	if err != nil {
		return startError(a.args, err)
	}
	a.others = append(a.others, w)
	return nil
}

// openLogs opens files named like those of rank 0, with the rank added.
func (w *worker) openLogs(dir string, names logFiles) (err error) {
	of := func(name string) string {
		if name == "" {
			return ""
		}
		return name + "." + strconv.Itoa(w.rank)
	}
	if w.stdout, err = openLog(dir, of(names.Stdout)); err != nil {
		return err
	}
	if w.stderr = w.stdout; names.Stderr != names.Stdout {
		w.stderr, err = openLog(dir, of(names.Stderr))
	}
	return err
}

// abandon ends an incomplete gang.
func (a *attempt) abandon() {
	a.kill()
	for w := range a.workers() {
		<-w.proc.exited
	}
	a.finish()
}

// awaitOthers sends the other workers as they end.
func (a *attempt) awaitOthers() <-chan *worker {
	ended := make(chan *worker, len(a.others))
	for _, w := range a.others {
		go func() {
			<-w.proc.exited
			ended <- w
		}()
	}
	return ended
}

func (a *attempt) signal(sig syscall.Signal) {
	for w := range a.workers() {
		w.proc.signal(sig)
	}
}

func (w *worker) hasEnded() bool {
	select {
	case <-w.proc.exited:
		return true
	default:
		return false
	}
}

// hasFailed reports whether it has ended with an error.
func (w *worker) hasFailed() bool { return w.hasEnded() && w.proc.status != 0 }

// ending describes the end of a failed worker.
func (w *worker) ending() string {
	if s := w.proc.status; s.Signaled() {
		return "was killed by " + signalName(s.Signal())
	}
	return fmt.Sprintf("ended with exit status %d", w.proc.status.ExitStatus())
}

// phase is the phase of an attempt.
type phase int

const (
	training  phase = iota
	following       // rank 0 has succeeded: the others have time to exit, too
	ending          // workers are killed, because one failed or is late
	stopping        // the host wants it to stop
)

// leastFollow is the minimum time for workers to exit after rank 0: they notice its end only
// afterwards.
const leastFollow = time.Second

func (a *attempt) followTime() time.Duration { return max(seconds(a.trial.GraceSeconds), leastFollow) }

// lost handles the end of a worker, and reports whether any are left. All end with the first that
// fails, and with rank 0.
func (s *supervisor) lost(w *worker) bool {
	s.left--
	switch {
	case s.phase > following || s.a.killed: // their exits no longer matter
	case w.hasFailed():
		s.a.blame(w)
		s.endOthers()
	case w.rank == 0 && s.left > 0:
		s.phase, s.silence = following, nil
		half := s.a.followTime() / 2
		s.arm([]step{{half, syscall.SIGTERM}, {half, syscall.SIGKILL}})
	}
	return s.left > 0
}

func (s *supervisor) endOthers() {
	s.phase, s.asked, s.stopped, s.silence = ending, nil, nil, nil
	s.a.signal(syscall.SIGTERM)
	s.arm([]step{{seconds(s.a.trial.GraceSeconds), syscall.SIGKILL}})
}

// signal sends a signal to all workers. Those that must be killed although rank 0 has succeeded are
// late.
func (s *supervisor) signal(sig syscall.Signal) {
	if s.phase == following {
		s.phase = ending
	}
	s.a.overdue = s.a.overdue || s.phase == stopping && sig == syscall.SIGKILL
	s.a.handles = s.a.handles || s.phase == stopping && handles(s.a.proc.pid, sig)
	if s.phase == ending && sig == syscall.SIGKILL && len(s.a.blamed) == 0 {
		s.a.late = slices.DeleteFunc(slices.Collect(s.a.workers()), (*worker).hasEnded)
	}
	s.a.signal(sig)
}

// blame records failed workers. The failure of one causes failures of others, which may be noticed
// first: all that have failed so far are named.
func (a *attempt) blame(first *worker) {
	a.blamed = append(a.blamed, first)
	for w := range a.workers() {
		if w != first && w.hasFailed() {
			a.blamed = append(a.blamed, w)
		}
	}
}

// maxNamed is the maximum number of ranks in a message.
const maxNamed = 8

// ranks returns text for messages: " (rank 1, also 0, 2)", or nothing without a gang.
func (a *attempt) ranks(workers []*worker) string {
	if !a.isGang() {
		return ""
	}
	var rest []string
	for _, w := range workers[1:] {
		rest = append(rest, strconv.Itoa(w.rank))
	}
	if len(rest) > maxNamed {
		rest = append(rest[:maxNamed], "…")
	}
	text := " (rank " + strconv.Itoa(workers[0].rank)
	if len(rest) > 0 {
		text += ", also " + strings.Join(rest, ", ")
	}
	return text + ")"
}
