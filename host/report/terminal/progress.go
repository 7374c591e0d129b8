package terminal

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/storage/naming"
	"github.com/tunehost/tunehost/host/view"
)

// Verbosity says how much is shown (B-122).
type Verbosity int

// Verbosities.
const (
	Silent  Verbosity = iota // nothing
	Brief                    // the status
	Results                  // and a line for what happens to trials, with their newest results
	All                      // and every result with all its metrics
)

const (
	redrawEvery = 250 * time.Millisecond
	lineEvery   = 5 * time.Second
	// sameLines is how many plain lines are skipped while nothing happens.
	sameLines = 5
	// maxBriefLines is how many trials' newest results are shown at a time.
	maxBriefLines = 20
	// mostRecent is how many lines can be written again after a resize.
	mostRecent = 100
)

// Options of a Progress; see [Detect].
type Options struct {
	Out io.Writer
	// Terminal redraws the status in place; else it is a line from time to time.
	Terminal bool
	Color    bool
	// Size is called before each drawing; it is needed for a Terminal. 0 is unknown.
	Size      func() (width, height int)
	Verbosity Verbosity
	// Choices write the choices of parameters.
	Choices naming.Tellers
	// FailureShown: the caller prints why the experiment failed, so Progress shows only the state.
	FailureShown bool
}

// Progress shows the progress of an experiment from its Source. As a writer it shows lines of a log
// without damaging the table.
type Progress struct {
	source Source
	o      Options
	paint  style

	drawing sync.Mutex // held while drawing, which includes asking the source

	mu     sync.Mutex
	varied varied
	block  []string // on the screen, to be overwritten
	drawn  screen   // the screen when the block was drawn
	// spilled: the screen became too small for the block, so that a part of it is in the terminal's
	// history, and may come back.
	spilled bool
	recent  []string // the last lines that stay
	newest  map[core.TrialNo]view.Event
	metric  string
	line    []byte // of the log, still without its end
	said    string // the last plain line
	same    string // without the time
	silent  int    // plain lines skipped since
	ticks   int    // of plain lines, since the last status
	closed  bool
}

var _ io.Writer = (*Progress)(nil)

// New makes a Progress, which shows nothing before the first Draw.
func New(source Source, o Options) *Progress {
	return &Progress{source: source, o: o, paint: style(o.Color), newest: map[core.TrialNo]view.Event{},
		varied: varied{told: o.Choices}}
}

// Every returns how often to draw.
func (p *Progress) Every() time.Duration {
	if p.o.Terminal || p.o.Verbosity >= Results {
		return redrawEvery
	}
	return lineEvery
}

// statusTicks is how many ticks pass between plain status lines if events are shown in between.
const statusTicks = int(lineEvery / redrawEvery)

// quiet reports whether only events are shown this time.
func (p *Progress) quiet(last bool) bool {
	if p.o.Terminal || p.o.Verbosity < Results || last {
		return false
	}
	p.ticks = (p.ticks + 1) % statusTicks
	return p.ticks != 1
}

// Run draws at each tick until ctx is done.
func (p *Progress) Run(ctx context.Context, ticks <-chan time.Time) {
	for {
		select {
		case <-ticks:
			p.Draw()
		case <-ctx.Done():
			return
		}
	}
}

// Draw shows the state of the experiment. Write errors are ignored: the experiment continues without
// its display.
func (p *Progress) Draw() {
	if p.o.Verbosity <= Silent {
		return
	}
	p.draw(false)
}

func (p *Progress) draw(last bool) {
	p.drawing.Lock()
	defer p.drawing.Unlock()
	var events []view.Event
	if p.o.Verbosity >= Results {
		events = p.source.Events() // before the status, so that the status is at least as new
	}
	st := p.source.Status()
	if p.o.FailureShown {
		st = withoutFailure(st)
	}
	var rows []view.Trial
	s := p.screen()
	if p.o.Terminal {
		rows = p.source.Rows(s.rows())
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	p.closed = last
	p.metric = st.Objective.Metric
	above := p.happened(events)
	switch {
	case p.o.Terminal:
		p.show(append(above, p.newestLines()...), s.frame(st, rows, &p.varied))
	case p.quiet(last):
		p.show(above, nil)
	default:
		p.show(slices.Concat(above, p.newestLines(), p.status(st, last)), nil)
	}
}

// withoutFailure leaves out why an experiment has failed: the caller prints it once, as an error.
func withoutFailure(st view.Status) view.Status {
	if st.State == core.Failed.String() {
		st.Cause = core.Cause{}
	}
	return st
}

// Close draws a last time; later output comes below.
func (p *Progress) Close() error {
	if len(p.partialLine()) > 0 {
		_, _ = p.Write([]byte{'\n'})
	}
	if p.o.Verbosity > Silent {
		p.draw(true)
	}
	return nil
}

// status returns the plain line, unless it repeats the last one.
func (p *Progress) status(st view.Status, last bool) []string {
	line, same := statusLine(st)
	if p.said == line || p.same == same && p.silent < sameLines && !last {
		p.silent++
		return nil
	}
	p.said, p.same, p.silent = line, same, 0
	return []string{line}
}

// happened returns the lines for events; those of results may wait for the trial's next event, or the
// end of the drawing.
func (p *Progress) happened(events []view.Event) (lines []string) {
	for i := range events {
		e := &events[i]
		if e.Kind == core.SawResult && p.o.Verbosity < All {
			p.newest[e.Trial.Number] = *e
			continue
		}
		if last, ok := p.newest[e.Trial.Number]; ok && e.Kind != core.SawCheckpoint {
			lines = p.add(lines, &last) // the result comes before its consequence
			delete(p.newest, e.Trial.Number)
		}
		lines = p.add(lines, e)
	}
	return lines
}

func (p *Progress) add(lines []string, e *view.Event) []string {
	if line := p.eventLine(e); line != "" {
		return append(lines, line)
	}
	return lines
}

// newestLines returns lines for the trials that reported since the last drawing.
func (p *Progress) newestLines() []string {
	var lines []string
	numbers := slices.Sorted(maps.Keys(p.newest))
	for _, no := range numbers[:min(len(numbers), maxBriefLines)] {
		e := p.newest[no]
		lines = p.add(lines, &e)
	}
	if more := len(numbers) - maxBriefLines; more > 0 {
		lines = append(lines, "… "+plural(more, "trial")+" more reported")
	}
	clear(p.newest)
	return lines
}

// Write shows complete lines above the table.
func (p *Progress) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.line = append(p.line, text...)
	end := bytes.LastIndexByte(p.line, '\n')
	if end < 0 {
		return len(text), nil
	}
	lines := strings.Split(string(p.line[:end]), "\n")
	p.line = append(p.line[:0], p.line[end+1:]...)
	p.show(lines, p.block)
	return len(text), nil
}

// partialLine returns what was written without a line end.
func (p *Progress) partialLine() []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.line
}

// show writes lines that stay, then the block, over the previous block, in one piece to avoid flicker.
func (p *Progress) show(lines, block []string) {
	defer func() {
		if p.closed {
			p.block = nil // the previous block stays
		}
	}()
	resized := p.o.Terminal && p.resized()
	if len(lines) == 0 && slices.Equal(block, p.block) && !resized {
		return
	}
	if !p.o.Terminal {
		_, _ = io.WriteString(p.o.Out, strings.Join(lines, "\n")+"\n")
		return
	}
	var out strings.Builder
	switch up := p.height(); {
	case resized && p.spilled:
		out.WriteString("\x1b[H\x1b[J") // parts of it may be anywhere
		lines = p.again(lines, len(block))
	case up > 0:
		fmt.Fprintf(&out, "\x1b[%dA", up)
	}
	p.recent = append(p.recent, lines...)
	p.recent = p.recent[max(0, len(p.recent)-mostRecent):]
	out.WriteString("\r")
	for _, line := range slices.Concat(lines, block) {
		out.WriteString(line + "\x1b[K\n")
	}
	out.WriteString("\x1b[J")
	_, _ = io.WriteString(p.o.Out, out.String())
	p.block = block
}

// resized reports whether the terminal was resized since the block was drawn.
func (p *Progress) resized() bool {
	now := p.screen()
	if len(p.block) == 0 || now == p.drawn {
		p.drawn = now
		return false
	}
	p.drawn = now
	p.spilled = p.spilled || p.height() >= now.height
	return true
}

// again returns the lines to write on an empty screen: the block, and above it as many of the last
// lines as fit.
func (p *Progress) again(lines []string, block int) []string {
	room := max(0, p.screen().height-1-block-len(lines))
	old := p.recent[max(0, len(p.recent)-room):]
	p.recent = nil
	return slices.Concat(old, lines)
}

// height returns how many lines of the screen the block occupies now: a terminal that became narrower
// has wrapped its lines.
func (p *Progress) height() int {
	across := max(p.screen().width, 1)
	n := 0
	for _, line := range p.block {
		n += max(1, (width(line)+across-1)/across)
	}
	return n
}

const (
	usualWidth  = 80
	usualHeight = 24
)

func (p *Progress) screen() screen {
	s := screen{usualWidth, usualHeight, p.paint}
	if p.o.Size == nil {
		return s
	}
	if w, h := p.o.Size(); w > 0 && h > 0 {
		s.width, s.height = w, h
	}
	return s
}
