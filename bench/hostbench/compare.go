package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"
)

// A shape is an experiment whose cost is compared between two binaries.
type shape struct {
	name, what string
	text       func(*bench) string
	resources  string
}

var shapes = []shape{
	{"nothing", "trials that do nothing", func(b *bench) string {
		return fmt.Sprintf(nothingFile, b.times(4000))
	}, "cpu=16"},
	{"programs", "trials that are /bin/true", func(b *bench) string {
		return fmt.Sprintf(programsFile, b.times(1000))
	}, "cpu=4"},
	{"results", "results, each decided by median", func(b *bench) string {
		return fmt.Sprintf(resultsFile, b.times(2000), "{plugin: median, grace: 1000000000}")
	}, "cpu=16"},
	{"results-quiet", "results, none decided (fifo)", func(b *bench) string {
		return fmt.Sprintf(resultsFile, b.times(10000), "fifo")
	}, "cpu=16"},
	{"start", "one trial, from command to end", func(*bench) string { return fmt.Sprintf(nothingFile, 1) }, "cpu=1"},
}

// rounds is how often each binary runs each shape.
const rounds = 7

// compare runs the same experiments with two binaries in turn, the first of a round in alternation, and prints what
// the new one costs as a share of the old one: the median of the rounds, and between which values they lie.
func compare(out io.Writer, old, new *bench, only string) error {
	fmt.Fprintln(out, machine())
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintf(w, "new/old, median of %d rounds (least–most)\tprocessor time\twall time\n", rounds)
	for _, s := range shapes {
		if only != "" && s.name != only {
			continue
		}
		cpu, wall, err := s.ratios(old, new)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", s.what, spread(cpu), spread(wall))
	}
	return w.Flush()
}

// ratios are new over old, one of each round.
func (s *shape) ratios(old, new *bench) (cpu, wall []float64, err error) {
	for round := range rounds {
		var costs [2]cost
		for turn := range 2 {
			which := (round + turn) % 2
			b := []*bench{old, new}[which]
			if costs[which], err = b.experiment(s.text(b), "--resources", s.resources); err != nil {
				return nil, nil, err
			}
		}
		cpu = append(cpu, over(costs[1].cpu, costs[0].cpu))
		wall = append(wall, over(costs[1].wall, costs[0].wall))
	}
	return cpu, wall, nil
}

func over(a, b time.Duration) float64 { return a.Seconds() / b.Seconds() }

func spread(ratios []float64) string {
	slices.Sort(ratios)
	return fmt.Sprintf("%.2f (%.2f–%.2f)", ratios[len(ratios)/2], ratios[0], ratios[len(ratios)-1])
}
