package view

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/tunehost/tunehost/core"
)

// NoValue says why no trial has a finite value of a metric; "" means the (first) objective's.
func (e *Experiment) NoValue(metric string) (text string, err error) {
	err = e.source.Look(func(s *State) { text = noValue(s.Machine, cmp.Or(metric, e.Objectives()[0].Metric)) })
	return text, err
}

// noValue says why no trial of a machine has a finite value of a metric: nothing was reported, or
// nothing comparable (B-015).
func noValue(m *core.Machine, metric string) string {
	if _, runs := m.Runs(0); runs > 1 && m.Metric(metric) != 0 {
		return "no suggestion has a finite mean of " + metric + " over its runs"
	}
	id, all, nan := m.Metric(metric), uint64(0), uint64(0)
	for no := core.TrialNo(0); id != 0 && int(no) < m.Trials(); no++ {
		for _, s := range m.Stretches(no) {
			sum, _ := m.SummaryIn(&s, id)
			all += uint64(sum.Count)
			if sum.Finite == 0 && math.IsNaN(sum.Min) {
				nan += uint64(sum.Count)
			}
			if sum.Finite > 0 {
				return "no trial has a finite last value of " + metric + "; see --scope min, max or mean"
			}
		}
	}
	return nothingFinite(metric, all, nan)
}

// NotFinite says of an objective how many trials have ended with NaN or an infinite value, or that no result is finite;
// "" if there is nothing to say.
func (e *Experiment) NotFinite() (text string, err error) {
	err = e.source.Look(func(s *State) { text = cmp.Or(SomeNotFinite(s.Machine), NonFinite(s.Machine)) })
	return text, err
}

// SomeNotFinite says how many trials have ended with a value of an objective that is NaN or infinite, which no
// best trial and no table of the best shows; "" if all or none of those that reported have.
func SomeNotFinite(m *core.Machine) string {
	var u unranked
	for no := range core.TrialNo(m.Trials()) {
		if m.State(no).Final() {
			u.add(m, no)
		}
	}
	return u.text(m)
}

// unranked has how many trials have ended with a value of an objective, how many of these with one that is not finite,
// and of which objectives.
type unranked struct {
	ended, lost int
	of          map[string]bool
}

// add counts a trial that has ended.
func (u *unranked) add(m *core.Machine, no core.TrialNo) {
	last := m.LastStretch(no)
	ended, lost := false, false
	for _, o := range m.Spec().Objectives {
		sum, reported := m.SummaryIn(&last, m.Metric(o.Metric))
		ended = ended || reported
		if reported && !finite(sum.Last) {
			lost = true
			u.note(o.Metric)
		}
	}
	u.ended += number(ended)
	u.lost += number(lost)
}

func (u *unranked) note(metric string) {
	if u.of == nil {
		u.of = map[string]bool{}
	}
	u.of[metric] = true
}

func number(is bool) int {
	if is {
		return 1
	}
	return 0
}

// text is what [SomeNotFinite] says.
func (u *unranked) text(m *core.Machine) string {
	if u.lost == 0 || u.lost == u.ended {
		return ""
	}
	var names []string
	for _, o := range m.Spec().Objectives {
		if u.of[o.Metric] {
			names = append(names, o.Metric)
		}
	}
	return fmt.Sprintf("%d of %d trials ended with a value of %s that is NaN or infinite: none of them can be best",
		u.lost, u.ended, strings.Join(names, " or "))
}

// NonFinite says of an objective that all its results are NaN or infinite; "" if there is no such
// objective. An objective that was never reported does not count.
func NonFinite(m *core.Machine) string {
	for _, o := range m.Spec().Objectives {
		all, nan, finite := uint64(0), uint64(0), uint64(0)
		for no := range core.TrialNo(m.Trials()) {
			for _, s := range m.Stretches(no) {
				sum, _ := m.SummaryIn(&s, m.Metric(o.Metric))
				all, finite = all+uint64(sum.Count), finite+uint64(sum.Finite)
				if sum.Finite == 0 && math.IsNaN(sum.Min) {
					nan += uint64(sum.Count)
				}
			}
		}
		if all > 0 && finite == 0 {
			return nothingFinite(o.Metric, all, nan)
		}
	}
	return ""
}

func nothingFinite(metric string, all, nan uint64) string {
	switch {
	case all == 0:
		return "no trial has reported a value of " + metric
	case all == nan && all == 1:
		return "the only result of " + metric + " was NaN"
	case all == nan:
		return fmt.Sprintf("all %d results of %s were NaN", all, metric)
	}
	return fmt.Sprintf("none of the %d results of %s was finite", all, metric)
}
