package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"
)

// briefly is how long a command waits without saying so.
const briefly = time.Second

// waiting shows on a terminal what a command waits for, on one line that other output replaces. Its zero value shows
// nothing.
type waiting struct {
	to    io.Writer  // nil: there is no terminal
	width func() int // of the terminal
	now   func() time.Time

	mu    sync.Mutex
	what  string
	begun time.Time // of the command
	since time.Time // of what
	shown bool
	stop  chan struct{} // nil: nothing is waited for
	over  bool
}

// waitingOn returns a waiting that shows nothing unless the output is a terminal.
func waitingOn(w io.Writer, kind string) *waiting {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) || kind == "dumb" {
		return &waiting{}
	}
	width := func() int {
		width, _, _ := term.GetSize(int(f.Fd()))
		return width
	}
	return &waiting{to: f, width: width, now: time.Now}
}

// on says what is waited for from now on; "": the command shows its work by itself, and later calls do nothing.
func (w *waiting) on(what string) {
	if w.to == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if what == "" || w.over {
		w.end()
		return
	}
	w.what, w.since = clean(what), w.now()
	if w.stop == nil {
		w.begun, w.stop = w.since, make(chan struct{})
		go w.keep(w.stop)
	}
}

// end erases the line. The caller has the lock.
func (w *waiting) end() {
	w.erase()
	w.over = true
	if w.stop != nil {
		close(w.stop)
		w.stop = nil
	}
}

// keep draws the line until stop is closed.
func (w *waiting) keep(stop <-chan struct{}) {
	ticks := time.NewTicker(briefly)
	defer ticks.Stop()
	for {
		select {
		case <-ticks.C:
			w.draw()
		case <-stop:
			return
		}
	}
}

func (w *waiting) draw() {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.now()
	if w.stop == nil || now.Sub(w.begun) < briefly {
		return
	}
	text := fmt.Sprintf("waiting for %s (%ds)", w.what, now.Sub(w.since)/time.Second)
	if width := w.width(); width > 0 {
		text = ansi.Truncate(text, width-1, "…")
	}
	fmt.Fprintf(w.to, "\r%s\x1b[K", text)
	w.shown = true
}

// erase removes the line. The caller has the lock.
func (w *waiting) erase() {
	if w.shown {
		_, _ = io.WriteString(w.to, "\r\x1b[K")
		w.shown = false
	}
}

// past returns a writer that takes the place of the line.
func (w *waiting) past(to io.Writer) io.Writer {
	if w.to == nil {
		return to
	}
	return &pastWaiting{w, to}
}

type pastWaiting struct {
	w  *waiting
	to io.Writer
}

// Write implements io.Writer.
func (p *pastWaiting) Write(b []byte) (int, error) {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	p.w.erase()
	return p.to.Write(b)
}
