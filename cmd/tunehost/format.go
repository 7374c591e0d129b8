package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/view"
)

// number writes a metric for people.
func number(x float64) string { return strconv.FormatFloat(x, 'g', 5, 64) }

// apart writes metrics with the fewest digits, at least those of number, with which different ones look different.
func apart(values []float64) []string {
	different := map[float64]bool{}
	for _, x := range values {
		different[x] = true
	}
	texts := make([]string, len(values))
	for digits := 5; digits <= 17; digits++ {
		seen := map[string]bool{}
		for i, x := range values {
			texts[i] = strconv.FormatFloat(x, 'g', digits, 64)
			seen[texts[i]] = true
		}
		if len(seen) >= len(different) {
			break
		}
	}
	return texts
}

// seconds writes a duration for people.
func seconds(s float64) string {
	switch d := time.Duration(s * float64(time.Second)); {
	case d < 10*time.Second:
		return strconv.FormatFloat(s, 'f', 1, 64) + "s"
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", d/time.Minute, d/time.Second%60)
	}
	return fmt.Sprintf("%dh%02dm", int(s)/3600, int(s)/60%60)
}

// ago says how long ago something was.
func ago(now, then time.Time) string {
	d := now.Sub(then)
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h ago", d/time.Hour)
	}
	return then.Format(time.DateOnly)
}

// counts says how many trials are in each state. Where no host runs, those that are RUNNING in the record have run.
func counts(s *view.Status) string {
	var parts []string
	for _, state := range []core.State{core.Running, core.Pending, core.Paused, core.Terminated, core.Errored} {
		if n := s.Counts[state]; n > 0 {
			verb := ""
			if state == core.Running && s.WasRunning > 0 {
				verb = "was "
				if n > 1 {
					verb = "were "
				}
			}
			text := fmt.Sprintf("%d %s%s", n, verb, state)
			if fates := s.Fates(); state == core.Terminated && fates != "" {
				text += " (" + fates + ")"
			}
			parts = append(parts, text)
		}
	}
	if len(parts) == 0 {
		parts = append(parts, "none yet")
	}
	text := strings.Join(parts, ", ")
	if s.Planned > 0 {
		text += fmt.Sprintf(", of %d planned", s.Planned)
	}
	return text
}

// firstLine keeps a message in its row.
func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}

func title(t *view.Trial) string { return fmt.Sprintf("trial %d (%s)", t.Number, t.ID) }

// rankedTitle names the trial, or the trials whose mean it is.
func rankedTitle(r *view.Ranked) string {
	if r.MeanOf == nil {
		return title(&r.Trial)
	}
	numbers := make([]string, len(r.MeanOf))
	for i, no := range r.MeanOf {
		numbers[i] = fmt.Sprint(no)
	}
	if len(numbers) == 1 {
		return fmt.Sprintf("suggestion %d, only its trial %s", r.Suggestion, numbers[0])
	}
	return fmt.Sprintf("the mean of suggestion %d, trials %s", r.Suggestion, strings.Join(numbers, ", "))
}

// plural is a number of things.
func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
