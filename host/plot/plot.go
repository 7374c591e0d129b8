package plot

import (
	"slices"
	"strings"

	"github.com/tunehost/tunehost/host/nearest"
	"github.com/tunehost/tunehost/host/plot/braille"
	"github.com/tunehost/tunehost/host/plot/figure"
	"github.com/tunehost/tunehost/host/plot/paper"
	"github.com/tunehost/tunehost/host/usererror"
	"github.com/tunehost/tunehost/host/view"
)

// Options say what a plot shows.
type Options struct {
	// Metric is the metric; "" is the (first) objective. Mode is min or max, for a metric that is not an objective.
	Metric, Mode string
	// Params are the parameters, in order; none: those that matter most.
	Params []string
	// Top restricts the plot to the best trials; 0: all.
	Top int
}

// Kind is a kind of plot.
type Kind struct {
	Name  string
	About string

	// The options that it takes.
	metric, params, top bool
	// many says that it compares experiments.
	many bool
	draw func(*sources) (*figure.Figure, error)
}

// Kinds are all kinds of plots.
var Kinds = []Kind{
	{Name: "history", About: "the value of each trial, and the best so far", metric: true, many: true, draw: history},
	{Name: "curves", About: "the learning curve of each trial", metric: true, top: true, draw: curves},
	{Name: "importance", About: "how much each parameter matters", metric: true, draw: importance},
	{Name: "parallel", About: "each trial as a line through its parameters", metric: true, params: true, top: true,
		draw: parallel},
	{Name: "slice", About: "the value against each parameter", metric: true, params: true, top: true, draw: slice},
	{Name: "contour", About: "the value over two parameters", metric: true, params: true, top: true, draw: contour},
	{Name: "pareto", About: "the objectives against each other, with the Pareto front", draw: pareto},
	{Name: "timeline", About: "when each trial ran, waited, saved and was paused", draw: timeline},
	{Name: "lineage", About: "which trials continued from others", draw: lineage},
	{Name: "edf", About: "the share of trials with a value at least as good", metric: true, many: true, draw: edf},
}

// Names returns the names of all kinds.
func Names() (names []string) {
	for _, k := range Kinds {
		names = append(names, k.Name)
	}
	return names
}

// Find returns a kind, and refuses what it does not take.
func Find(name string, experiments int, o Options) (*Kind, error) {
	i := slices.IndexFunc(Kinds, func(k Kind) bool { return k.Name == name })
	if i < 0 {
		return nil, wrong("plot: %q is no kind of plot; the kinds are %s%s", figure.Mask(name),
			strings.Join(Names(), ", "), nearest.Hint(name, Names()))
	}
	k := &Kinds[i]
	for _, refused := range []struct {
		it   bool
		what string
	}{
		{o.Metric != "" && !k.metric, "--metric"}, {o.Mode != "" && !k.metric, "--mode"},
		{len(o.Params) > 0 && !k.params, "--params"}, {o.Top != 0 && !k.top, "--top"},
	} {
		if refused.it {
			return nil, wrong("plot: %s takes no %s", name, refused.what)
		}
	}
	switch {
	case o.Top < 0:
		return nil, wrong("plot: --top is %d; it must be 1 or more", o.Top)
	case experiments > 1 && !k.many:
		return nil, wrong("plot: %s shows one experiment; history and edf compare several", name)
	}
	return k, nil
}

func wrong(format string, args ...any) error { return usererror.Errorf(format, args...) }

// Draw makes a plot of experiments.
func (k *Kind) Draw(list []*view.Recorded, o Options) (*Plot, error) {
	f, err := k.draw(&sources{list, o})
	if err != nil {
		return nil, err
	}
	return &Plot{f}, nil
}

// Plot is a plot that was made.
type Plot struct{ Figure *figure.Figure }

// Formats are the endings of files that a plot can be written to.
var Formats = []string{"svg", "png", "pdf"}

// File returns the plot as a file with an ending.
func (p *Plot) File(format string) ([]byte, error) { return paper.File(p.Figure, format) }

// Terminal returns the plot as text for a terminal with so many columns.
func (p *Plot) Terminal(columns int, colours bool) string {
	return braille.Text(p.Figure, columns, colours)
}
