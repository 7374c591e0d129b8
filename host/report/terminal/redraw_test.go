package terminal

import (
	"bytes"
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/tunehost/tunehost/host/view"
)

// tty understands what Progress writes: text, line feeds, and the sequences for up, begin of line,
// erase to the end of the line and of the screen.
type tty struct {
	lines []string
	at    int
	all   bytes.Buffer
}

func (s *tty) Write(b []byte) (int, error) {
	s.all.Write(b)
	for text := string(b); text != ""; {
		switch {
		case strings.HasPrefix(text, "\x1b[J"):
			s.lines, text = s.lines[:s.at], text[3:]
		case strings.HasPrefix(text, "\x1b[") && text[strings.IndexAny(text[2:], "ABCDmKJ")+2] == 'A':
			end := strings.IndexByte(text, 'A')
			n, _ := strconv.Atoi(text[2:end])
			s.at, text = s.at-n, text[end+1:]
		case text[0] == '\r':
			text = text[1:]
		default:
			line, rest, _ := strings.Cut(text, "\n")
			for len(s.lines) <= s.at {
				s.lines = append(s.lines, "")
			}
			s.lines[s.at] = ansi.Strip(line)
			s.at++
			text = rest
		}
	}
	return len(b), nil
}

func onTerminal(f *fake, v Verbosity) (*Progress, *tty) {
	screen := &tty{}
	return New(f, Options{Out: screen, Terminal: true, Color: true, Verbosity: v,
		Size: func() (int, int) { return 100, 30 }}), screen
}

// B-120
func TestTheTableIsRedrawnInPlace(t *testing.T) {
	f := running()
	p, tty := onTerminal(f, Results)
	p.Draw()
	f.done, f.elapsed = 60, 20*time.Minute
	p.Draw()
	if _, err := p.Write([]byte("a warning\nhalf")); err != nil {
		t.Fatal(err)
	}
	f.done, f.state = 100, "finished"
	f.events = []view.Event{started(99)}
	p.Draw()
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Write([]byte("after\n")); err != nil {
		t.Fatal(err)
	}
	golden(t, "redrawn", strings.Join(tty.lines, "\n")+"\n")
}

func TestNothingIsWrittenWhereNothingChanged(t *testing.T) {
	p, tty := onTerminal(running(), Brief)
	p.Draw()
	before := tty.all.Len()
	p.Draw()
	if tty.all.Len() != before {
		t.Errorf("%q", tty.all.Bytes()[before:])
	}
}

// A terminal that becomes narrower wraps lines; the block is higher then.
func TestANarrowerTerminalIsCleared(t *testing.T) {
	p, tty := onTerminal(running(), Brief)
	p.Draw()
	whole := 0
	for _, line := range p.block {
		whole += (ansi.StringWidth(line) + 49) / 50
		if line == "" {
			whole++
		}
	}
	p.o.Size = func() (int, int) { return 50, 30 }
	before := tty.all.Len()
	p.mu.Lock()
	got := p.height()
	p.mu.Unlock()
	if got != whole || before == 0 {
		t.Errorf("%d lines high, want %d", got, whole)
	}
}

func TestRunDrawsAtEachTick(t *testing.T) {
	f := running()
	p, tty := onTerminal(f, Brief)
	ticks, done := make(chan time.Time), make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		p.Run(ctx, ticks)
		close(done)
	}()
	ticks <- time.Time{}
	ticks <- time.Time{} // taken only after the first drawing
	cancel()
	<-done
	if tty.all.Len() == 0 {
		t.Error("nothing was drawn")
	}
}

func TestNoColour(t *testing.T) {
	var out bytes.Buffer
	p := New(running(), Options{Out: &out, Terminal: true, Verbosity: Brief})
	p.Draw()
	if got := out.String(); strings.Contains(got, "\x1b[36m") || strings.Contains(got, "\x1b[0m") {
		t.Error("colours")
	}
}

// The cost of a drawing does not depend on the number of trials.
func BenchmarkDraw(b *testing.B) {
	f := &fake{planned: 1_000_000, done: 900_000, failed: 2, elapsed: time.Hour, state: "running"}
	s := screen{100, 40, true}
	v := &varied{}
	b.ReportAllocs()
	for b.Loop() {
		s.frame(f.Status(), f.Rows(s.rows()), v)
	}
}
