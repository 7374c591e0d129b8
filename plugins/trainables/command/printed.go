package command

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/channel"
)

// printed is the parsed content of one line of stdout.
type printed struct {
	sdk.Result
	given     *float64 // its iteration, if not an integer from 1
	skipped   string   // the first key whose name is not valid for a metric
	wrong     wrong    // an objective that is not a number
	objective bool
}

// wrong is an objective's value that is not a number.
type wrong struct {
	name  string
	value any
}

// noNumber says which objective is not a number.
func (p *printed) noNumber() string {
	return fmt.Sprintf("it printed %s as %s; print a number", p.wrong.name, kindOf(p.wrong.value))
}

// A reader parses lines of one attempt's stdout.
type reader struct {
	objectives []string
	patterns   []pattern
	waiting    []sdk.Metric // found by patterns, for the next result
}

// read returns nil for a line that is not intended as a result, and an error for an invalid result.
func (r *reader) read(line []byte) (*printed, error) {
	if r.patterns != nil {
		return r.match(line)
	}
	line = bytes.TrimSpace(line)
	if len(line) < 2 || line[0] != '{' || line[len(line)-1] != '}' {
		return nil, nil
	}
	return r.object(line)
}

func (r *reader) object(line []byte) (*printed, error) {
	p := &printed{}
	seen := map[string]bool{}
	err := channel.Flatten(line, func(name string, v any) error {
		if seen[name] {
			return fmt.Errorf("%.64q is given twice", name)
		}
		seen[name] = true
		return r.leaf(p, name, v)
	})
	if err != nil {
		return nil, err
	}
	p.objective = p.objective || len(r.objectives) == 0 && slices.ContainsFunc(p.Metrics, isMeasured)
	return p, nil
}

func (r *reader) leaf(p *printed, name string, value any) error {
	v, isNumber := value.(float64)
	objective := slices.Contains(r.objectives, name)
	switch {
	case objective:
		p.objective = p.objective || isNumber
	case name == "checkpoint":
		p.Checkpoint, _ = value.(string)
		return nil
	case name == "done" && isTruth(value):
		p.Done = value == true
		return nil
	case isNumber && channel.IsIteration(name):
		p.count(v)
		if name == "iteration" {
			return nil
		}
	}
	if !isNumber {
		if objective && p.wrong.name == "" {
			p.wrong = wrong{name, value}
		}
		p.Values = channel.AppendValue(p.Values, name, value)
		return nil
	}
	return p.metric(name, v)
}

// isMeasured reports whether a metric is not just a counter, which is not a result by itself.
func isMeasured(m sdk.Metric) bool { return !channel.IsIteration(m.Name) }

func isTruth(value any) bool {
	_, ok := value.(bool)
	return ok
}

func (p *printed) metric(name string, v float64) error {
	if channel.CheckName(name) != nil {
		if p.skipped == "" {
			p.skipped = name
		}
		return nil
	}
	if len(p.Metrics) == channel.MaxMetrics {
		return fmt.Errorf("more than %d metrics", channel.MaxMetrics)
	}
	p.Metrics = append(p.Metrics, sdk.Metric{Name: name, Value: v})
	return nil
}

func (p *printed) count(v float64) {
	n, err := channel.Iteration(v)
	if p.Iteration = n; err != nil {
		p.given = &v
	}
}

// match looks for the patterns. A result is complete with the line that has the last of the objectives, and includes
// the metrics of the lines before it. It is complete without one of them when another one comes again.
func (r *reader) match(line []byte) (p *printed, err error) {
	found, err := r.found(line)
	again := r.anyObjective(found, r.waits)
	if again && !r.complete(found) {
		p = r.take()
	}
	for _, m := range found {
		r.note(m.Name, m.Value)
	}
	if p == nil && r.anyObjective(found, anyName) && r.complete(nil) {
		p = r.take()
	}
	return p, err
}

// found returns what the patterns find in a line.
func (r *reader) found(line []byte) (found []sdk.Metric, bad error) {
	for _, p := range r.patterns {
		text, ok := p.find(line)
		if !ok {
			continue
		}
		v, err := strconv.ParseFloat(text, 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			bad = fmt.Errorf("metrics: %s matched %.64q, which is not a number", p.name, text)
			continue
		}
		found = append(found, sdk.Metric{Name: p.name, Value: v})
	}
	return found, bad
}

// anyObjective reports whether one of the metrics is an objective and meets a condition. Without objectives each metric
// counts as one.
func (r *reader) anyObjective(list []sdk.Metric, also func(name string) bool) bool {
	return slices.ContainsFunc(list, func(m sdk.Metric) bool {
		return (len(r.objectives) == 0 || slices.Contains(r.objectives, m.Name)) && also(m.Name)
	})
}

func anyName(string) bool { return true }

func (r *reader) waits(name string) bool { return has(r.waiting, name) }

// complete reports whether the next result has all objectives, with more metrics.
func (r *reader) complete(more []sdk.Metric) bool {
	return !slices.ContainsFunc(r.objectives, func(o string) bool { return !r.waits(o) && !has(more, o) })
}

func has(list []sdk.Metric, name string) bool {
	return slices.ContainsFunc(list, func(m sdk.Metric) bool { return m.Name == name })
}

// rest returns what is left at the end of the output: a result that lacks an objective, or metrics of no result.
func (r *reader) rest() (p *printed, late []sdk.Metric) {
	if r.anyObjective(r.waiting, anyName) {
		return r.take(), nil
	}
	return nil, r.waiting
}

// maxMatched is how much of the beginning and of the end of a line expressions see: they are slow. What follows a
// progress bar is at the end.
const maxMatched = 16 << 10

// find returns what the pattern finds in a line, or in the first of its ends that has it. A match that touches the cut
// may be a part of a number.
func (p *pattern) find(line []byte) (string, bool) {
	if len(line) <= 2*maxMatched {
		return text(line, p.re.FindSubmatchIndex(line))
	}
	first, last := line[:maxMatched], line[len(line)-maxMatched:]
	if at := p.re.FindSubmatchIndex(first); at != nil && at[1] < len(first) {
		return text(first, at)
	}
	if at := p.re.FindSubmatchIndex(last); at != nil && at[0] > 0 {
		return text(last, at)
	}
	return "", false
}

// text returns the first group of a match, or all of it if there is none.
func text(line []byte, at []int) (string, bool) {
	if at == nil {
		return "", false
	}
	group := at[:2]
	if len(at) > 2 {
		group = at[2:4]
	}
	if group[0] < 0 {
		return "", true // a group that takes no part
	}
	return strings.TrimSpace(string(line[group[0]:group[1]])), true
}

// note stores the newest value of a metric.
func (r *reader) note(name string, v float64) {
	for i := range r.waiting {
		if r.waiting[i].Name == name {
			r.waiting[i].Value = v
			return
		}
	}
	r.waiting = append(r.waiting, sdk.Metric{Name: name, Value: v})
}

func (r *reader) take() *printed {
	p := &printed{objective: true}
	for _, m := range r.waiting {
		if channel.IsIteration(m.Name) && !slices.Contains(r.objectives, m.Name) {
			p.count(m.Value)
			if m.Name == "iteration" {
				continue
			}
		}
		p.Metrics = append(p.Metrics, m)
	}
	r.waiting = r.waiting[:0]
	return p
}

// names lists some of the metrics for people.
func names(ms []sdk.Metric) string {
	var list []string
	for _, m := range ms[:min(len(ms), 8)] {
		list = append(list, m.Name)
	}
	if len(ms) > 8 {
		list = append(list, "…")
	}
	return strings.Join(list, ", ")
}
