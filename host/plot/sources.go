package plot

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/stat"
	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/nearest"
	"github.com/tunehost/tunehost/host/plot/figure"
	"github.com/tunehost/tunehost/host/view"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// sources are the experiments of a plot, with its options.
type sources struct {
	list []*view.Recorded
	Options
}

// nameColumns is how long a name in a plot may be.
const nameColumns = 28

// name returns how the plot names an experiment: its directory, if another has the same name.
func (s *sources) name(e *view.Recorded) string {
	same := 0
	for _, x := range s.list {
		if x.Name == e.Name {
			same++
		}
	}
	if same > 1 {
		return figure.Short(e.Place(), 2*nameColumns)
	}
	return figure.Short(e.Name, nameColumns)
}

// title returns the title of a plot of something.
func (s *sources) title(what string) string {
	if len(s.list) > 1 {
		return what
	}
	return what + " in " + s.name(s.list[0])
}

// objective returns the metric that the plot shows, with its direction. It is an error if no trial has a value.
func (s *sources) objective(e *view.Recorded) (o core.Objective, err error) {
	_, ok, err := e.Best(view.Query{Metric: s.Metric, Mode: s.Mode})
	if err != nil {
		return o, wrong("%w", err)
	}
	o.Metric = cmp.Or(s.Metric, e.Objectives()[0].Metric)
	if !ok {
		return o, fmt.Errorf("%s: no trial has a finite value of %s yet", e.Place(), figure.Mask(o.Metric))
	}
	if s.Mode != "" {
		o.Mode, err = stat.ParseMode(s.Mode)
		return o, err
	}
	i := slices.IndexFunc(e.Objectives(), func(x core.Objective) bool { return x.Metric == o.Metric })
	return e.Objectives()[i], nil
}

// common returns the metric that all experiments are compared by.
func (s *sources) common() (o core.Objective, err error) {
	for i, e := range s.list {
		x, err := s.objective(e)
		if err != nil {
			return o, err
		}
		if i > 0 && x != o {
			return o, wrong("plot: %s is compared by %s (%v), %s by %s (%v): use --metric", s.name(s.list[0]),
				figure.Mask(o.Metric), o.Mode, s.name(e), figure.Mask(x.Metric), x.Mode)
		}
		o = x
	}
	return o, nil
}

// label returns the name of an axis with an objective's values.
func label(o core.Objective) string {
	if o.Mode == stat.Max {
		return figure.Short(o.Metric, nameColumns) + " (higher is better)"
	}
	return figure.Short(o.Metric, nameColumns) + " (lower is better)"
}

// sample is a trial with its value and its parameters.
type sample struct {
	no    core.TrialNo
	value float64
	point space.Point
	// rank is the share of samples that are better: 0 is the best.
	rank float64
	// failed says that the trial has failed after its value.
	failed bool
}

// samples are the trials of an experiment that a plot shows.
type samples struct {
	e *view.Recorded
	core.Objective
	list  []sample
	notes []string
	// params are the searched parameters.
	params []view.Parameter
	// short are their names, and last that of the metric, as plots have room for them.
	short []string
}

// mostSamples is how many trials are drawn one by one.
const mostSamples = 5000

// samples returns the trials that have a finite value, in the order of their numbers. Those that have failed after it
// count, as for `tunehost best`.
func (s *sources) samples() (*samples, error) {
	e := s.list[0]
	o, err := s.objective(e)
	if err != nil {
		return nil, err
	}
	all, err := e.Space()
	if err != nil {
		return nil, err
	}
	x := &samples{e: e, Objective: o, params: all.Parameters}
	x.short = figure.Distinct(append(s.names(x), o.Metric), nameColumns)
	if err := x.read(); err != nil {
		return nil, err
	}
	if len(x.list) == 0 {
		return nil, fmt.Errorf("%s: no trial has a finite value of %s yet", e.Place(),
			figure.Mask(o.Metric))
	}
	x.graded()
	x.restrict(s.Top)
	return x, nil
}

func (x *samples) read() error {
	if x.e.Repeated() {
		return x.readMeans()
	}
	failed, without, outside := 0, 0, 0
	for no := range core.TrialNo(x.e.Count()) {
		t := x.e.Brief(no)
		v, ok := t.Metric(x.Metric)
		p, err := config.PointOf(x.e.Config.Space, t.Params)
		switch {
		case !ok || !finite(v):
			without++
		case err != nil:
			outside++
		default:
			x.list = append(x.list, sample{no: no, value: v, point: p, failed: t.State == core.Errored})
			failed += failure(t.State)
		}
	}
	x.note(failed, failedLater)
	x.note(without, "without a finite value: left out")
	x.note(outside, "with values outside of the space: left out")
	return nil
}

// readMeans reads suggestions that have several runs, as `tunehost best` compares them.
func (x *samples) readMeans() error {
	all, err := x.e.Means(x.Objective)
	if err != nil {
		return err
	}
	outside := 0
	for i := range all {
		v, _ := all[i].Metric(x.Metric)
		p, err := config.PointOf(x.e.Config.Space, all[i].Params)
		if err != nil {
			outside++
			continue
		}
		x.list = append(x.list, sample{no: all[i].Number, value: v, point: p})
	}
	x.notes = append(x.notes, meansNote)
	x.note(suggestions(x.e)-len(all), "without a finite mean: left out")
	x.note(outside, "with values outside of the space: left out")
	return nil
}

// suggestions is how many there are, of several runs each.
func suggestions(e *view.Recorded) int {
	if e.Count() == 0 {
		return 0
	}
	return e.Brief(core.TrialNo(e.Count()-1)).Suggestion + 1
}

// meansNote says what is compared of suggestions that have several runs.
const meansNote = "values are means of the runs of a suggestion"

// failedLater is what a plot notes of trials that it shows with their last values.
const failedLater = "failed after the last value"

// failure is 1 for a trial that has failed.
func failure(state core.State) int {
	if state == core.Errored {
		return 1
	}
	return 0
}

// note says how many trials something is true of.
func (x *samples) note(n int, what string) {
	if n > 0 {
		x.notes = append(x.notes, x.counted(n)+" "+what)
	}
}

// counted is a number of samples.
func (x *samples) counted(n int) string {
	if x.e == nil {
		return counted(n)
	}
	return x.e.Compared(n)
}

func counted(n int) string {
	if n == 1 {
		return "1 trial"
	}
	return fmt.Sprintf("%d trials", n)
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// graded gives the samples their ranks.
func (x *samples) graded() {
	order := x.ranked()
	for i, at := range order {
		x.list[at].rank = float64(i) / float64(max(len(order)-1, 1))
		if i > 0 && x.list[at].value == x.list[order[i-1]].value {
			x.list[at].rank = x.list[order[i-1]].rank
		}
	}
}

// ranked returns the indices of the samples, the best first.
func (x *samples) ranked() []int {
	order := make([]int, len(x.list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return stat.Compare(x.list[a].value, x.list[b].value, x.Mode) })
	return order
}

// restrict keeps the best trials if top is set, and so many that a drawing can be read: then a quarter of them are the
// best, the others are spread over the rest.
func (x *samples) restrict(top int) {
	order, total := x.ranked(), len(x.list)
	if top > 0 && top < total {
		order = order[:top]
		x.notes = append(x.notes, fmt.Sprintf("the best %d of %s", top, x.counted(total)))
	}
	if n := len(order); n > mostSamples {
		best := mostSamples / 4
		rest := order[best:]
		order = slices.Clone(order[:best])
		for i := range mostSamples - best {
			order = append(order, rest[i*len(rest)/(mostSamples-best)])
		}
		x.notes = append(x.notes, fmt.Sprintf("%d of %s, the best among them", mostSamples, x.counted(n)))
	}
	slices.Sort(order)
	list := make([]sample, len(order))
	for i, at := range order {
		list[i] = x.list[at]
	}
	x.list = list
}

// values returns the values of all samples.
func (x *samples) values() []float64 {
	list := make([]float64, len(x.list))
	for i := range x.list {
		list[i] = x.list[i].value
	}
	return list
}

// column returns the values of one parameter; NaN for trials that do not have it.
func (x *samples) column(param int) []float64 {
	list := make([]float64, len(x.list))
	for i := range x.list {
		list[i] = x.list[i].point[param]
	}
	return list
}

// chosen returns the indices of the parameters that the user named, else of at most so many that matter most, in the
// order of the file.
func (s *sources) chosen(x *samples, most int) (list []int, err error) {
	names := s.names(x)
	for _, name := range s.Params {
		i := slices.Index(names, name)
		if i < 0 {
			return nil, wrong("plot: --params: %q is no searched parameter%s", figure.Mask(name),
				nearest.Hint(name, names))
		}
		if slices.Contains(list, i) {
			return nil, wrong("plot: --params: %s is given twice", figure.Mask(name))
		}
		list = append(list, i)
	}
	switch {
	case len(names) == 0:
		return nil, wrong("%s: nothing is searched: the space is empty", x.e.Place())
	case len(s.Params) > 0:
		return list, nil
	}
	return s.important(x, names, most), nil
}

func (s *sources) names(x *samples) (names []string) {
	for i := range x.params {
		names = append(names, x.params[i].Name)
	}
	return names
}

func (s *sources) important(x *samples, names []string, most int) (list []int) {
	for i := range names {
		list = append(list, i)
	}
	if len(names) <= most {
		return list
	}
	x.notes = append(x.notes, fmt.Sprintf("%d of %d parameters; --params chooses others", most, len(names)))
	shares, _, err := x.e.Importance(view.Query{Metric: s.Metric, Mode: s.Mode}, 0.1)
	if err != nil || shares == nil { // too few trials: the first parameters
		return list[:most]
	}
	list = list[:0]
	for _, share := range shares[:most] {
		list = append(list, slices.Index(names, share.Param))
	}
	slices.Sort(list)
	return list
}
