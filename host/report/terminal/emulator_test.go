package terminal

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// emulator is a terminal that rewraps its lines when it is resized, and takes lines back from its
// history when it grows, as modern ones do. It understands what Progress writes.
type emulator struct {
	width, height int
	rows          []cells // the history, then the screen
	at            int     // the cursor's row
}

// cells is a row; more: the line continues in the next one.
type cells struct {
	text []rune
	more bool
}

// top is the first row of the screen.
func (s *emulator) top() int { return max(0, len(s.rows)-s.height) }

func (s *emulator) Write(b []byte) (int, error) {
	text := string(b)
	for text != "" {
		switch {
		case strings.HasPrefix(text, "\x1b[H"):
			s.at, text = s.top(), text[3:]
		case strings.HasPrefix(text, "\x1b[J"):
			clear(s.rows[min(s.at, len(s.rows)):])
			text = text[3:]
		case strings.HasPrefix(text, "\x1b["):
			end := strings.IndexAny(text[2:], "ABCDmKJ") + 2
			if text[end] == 'A' {
				n, _ := strconv.Atoi(text[2:end])
				s.at = max(s.at-n, s.top())
			}
			text = text[end+1:]
		case text[0] == '\r':
			text = text[1:]
		default:
			line, rest, _ := strings.Cut(text, "\n")
			s.put(ansi.Strip(line))
			text = rest
		}
	}
	return len(b), nil
}

// put writes a whole line at the cursor, which moves to the next row.
func (s *emulator) put(line string) {
	for _, row := range broken([]rune(line), s.width) {
		for len(s.rows) <= s.at {
			s.rows = append(s.rows, cells{})
		}
		s.rows[s.at] = row
		s.at++
	}
	if len(s.rows) == s.at {
		s.rows = append(s.rows, cells{}) // the cursor's
	}
}

func broken(line []rune, width int) (rows []cells) {
	for len(line) > width {
		rows, line = append(rows, cells{line[:width], true}), line[width:]
	}
	return append(rows, cells{line, false})
}

func (s *emulator) resize(width, height int) {
	for n := len(s.rows); n > s.at+1 && len(s.rows[n-1].text) == 0; n-- {
		s.rows = s.rows[:n-1] // blank rows below the cursor
	}
	var rows []cells
	var line []rune
	at := 0
	for i, row := range s.rows {
		line = append(line, row.text...)
		if i == s.at {
			at = len(rows)
		}
		if !row.more {
			rows, line = append(rows, broken(line, width)...), nil
		}
	}
	s.width, s.height, s.rows, s.at = width, height, rows, at
}

func (s *emulator) screen() string {
	var out strings.Builder
	for _, row := range s.rows[s.top():] {
		out.WriteString(strings.TrimRight(string(row.text), " ") + "\n")
	}
	return out.String()
}

// After any resizes, the screen has the table once, and nothing of an earlier one. B-120
func TestNoStaleLinesAfterResizes(t *testing.T) {
	sizes := [][2]int{{120, 30}, {60, 30}, {120, 30}, {40, 12}, {100, 40}, {30, 10}, {31, 40}, {140, 8}, {80, 24},
		{50, 24}, {50, 50}, {20, 5}, {80, 24}}
	for _, between := range []bool{false, true} {
		f := running()
		tty := &emulator{width: 80, height: 24}
		p := New(f, Options{Out: tty, Terminal: true, Color: true, Verbosity: Brief,
			Size: func() (int, int) { return tty.width, tty.height }})
		tty.put("$ tunehost run digits.yaml")
		p.Draw()
		for i, size := range sizes {
			tty.resize(size[0], size[1])
			if between {
				fmt.Fprintf(p, "warning %d\n", i)
			}
			f.elapsed += time.Second
			p.Draw()
			var want strings.Builder
			for _, line := range p.block {
				want.WriteString(ansi.Strip(line) + "\n")
			}
			got := tty.screen()
			if !strings.HasSuffix(strings.TrimRight(got, "\n"), strings.TrimRight(want.String(), "\n")) ||
				strings.Count(got, "digits · ") != 1 || strings.Count(got, "best accuracy") > 1 {
				t.Fatalf("%v after %d resizes: on the screen is\n%s\nwant at its end\n%s", size, i, got, want.String())
			}
			if between && size[1] > 30 && !strings.Contains(got, fmt.Sprintf("warning %d", i)) {
				t.Errorf("%v: the last warning is gone:\n%s", size, got)
			}
		}
	}
}
