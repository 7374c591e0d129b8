package terminal

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/view"
)

// screen is the room for a frame. The last column stays empty: terminals differ in what they do after
// it.
type screen struct {
	width, height int
	paint         style
}

const (
	minWidth    = 20
	maxRows     = 24 // of the table, on any terminal
	tableLines  = 4  // beside rows: space, titles, what is left out, the cursor's
	maxBarCells = 40
)

// rows returns for how many trials of one state there may be room.
func (s screen) rows() int { return max(0, min(maxRows, s.height-tableLines)) }

// frame returns all that is redrawn: at most height-1 lines, each narrower than width.
func (s screen) frame(st view.Status, rows []view.Trial, v *varied) []string {
	params := make([][]param, len(rows))
	for i, r := range rows {
		params[i] = readParams(r.Params, v.told)
	}
	v.look(params)
	lines := s.head(st, v)
	lines = append(lines, s.fitTable(st, rows, v, s.height-len(lines)-1)...)
	lines = lines[:min(len(lines), max(s.height-1, 1))]
	for i := range lines {
		lines[i] = cut(lines[i], s.room())
	}
	return lines
}

// fitTable returns a table of at most so many lines, including the text below it.
func (s screen) fitTable(st view.Status, rows []view.Trial, v *varied, most int) []string {
	for n := min(maxRows, most-tableLines+1); n > 0; n-- {
		chosen := choose(rows, n)
		if len(chosen) == 0 {
			return nil
		}
		if lines := s.table(st, chosen, v); len(lines) < most {
			return append([]string{""}, lines...)
		}
	}
	return nil
}

func (s screen) room() int { return max(s.width, minWidth) - 1 }

func (s screen) table(st view.Status, rows []view.Trial, v *varied) []string {
	params := make([][]param, len(rows))
	for i, r := range rows {
		params[i] = readParams(r.Params, v.told)
	}
	v.look(params)
	columns, hidden := squeeze(makeColumns(rows, params, v.columns(), st.Objective.Metric), s.room())
	lines := render(columns, len(rows), s.paint)
	if left := leftOut(st.Counts, rows); left != "" {
		lines = append(lines, s.paint.paint(faint, left))
	}
	if len(hidden) > 0 {
		text := "… no room for " + plural(len(hidden), "column") + ": " + strings.Join(hidden, ", ")
		lines = append(lines, s.paint.paint(faint, text))
	}
	return lines
}

// head describes the state of the whole experiment.
func (s screen) head(st view.Status, v *varied) []string {
	p := s.paint
	title := join(p.paint(bold, clean(st.Name)), stateText(st, p, math.MaxInt), duration(st.Elapsed))
	lines := s.spread(title, p.paint(faint, resources(st)))
	if st.Hint != "" {
		lines = slices.Insert(lines, 1, p.paint(yellow, clean(st.Hint)))
	}
	lines = append(lines, s.progress(st), counts(st, p))
	if awaited := join(awaited(st), overdue(st)); awaited != "" {
		lines = append(lines, p.paint(yellow, awaited))
	}
	if best := s.best(st, v); best != "" {
		lines = append(lines, best)
	}
	return lines
}

// spread puts two texts at the ends of a line, or on two lines.
func (s screen) spread(left, right string) []string {
	gap := s.room() - width(left) - width(right)
	switch {
	case right == "":
		return []string{left}
	case gap < columnGap:
		return []string{left, right}
	}
	return []string{left + strings.Repeat(" ", gap) + right}
}

// join puts dots between the texts that are not empty.
func join(texts ...string) string {
	var parts []string
	for _, t := range texts {
		if t != "" {
			parts = append(parts, t)
		}
	}
	return strings.Join(parts, " · ")
}

// stateText describes the state of the experiment, with at most so much of the reason.
func stateText(st view.Status, p style, most int) string {
	if st.State == "running" && (st.Ending != "" || st.Paused) {
		return p.paint(yellow, phaseText(st))
	}
	colour := map[string]string{"running": cyan, "finished": green, "failed": red}[st.State]
	text := clean(st.State)
	switch {
	case st.Cause == core.Cause{Kind: core.CauseUser}: // the cause names the state, too
		text = clean(st.Cause.String())
	case !st.Cause.Is(core.CauseNone) && !st.Cause.Is(core.CauseInterrupted):
		text += " (" + cut(clean(st.Cause.String()), most) + ")"
	case st.Exhausted && st.Cause.Is(core.CauseNone) && st.Reason != "": // the reason of a failure is in its error
		text += " (" + cut(clean(st.Reason), most) + ")"
	}
	return p.paint(colour, text)
}

// phaseText describes a state other than running.
func phaseText(st view.Status) string {
	ending := map[string]string{"interrupted": "interrupting", "stopped": "stopping", "finished": "ending",
		"failed": "failing"}[st.Ending]
	switch {
	case ending == "" && st.Counts[core.Running] > 0:
		return "pausing"
	case ending == "":
		return "paused"
	}
	var more []string
	if !st.Cause.Is(core.CauseNone) && !st.Cause.Is(core.CauseInterrupted) {
		more = append(more, clean(st.Cause.String()))
	}
	if st.Grace > 0 && st.Counts[core.Running] > 0 {
		more = append(more, "grace "+st.Grace.String())
	}
	if len(more) == 0 {
		return ending
	}
	return ending + " (" + strings.Join(more, ", ") + ")"
}

// resources shows requested and total resources (B-042).
func resources(st view.Status) string {
	var parts []string
	for _, u := range st.Resources {
		parts = append(parts, u.String())
	}
	return clean(join(parts...))
}

// ended returns how many of the started trials have ended.
func ended(st view.Status) int {
	return st.Counts[core.Terminated] + st.Counts[core.Errored] - st.NeverStarted
}

// progress returns a bar if the number of trials is known.
func (s screen) progress(st view.Status) string {
	done := ended(st)
	if st.Planned < 0 {
		return plural(done, "trial") + " done"
	}
	label := join(fmt.Sprintf("%d/%s", done, plural(int(max(st.Planned, st.Made)), "trial")), st.Left.String())
	cells := min(maxBarCells, s.room()-width(label)-columnGap)
	if cells < 5 {
		return label
	}
	full := int(int64(cells) * int64(done) / max(st.Planned, st.Made, 1))
	full = min(full, cells)
	return s.paint.paint(cyan, strings.Repeat("━", full)) + s.paint.paint(faint, strings.Repeat("─", cells-full)) +
		"  " + label
}

var stateWords = map[core.State]string{core.Running: "running", core.Paused: "paused", core.Pending: "pending",
	core.Errored: "failed", core.Terminated: "terminated"}

func counts(st view.Status, p style) string {
	var parts []string
	for _, s := range order {
		if n := st.Counts[s]; n > 0 {
			text := fmt.Sprintf("%d %s", n, stateWords[s])
			if s == core.Running && st.WasRunning == 1 {
				text = "1 was running"
			} else if s == core.Running && st.WasRunning > 1 {
				text = fmt.Sprintf("%d were running", n)
			}
			if fates := st.Fates(); s == core.Terminated && fates != "" {
				text += " (" + fates + ")"
			}
			parts = append(parts, p.paint(stateColours[s], text))
		}
	}
	if len(parts) == 0 {
		return p.paint(faint, "no trial yet")
	}
	return join(parts...)
}

// awaited says what is waited for: workers, a searcher, or leases of an executor; "" if nothing more is to run.
func awaited(st view.Status) string {
	if st.State != view.Running || st.Ending != "" || st.Paused {
		return ""
	}
	leases := ""
	if st.Leases != nil {
		leases = st.Leases.Awaited(st.Counts[core.Running] > 0)
	}
	return join(clean(st.Waiting), clean(leases))
}

// overdue names the plugins that have not answered for long.
func overdue(st view.Status) string {
	var parts []string
	for _, o := range st.Overdue {
		parts = append(parts, fmt.Sprintf("%s %s has not answered for %s", o.Kind, clean(o.Name),
			duration(seconds(o.Seconds))))
	}
	return strings.Join(parts, ", ")
}

func (s screen) best(st view.Status, v *varied) string {
	if st.Several || st.Best == nil {
		return frontText(st)
	}
	text := "best " + s.paint.paint(bold, clean(st.Objective.Metric)+" "+number(st.Best.Value, 5)) + " by " +
		bestName(st.Best)
	params := slices.DeleteFunc(readParams(st.Best.Trial.Params, v.told),
		func(p param) bool { return !v.shown(p.name) })
	return join(text, s.paint.paint(faint, paramText(params)))
}
