package record

import (
	"strconv"
	"strings"

	"github.com/tunehost/tunehost/core"
)

// Earlier versions recorded texts instead of causes. They are read as causes with the same meaning:
// [core.Cause.String] of each returns the text. This is the only code that parses such a text.

// words reads a text from a field that is no longer written.
func (f *fields) words(number int) (text string) {
	if f.reading {
		f.str(number, &text)
	}
	return text
}

// wordsBefore reads a cause from its text.
func wordsBefore(f *fields, number int, c **core.Cause, of func(string) core.Cause) {
	if text := f.words(number); text != "" {
		x := of(text)
		*c = &x
	}
}

const byUser = "stopped by the user"

// ruleCause parses why a rule stopped a trial or the experiment.
func ruleCause(text string) core.Cause {
	same := func(c core.Cause) bool { return c.String() == text }
	for _, c := range []core.Cause{
		{Kind: core.CauseBudgetPlateau},
		after(text, "stop.when holds: ", core.CauseExpression),
		after(text, "budget.when holds: ", core.CauseBudgetExpression),
		ofMetric(core.CausePlateau, strings.TrimPrefix(text, "plateau of "), ""),
		compared(text, "reached ", " ", core.CauseMetricReached),
		compared(text, "", " is above ", core.CauseMetricAbove),
		compared(text, "", " is below ", core.CauseMetricBelow),
	} {
		if same(c) {
			return c
		}
	}
	return core.Cause{Kind: core.CauseScheduler, Text: text}
}

// after returns a cause if text begins with a fixed prefix.
func after(text, ours string, kind core.CauseKind) core.Cause {
	return core.Cause{Kind: kind, Text: strings.TrimPrefix(text, ours)}
}

// compared returns a cause with a metric and a number, with fixed text before and between.
func compared(text, before, between string, kind core.CauseKind) core.Cause {
	text = strings.TrimPrefix(text, before)
	i := strings.LastIndex(text, between)
	if i < 0 {
		return core.Cause{}
	}
	return ofMetric(kind, text[:i], text[i+len(between):])
}

func ofMetric(kind core.CauseKind, metric, value string) core.Cause {
	x, _ := strconv.ParseFloat(value, 64)
	return core.Cause{Kind: kind, Metric: metric, Value: x}
}

// attemptCause parses why an attempt failed.
func attemptCause(text string, damaged bool) core.Cause {
	if damaged {
		return core.Cause{Kind: core.CauseDamaged, Text: text}
	}
	for _, c := range []core.Cause{
		silent(text),
		notBegun(text),
		after(text, "it reported nonsense: ", core.CauseInvalidReport),
		after(text, "its directory cannot be made: ", core.CauseNoDirectory),
	} {
		if c.String() == text {
			return c
		}
	}
	return core.Cause{Kind: core.CauseTrainable, Text: text}
}

func silent(text string) core.Cause {
	return core.Cause{Kind: core.CauseSilent, NS: between(text, "it was silent for ", ", its deadline")}
}

func notBegun(text string) core.Cause {
	c := core.Cause{Kind: core.CauseNotBegun, NS: between(text, " did not say within ", " that the trial")}
	if name, err := strconv.QuotedPrefix(strings.TrimPrefix(text, "trainable ")); err == nil {
		c.By, _ = strconv.Unquote(name)
	}
	return c
}

// between returns the duration between two words, or 0.
func between(text, before, after string) (ns int64) {
	_, text, _ = strings.Cut(text, before)
	text, _, _ = strings.Cut(text, after)
	for text != "" {
		n, rest := part(text)
		if rest == text {
			return 0
		}
		ns, text = ns+n, rest
	}
	return ns
}

// part returns the first part of a duration, such as 1h or 2.5s, and the rest.
func part(text string) (ns int64, rest string) {
	digits := len(text) - len(strings.TrimLeft(text, "0123456789."))
	whole, behind, _ := strings.Cut(text[:digits], ".")
	for _, unit := range []struct {
		name string
		ns   int64
	}{{"ns", 1}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}} {
		if rest, ok := strings.CutPrefix(text[digits:], unit.name); ok {
			n, _ := strconv.ParseInt(whole, 10, 64)
			f, _ := strconv.ParseInt((behind + "000000000")[:9], 10, 64)
			return n*unit.ns + f*min(unit.ns, 1e9)/1e9, rest
		}
	}
	return 0, text
}

// pluginCause parses why a plugin ended the experiment.
func pluginCause(text string) core.Cause {
	stuck := core.Cause{Kind: core.CauseSchedulerStuck}
	if rest, ok := strings.CutPrefix(text, "scheduler "); ok {
		name, rest, _ := strings.Cut(rest, " keeps ")
		count, _, _ := strings.Cut(rest, " trials paused")
		n, _ := strconv.ParseUint(count, 10, 32)
		stuck.By, stuck.Count = name, uint32(n)
	}
	if stuck.String() == text {
		return stuck
	}
	return core.Cause{Kind: core.CausePluginFailed, Text: text}
}
