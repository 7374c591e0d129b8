package terminal

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/untrusted"
	"github.com/tunehost/tunehost/host/view"
)

// clean makes one line without control characters from any text.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || untrusted.Hidden(r) {
			return ' '
		}
		return r
	}, ansi.Strip(s))
}

// cut shortens to a width of cells, between visible characters.
func cut(s string, width int) string { return ansi.Truncate(s, max(width, 0), "…") }

func width(s string) int { return ansi.StringWidth(s) }

func pad(s string, to int, right bool) string {
	space := strings.Repeat(" ", max(0, to-width(s)))
	if right {
		return space + s
	}
	return s + space
}

// number writes few enough digits to compare at a glance.
func number(x float64, digits int) string {
	switch {
	case math.IsNaN(x):
		return "NaN"
	case math.IsInf(x, 0):
		return strings.TrimPrefix(fmt.Sprint(x), "+")
	case x == math.Trunc(x) && math.Abs(x) < 1e9:
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return strconv.FormatFloat(x, 'g', digits, 64)
}

// duration has two units: 41s, 12m04s, 3h12m, 2d03h.
func duration(d time.Duration) string {
	s := int64(max(d, 0) / time.Second)
	switch {
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case s < 3600:
		return fmt.Sprintf("%dm%02ds", s/60, s%60)
	case s < 86400:
		return fmt.Sprintf("%dh%02dm", s/3600, s/60%60)
	}
	return fmt.Sprintf("%dd%02dh", s/86400, s/3600%24)
}

// trialName names a trial as in tables and on the command line.
func trialName(no core.TrialNo) string { return fmt.Sprintf("%05d", no) }

// bestName names the best trial, or the runs of the suggestion that is best on average.
func bestName(b *view.Ranked) string {
	n := len(b.MeanOf)
	switch {
	case n == 0:
		return "trial " + trialName(b.Trial.Number)
	case n == 1:
		return "trial " + trialName(b.MeanOf[0]) + ", the only run that counts"
	case b.MeanOf[n-1]-b.MeanOf[0] == core.TrialNo(n-1):
		return fmt.Sprintf("the mean of trials %s to %s", trialName(b.MeanOf[0]), trialName(b.MeanOf[n-1]))
	}
	names := make([]string, n)
	for i, no := range b.MeanOf {
		names[i] = trialName(no)
	}
	return "the mean of trials " + strings.Join(names[:n-1], ", ") + " and " + names[n-1]
}

func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + one + "s"
}

// style colours text, unless colours are off. It uses the terminal's own sixteen colours, which suit
// its background.
type style bool

const (
	bold   = "1"
	faint  = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
	cyan   = "36"
)

func (s style) paint(code, text string) string {
	if !bool(s) || text == "" || code == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

var stateColours = map[core.State]string{core.Running: cyan, core.Paused: yellow, core.Pending: faint,
	core.Errored: red, core.Terminated: green}
