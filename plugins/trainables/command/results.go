package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/channel"
)

// way is how a program reports: the first result decides, so that no result counts twice. Output
// before a report is processed before it.
type way string

const (
	byPrinting way = "printing"
	byChannel  way = "the channel"
)

// results collects an attempt's results from all sources and sends them to the host one by one.
type results struct {
	a       *attempt
	reader  reader
	clues   *clues
	queue   *queue
	started chan struct{} // closed when the host was told that the program has started
	stopped chan struct{} // closed when the host wants the program to stop
	report  sync.Once
	done    chan struct{} // closed when the host has all results; nil before the first

	order sync.Mutex // held while a result is numbered and sent

	way atomic.Value // nil before there is one; asked for each line

	mu        sync.Mutex
	last      uint64 // iteration
	begun     bool   // there was a result
	shift     uint64 // 1 if the program counts from 0
	uncounted bool   // the program's own counts are not used
	err       error  // of the stop
	decision  channel.Decision
	told      bool // the program was told about the stop
	warned    map[string]bool
	rejected  int
}

func (r *results) init(a *attempt) {
	r.a = a
	r.reader = reader{objectives: a.p.o.Objectives, patterns: a.p.patterns}
	r.clues = newClues(a.p.o.Objectives, len(a.p.patterns) > 0)
	r.queue = newQueue(maxQueued)
	r.started, r.stopped = make(chan struct{}), make(chan struct{})
	r.last = a.trial.Iteration
	r.decision = channel.Continue
}

// unanswered is the decision on reports to a host that is gone, or has killed the trial: the channel closes. A program
// that was told to stop would take its last state for the final one, though the record may not even have the result.
const unanswered channel.Decision = ""

// claim reports whether results of this way count.
func (r *results) claim(w way) bool {
	r.way.CompareAndSwap(nil, w)
	return r.way.Load() == w
}

// claimChannel reports whether reports on the channel count.
func (r *results) claimChannel() bool {
	if !r.any() {
		r.a.intake.await()
	}
	return r.claim(byChannel)
}

// errTwoWays is the answer to reports of a program whose printed lines are results. Accepting both
// would count each result twice, and ignoring its reports would lose their checkpoints.
var errTwoWays = errors.New("the lines that the program printed before its first report count as its results: " +
	"print no line that looks like a result (print to stderr, or without the objective), or print everything, also " +
	"the checkpoints, and report nothing")

func (r *results) twoWays() error {
	r.hint("both", "reports are refused: %v", errTwoWays)
	return errTwoWays
}

// cut processes the beginning of a line of stdout that has more bytes than are read. An object is lost; expressions see
// the beginning.
func (r *results) cut(line []byte, size int) {
	if r.reader.patterns == nil && bytes.HasPrefix(bytes.TrimSpace(line), []byte{'{'}) {
		r.tooLong(line, size)
		return
	}
	r.hint("cut", "a line of stdout has %d bytes, and only the first %d are read", size, channel.MaxLineBytes)
	r.printed(line)
}

// tooLong tells the user about an object that is lost, which is the reason if there is no result. One in which no
// objective was seen may be something else.
func (r *results) tooLong(line []byte, size int) {
	text := fmt.Sprintf("a line of stdout that begins like a result has %d bytes, and a result may have %d: print "+
		"fewer values, and write what is large to a file: %s", size, channel.MaxLineBytes, snippet(line))
	rank := r.clues.rankOfCut(line)
	if r.clues.count(rank) {
		r.clues.set(rank, "%s", text)
	}
	if rank < wrongs {
		r.warn("cut", "%s", text)
		return
	}
	r.explain("cut", "%s", text)
	r.first("none")
}

// printed processes a line of stdout.
func (r *results) printed(line []byte) {
	p, err := r.reader.read(line)
	if err != nil {
		r.notResult(line, err)
	}
	switch {
	case p != nil && p.objective:
		r.printedResult(p)
	case !r.any(): // otherwise nobody needs the clue
		r.clues.stdout(line, p, err)
		r.hintMidway()
	case p == nil && err == nil && r.way.Load() == byPrinting:
		r.trailing(line)
	}
}

// trailing tells the user about a result that is lost, because other text follows it in its line.
func (r *results) trailing(line []byte) {
	line = bytes.TrimSpace(line)
	end := bytes.LastIndexByte(line, '}')
	if r.reader.patterns == nil && end > 0 && line[0] == '{' && r.clues.rankOf(line) == wrongs &&
		json.Valid(line[:end+1]) {
		r.hint("trailing", "a line of stdout is not a result, because other text follows it, and it must be the "+
			"object alone: %s", snippet(line))
	}
}

// printedAll deals with what is left when the output has ended.
func (r *results) printedAll() {
	p, late := r.reader.rest()
	switch {
	case p != nil:
		r.printedResult(p)
	case len(late) > 0 && r.any():
		r.hint("late", "after its last result it printed %s, which belongs to no result: print such a metric "+
			"before %s, or on the same line", names(late), r.clues.objective())
	}
}

func (r *results) printedResult(p *printed) {
	if p.skipped != "" {
		r.hint("name", "the metric %.64q is left out: %v", p.skipped, channel.CheckName(p.skipped))
	}
	if !r.claim(byPrinting) {
		r.warn("both", "printed lines of JSON are not results, because the program reports over the channel")
		return
	}
	r.addPrinted(p)
}

// notResult tells the user that a result is lost, which is also the reason if there is none. Other
// lines that are almost JSON concern only the log.
func (r *results) notResult(line []byte, err error) {
	tell, topic := r.warn, "line"
	if !errors.Is(err, channel.ErrNotJSON) && r.clues.rankOf(line) == wrongs {
		tell, topic = r.explain, "lost"
		r.first("none")
	}
	tell(topic, "a line of stdout is not a result: %v: %s", err, snippet(line))
}

func (r *results) addPrinted(p *printed) {
	res := p.Result
	if res.Checkpoint != "" {
		dir, err := r.checkpoint(res.Checkpoint)
		if err != nil {
			r.hint("checkpoint", "a printed checkpoint is ignored: %v", err)
		}
		res.Checkpoint = dir
	}
	r.number(&res, p.given)
	r.push(item{result: res})
}

// number sets the iteration of a result. The program's own count is used while it increases, from 0
// or 1; the first one of an attempt may have any value, because the program may have continued from
// its checkpoint or not. Otherwise results are counted here, with a warning, and the reported value
// is stored with the metrics (B-016, B-061).
func (r *results) number(res *sdk.Result, odd *float64) {
	r.mu.Lock()
	said, topic := res.Iteration, ""
	switch {
	case r.uncounted || odd == nil && said == 0:
		res.Iteration = 0
	case odd != nil && *odd != 0:
		r.uncounted, topic = true, uncountable(*odd)
	default:
		topic = r.follow(res)
	}
	if res.Iteration == 0 {
		res.Iteration = r.last + 1
	}
	r.last, r.begun = res.Iteration, true
	key := "iteration"
	if r.uncounted { // a second mistake, beside a count from 0
		key = "uncounted"
	}
	r.mu.Unlock()
	if odd != nil {
		res.Values = channel.AppendValue(res.Values, reportedIteration, *odd)
	} else if said != 0 && said != res.Iteration {
		res.Values = channel.AppendValue(res.Values, reportedIteration, float64(said))
	}
	if topic != "" {
		r.hint(key, "%s; result.jsonl keeps what was reported as %s", topic, reportedIteration)
	}
}

// uncountable returns why a printed number is not an iteration.
func uncountable(odd float64) string {
	_, err := channel.Iteration(odd)
	return fmt.Sprintf("it reports an invalid iteration: %v; from here on results are counted one by one", err)
}

// reportedIteration is the name of the value with the iteration that the program reported.
const reportedIteration = "reported_iteration"

// follow uses the program's iteration if it can follow the last one. It needs r.mu.
func (r *results) follow(res *sdk.Result) (said string) {
	from0 := res.Iteration == 0 || r.a.trial.Restore != "" && res.Iteration == r.a.trial.Iteration
	if !r.begun && from0 {
		r.shift = 1
		said = "it counts iterations from 0, and results count from 1: 1 is added"
	}
	next := res.Iteration + r.shift
	if next == r.last && r.err != nil && res.Checkpoint != "" { // of the last result, saved after the stop
		res.Iteration = 0
		return said
	}
	if r.begun && next <= r.last {
		said = fmt.Sprintf("it reports iteration %d after iteration %d, and iterations must grow: from here on "+
			"results are "+
			"counted one by one", res.Iteration, r.last-r.shift)
		r.uncounted, next = true, 0
	}
	res.Iteration = next
	return said
}

// reported sends a result of the channel. Connections report concurrently: results are sent in the
// order of their numbers.
func (r *results) reported(it item) {
	r.order.Lock()
	defer r.order.Unlock()
	r.number(&it.result, nil)
	r.push(it)
}

func (r *results) push(it item) {
	r.report.Do(func() {
		r.done = make(chan struct{})
		go r.deliverAll()
	})
	r.queue.push(it, func() {
		r.hint("faster", "it prints results faster than the scheduler decides on them: %d results are waiting, and "+
			"the program is blocked until there are fewer; one result per epoch is enough", maxQueued)
	})
}

// deliverAll sends results to the host until there are no more. The host hears first that the program
// has started, which may be quick enough to report before this process has said so.
func (r *results) deliverAll() {
	defer close(r.done)
	<-r.started
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

// deliver sends one result. After a stop only a checkpoint matters; after a pause also the results
// before it.
func (r *results) deliver(it item) channel.Decision {
	if d := r.verdict(); d == unanswered || d == channel.Stop && it.result.Checkpoint == "" {
		return d
	}
	if err := r.submit(it); err != nil {
		if d := r.stop(err, it.answer != nil); !errors.Is(err, sdk.ErrKilled) {
			return d
		}
		return unanswered
	}
	if it.result.Done { // it has time to exit before it is stopped
		return r.stop(sdk.ErrStopped, true)
	}
	return r.verdict()
}

// submit sends a result to the host. An answer follows the record of the result, also that to the last one.
func (r *results) submit(it item) error {
	err := r.a.run.Report(it.result, nil)
	if c, ok := r.a.run.(sdk.Confirmer); ok && err == nil && it.result.Done && it.answer != nil {
		return c.Recorded()
	}
	return err
}

func (r *results) verdict() channel.Decision {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.decision
}

// stop records that the host wants the program to stop, and why; the first time counts. told says
// that the program will receive it.
func (r *results) stop(err error, told bool) channel.Decision {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err, r.told, r.decision = err, told, channel.Stop
		switch {
		case errors.Is(err, sdk.ErrPaused):
			r.decision = channel.Pause
		case errors.Is(err, sdk.ErrKilled):
			r.decision = unanswered
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

// drain waits until the host has all results. Nothing more may be pushed.
func (r *results) drain() {
	r.queue.close()
	if r.done != nil {
		<-r.done
	}
}

// checkpoint checks a reported directory. The host may move it, so it must belong to the trial.
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

// ownDirectory reports whether dir is in home and not one of the host's.
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
	if r.first(topic) {
		r.a.run.Log("warning: " + fmt.Sprintf(format, args...))
	}
}

// first reports whether nothing was said of a topic in this attempt before.
func (r *results) first(topic string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	seen := r.warned[topic]
	if r.warned == nil {
		r.warned = map[string]bool{}
	}
	r.warned[topic] = true
	return !seen
}

// hint tells the user about a probable mistake of the program: at the first trial of this process,
// once for each topic.
func (r *results) hint(topic, format string, args ...any) {
	if _, said := r.a.p.hinted.LoadOrStore(topic, true); said {
		r.warn(topic, format, args...)
		return
	}
	r.show(fmt.Sprintf(format, args...))
}

// explain says why the trial has no result, once for each topic. Each trial can have a mistake of its own, which
// becomes part of its error; the host shows the user one of each kind.
func (r *results) explain(topic, format string, args ...any) {
	if r.first(topic) {
		r.show(fmt.Sprintf(format, args...))
	}
}

func (r *results) show(text string) {
	if h, ok := r.a.run.(sdk.Hinter); ok {
		h.Hint(text)
		return
	}
	r.a.run.Log("warning: " + text)
}

// reportedWrong examines a report on the channel without an objective: the host reports the error,
// and this explains it.
func (r *results) reportedWrong(res *sdk.Result) {
	for _, o := range r.a.p.o.Objectives {
		if slices.ContainsFunc(res.Metrics, func(m sdk.Metric) bool { return m.Name == o }) {
			continue
		}
		values := map[string]any{}
		_ = json.Unmarshal(res.Values, &values) // nil: there are none
		if v, ok := values[o]; ok {
			r.hint("none", "it reported %s as %s; report a number", o, kindOf(v))
		} else {
			r.hint("none", "%s", r.clues.lacks("reported", res.Metrics))
		}
	}
}

// hintMidway handles a program that keeps running without results.
func (r *results) hintMidway() {
	if r.clues.enough() && !r.any() {
		r.hintNone()
	}
}

func (r *results) any() bool { return r.way.Load() != nil }

// hintNone explains a missing result.
func (r *results) hintNone() {
	if text := r.clues.conclusion(r.a); text != "" {
		r.explain("none", "%s", text)
	}
}
