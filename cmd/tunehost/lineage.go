package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tunehost/tunehost/host/view"
)

func (a *app) lineageCommand() *cobra.Command {
	var asJSON, policy bool
	cmd := &cobra.Command{
		Use:   "lineage DIR [TRIAL]",
		Short: "Show which trials continued from other trials",
		Long: `Show which trials continued from the checkpoints of others, as a tree over time: the
exploits of population based training (pbt, pb2, mf-pbt), and trials that were added as
clones. With TRIAL, a number or an id, only the line that led to this trial is shown.

Each row is a stretch of training with the same parameters: its iterations, its last
value of the (first) objective, and the parameters that changed. A star marks the best;
with repeat, each run of the best suggestion, whose mean is the best.

--policy prints a trial's schedule of parameters for the scheduler pbt-replay: keys for
an experiment file with the same space, which train this trial again without the others.`,
		Example: `  tunehost lineage results/digits
  tunehost lineage results/digits 5
  tunehost lineage results/digits 5 --policy`,
		Args: wants(1, 2),
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case policy && asJSON:
				return usage("lineage: --policy and --json: choose one of them")
			case policy && len(args) < 2:
				return usage("lineage: --policy needs one trial; expected: tunehost lineage DIR TRIAL --policy")
			}
			return a.with(args[0], func(e *view.Recorded) error { return a.lineage(e, args[1:], asJSON, policy) })
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&policy, "policy", false, "print the trial's schedule for pbt-replay")
	jsonFlag(flags, &asJSON, "print one JSON object a line for each stretch")
	return cmd
}

func (a *app) lineage(e *view.Recorded, trial []string, asJSON, policy bool) error {
	l, err := e.Lineage()
	if err != nil {
		return err
	}
	shown, err := stretches(e, l, trial)
	switch {
	case err != nil:
		return err
	case policy:
		return a.policy(e, l, shown)
	case asJSON:
		return a.lineageLines(l, shown)
	case len(shown) == 0:
		a.say("no trials yet")
		return nil
	case len(trial) == 0 && !l.Branches():
		a.say("no trial has continued from another, or with other parameters")
		return nil
	}
	return a.tree(e, l, shown)
}

// stretches returns the indices of those that are shown.
func stretches(e *view.Recorded, l *view.Lineage, trial []string) (all []int, err error) {
	if len(trial) == 0 {
		for i := range l.Stretches {
			all = append(all, i)
		}
		return all, nil
	}
	no, err := e.Find(trial[0])
	if err != nil {
		return nil, asUsage(err)
	}
	if all = l.Line(no); len(all) == 0 {
		return nil, fmt.Errorf("%s: trial %s has not run yet", e.Place(), trial[0])
	}
	return all, nil
}

// lineageLines numbers the stretches as their parents name them.
func (a *app) lineageLines(l *view.Lineage, shown []int) error {
	for _, i := range shown {
		text, err := json.Marshal(l.Stretches[i])
		if err != nil {
			return err
		}
		a.say(`{"stretch":%d,%s`, i, text[1:])
	}
	return nil
}

// policy prints an input for pbt-replay: JSON is YAML too.
func (a *app) policy(e *view.Recorded, l *view.Lineage, line []int) error {
	begin, changes := e.Policy(l, line)
	point, err := json.Marshal(begin)
	if err != nil {
		return err
	}
	last := &l.Stretches[line[len(line)-1]]
	a.say("# The schedule of trial %d (%s) up to iteration %d: keys for an experiment file.", last.Trial, last.ID,
		last.To)
	if err := a.anew(e.Drawn(last)); err != nil {
		return err
	}
	if last.To > 0 {
		a.say("stop: {iteration: %d}", last.To)
	}
	a.say("trials: 1\npoints:\n  - %s\nscheduler:\n  plugin: pbt-replay\n  policy:%s", point,
		map[bool]string{true: " []"}[len(changes) == 0])
	for _, c := range changes {
		text, err := json.Marshal(c)
		if err != nil {
			return err
		}
		a.say("    - %s", text)
	}
	return nil
}

// anew says which values no point can give.
func (a *app) anew(values map[string]any) error {
	if len(values) == 0 {
		return nil
	}
	text, err := json.Marshal(values)
	if err != nil {
		return err
	}
	a.say("# Another experiment draws these anew; to keep them, write the values into its space instead of sample: %s",
		text)
	return nil
}

// tree draws the stretches, each below the one that it continued from.
func (a *app) tree(e *view.Recorded, l *view.Lineage, shown []int) error {
	d := drawing{lineage: l, values: varying(e), told: tellersOf(e.Experiment), best: l.Best(), repeated: e.Repeated(),
		axis: axisOf(l, shown, a.width()), children: map[int][]int{}}
	for _, i := range shown {
		parent := l.Stretches[i].Parent
		d.children[parent] = append(d.children[parent], i)
	}
	d.table.column("trial", false)
	if d.repeated {
		d.table.column("suggestion", true)
	}
	d.table.column(d.axis.heading(), false)
	d.table.column(e.Objectives()[0].Metric, true)
	d.table.column("", false)
	d.table.column("parameters", false)
	for _, i := range d.children[-1] {
		d.draw(i, "", "")
	}
	return d.table.write(a.out, a.width(), a.bold)
}

// varying reads parameters, without those that are the same in all trials.
func varying(e *view.Recorded) func(params []byte) map[string]any {
	return func(params []byte) map[string]any {
		values := e.Config.Values(params)
		for _, c := range e.Config.Constants {
			delete(values, c.Name)
		}
		return values
	}
}

type drawing struct {
	lineage  *view.Lineage
	values   func(params []byte) map[string]any
	told     tellers
	best     []int
	repeated bool // suggestions have several runs
	axis     axis
	children map[int][]int
	table    table
}

// draw adds the row of a stretch and those below it: first is the prefix of its own row, rest that of
// its children's.
func (d *drawing) draw(i int, first, rest string) {
	s := &d.lineage.Stretches[i]
	value, star := "-", ""
	if s.Known {
		value = number(s.Value)
	}
	if slices.Contains(d.best, i) {
		star = "★"
	}
	row := []string{fmt.Sprintf("%s%d %s", first, s.Trial, s.ID)}
	if d.repeated {
		row = append(row, fmt.Sprint(*s.Suggestion))
	}
	d.table.rows = append(d.table.rows, append(row, d.axis.bar(s), value, star, d.changed(s)))
	below := d.children[i]
	for n, child := range below {
		if n == len(below)-1 {
			d.draw(child, rest+"└─ ", rest+"   ")
		} else {
			d.draw(child, rest+"├─ ", rest+"│  ")
		}
	}
}

// changed returns the parameters that differ from the parent's.
func (d *drawing) changed(s *view.Stretch) string {
	now, before := d.values(s.Params), map[string]any{}
	if s.Parent >= 0 {
		before = d.values(d.lineage.Stretches[s.Parent].Params)
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(now)) {
		old, had := before[name]
		switch {
		case had && reflect.DeepEqual(old, now[name]):
		case had:
			all = append(all, fmt.Sprintf("%s %s", name, d.told.change(name, old, now[name])))
		default:
			all = append(all, name+" "+d.told.Text(name, now[name]))
		}
	}
	return strings.Join(all, ", ")
}

// Time is drawn with so many characters: in a terminal a quarter of its width.
const leastCells, mostCells = 10, 40

// axis is time in iterations.
type axis struct {
	last  uint64
	cells int
}

// axisOf returns the axis of the shown stretches, on a terminal of this width; 0: not a terminal.
func axisOf(l *view.Lineage, shown []int, width int) axis {
	x := axis{last: 1, cells: mostCells}
	if width > 0 {
		x.cells = min(max(width/4, leastCells), mostCells)
	}
	for _, i := range shown {
		x.last = max(x.last, l.Stretches[i].To)
	}
	return x
}

// cell returns the place of an iteration.
func (x axis) cell(iteration uint64) int {
	return int(float64(iteration) / float64(x.last) * float64(x.cells))
}

// heading has the first and the last iteration over their ends.
func (x axis) heading() string {
	last := fmt.Sprint(x.last)
	return "0" + strings.Repeat(" ", max(x.cells-1-len(last), 1)) + last
}

// bar draws the stretch's time; one that came from another begins with a corner.
func (x axis) bar(s *view.Stretch) string {
	from := min(x.cell(s.From), x.cells-1)
	cells := max(x.cell(s.To)-from, 1)
	begin := "━"
	if s.Parent >= 0 {
		begin = "┗"
	}
	return strings.Repeat(" ", from) + begin + strings.Repeat("━", cells-1)
}
