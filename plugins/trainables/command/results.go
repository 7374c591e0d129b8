package command

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/channel"
)

// way is how a program reports: the first that brings a result is its way.
type way string

const (
	byPrinting way = "printing"
	byChannel  way = "the channel"
)

// results takes an attempt's results from wherever they come and hands them to
// the host one after the other.
type results struct {
	a       *attempt
	reader  reader
	queue   *queue
	stopped chan struct{} // closed when the host wants the program to stop
	report  sync.Once
	done    chan struct{} // closed when the host has all results; nil before the first

	order sync.Mutex // numbers and hands over at a time

	mu        sync.Mutex
	way       way
	last      uint64 // iteration
	begun     bool   // there was a result
	uncounted bool   // the program's own counts are not used
	err       error  // of the stop
	decision  channel.Decision
	told      bool // the program was told of the stop
	warned    map[string]bool
	rejected  int
	lacking   string // what a printed object had instead of an objective
}

func (r *results) init(a *attempt) {
	r.a = a
	r.reader = reader{objectives: a.p.o.Objectives, patterns: a.p.patterns}
	r.queue = newQueue(maxQueued)
	r.stopped = make(chan struct{})
	r.last = a.trial.Iteration
	r.decision = channel.Continue
}

// claim says whether results that come this way count.
func (r *results) claim(w way) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.way == "" {
		r.way = w
	}
	return r.way == w
}

// printed takes a line of stdout.
func (r *results) printed(line []byte, cut bool) {
	if cut {
		r.warn("cut", "a line of stdout was longer than %d bytes; the rest of it is ignored", channel.MaxLineBytes)
	}
	p, err := r.reader.read(line)
	if err != nil {
		r.warn("line", "a line of stdout is no result: %v: %.200q", err, line)
	}
	if p == nil {
		return
	}
	if p.skipped != "" {
		r.warn("name", "%.200q was printed and left out: %v", p.skipped, channel.CheckName(p.skipped))
	}
	if !p.objective {
		r.noteLacking(p)
		return
	}
	if !r.claim(byPrinting) {
		r.warn("both", "printed results are ignored, because the program reports by the channel")
		return
	}
	r.addPrinted(p)
}

func (r *results) addPrinted(p *printed) {
	if p.zero || !r.grows(p.Iteration) {
		p.zero = true
		r.warn("zero", "iterations that are printed are ignored: they do not count from 1, each higher than the one before")
	}
	res := p.Result
	if res.Checkpoint != "" {
		dir, err := r.checkpoint(res.Checkpoint)
		if err != nil {
			r.warn("checkpoint", "a printed checkpoint is ignored: %v", err)
		}
		res.Checkpoint = dir
	}
	res.Iteration = r.number(res.Iteration, p.zero)
	r.push(item{result: res})
}

// grows says whether an iteration can follow the last one. The first of an
// attempt may be any: the program may have gone on from its checkpoint or not.
func (r *results) grows(given uint64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return given == 0 || !r.begun || given > r.last
}

// number gives each result its iteration before any is dropped.
func (r *results) number(given uint64, zero bool) uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.uncounted = r.uncounted || zero
	if given == 0 || r.uncounted {
		given = r.last + 1
	}
	r.last, r.begun = given, true
	return given
}

// numbered hands a result over if its iteration can follow. Connections report at
// the same time: results are handed over in the order of their numbers.
func (r *results) numbered(it item) bool {
	r.order.Lock()
	defer r.order.Unlock()
	if !r.grows(it.result.Iteration) {
		return false
	}
	it.result.Iteration = r.number(it.result.Iteration, false)
	r.push(it)
	return true
}

func (r *results) push(it item) {
	r.report.Do(func() {
		r.done = make(chan struct{})
		go r.deliverAll()
	})
	if r.queue.push(it) {
		r.warn("dropped", "results come faster than they are decided on: more than %d wait, older ones are dropped", maxQueued)
	}
}

// deliverAll hands results to the host until there will be no more.
func (r *results) deliverAll() {
	defer close(r.done)
	for {
		it, ok := r.queue.pop()
		if !ok {
			return
		}
		d := r.deliver(it)
		if it.answer != nil {
			it.answer <- d
		}
	}
}

// deliver hands over one result. Once the program was told to stop only a
// checkpoint that it made for that is of interest.
func (r *results) deliver(it item) channel.Decision {
	if d := r.verdict(); d != channel.Continue && it.result.Checkpoint == "" {
		return d
	}
	if err := r.a.run.Report(it.result, nil); err != nil {
		return r.stop(err, it.answer != nil)
	}
	return r.verdict()
}

func (r *results) verdict() channel.Decision {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.decision
}

// stop notes that the host wants the program to stop, and why; the first time
// counts. told says that the program hears of it.
func (r *results) stop(err error, told bool) channel.Decision {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err, r.told, r.decision = err, told, channel.Stop
		if errors.Is(err, sdk.ErrPaused) {
			r.decision = channel.Pause
		}
		close(r.stopped)
	}
	return r.decision
}

func (r *results) stopError() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

func (r *results) wasTold() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.told
}

// drain waits until the host has all results. Nothing is pushed any more.
func (r *results) drain() {
	r.queue.close()
	if r.done != nil {
		<-r.done
	}
}

// checkpoint checks a directory that the program hands over. It may be moved
// away, so it must be the trial's own.
func (r *results) checkpoint(dir string) (string, error) {
	home := r.a.trial.Dir
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(home, dir)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return "", fmt.Errorf("checkpoint: %w", err)
	}
	if !info.IsDir() {
		return "", fmt.Errorf("checkpoint %s is not a directory", dir)
	}
	if !ownDirectory(home, dir) {
		return "", fmt.Errorf("checkpoint %s is not a new directory: make one below TUNEHOST_CHECKPOINT_DIR", dir)
	}
	return filepath.Clean(dir), nil
}

// ownDirectory says whether dir is below home and none of the host's.
func ownDirectory(home, dir string) bool {
	home, err1 := filepath.EvalSymlinks(home)
	dir, err2 := filepath.EvalSymlinks(dir)
	rel, err3 := filepath.Rel(home, dir)
	if err1 != nil || err2 != nil || err3 != nil || !filepath.IsLocal(rel) || rel == "." {
		return false
	}
	top, _, _ := strings.Cut(rel, string(filepath.Separator))
	return top != "checkpoints" && rel != checkpointDir
}

// warn writes to the trial's log, once for each topic.
func (r *results) warn(topic, format string, args ...any) {
	r.mu.Lock()
	seen := r.warned[topic]
	if r.warned == nil {
		r.warned = map[string]bool{}
	}
	r.warned[topic] = true
	r.mu.Unlock()
	if !seen {
		r.a.run.Log("warning: " + fmt.Sprintf(format, args...))
	}
}

func (r *results) noteLacking(p *printed) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lacking == "" && len(p.Metrics) > 0 {
		r.lacking = names(p.Metrics)
	}
}

// warnIfNone helps to find out why there was no result.
func (r *results) warnIfNone() {
	r.mu.Lock()
	way, lacking := r.way, r.lacking
	r.mu.Unlock()
	if way == "" && lacking != "" {
		r.warn("none", "no result: the JSON objects that were printed have no number under %s, but %s",
			strings.Join(r.a.p.o.Objectives, " or "), lacking)
	}
}
