package objective

import (
	"math"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk"
)

func problem(metrics ...string) sdk.Problem {
	var p sdk.Problem
	for _, m := range metrics {
		p.Objectives = append(p.Objectives, sdk.Objective{Metric: m, Mode: sdk.Max})
	}
	return p
}

func TestChoose(t *testing.T) {
	for _, c := range []struct {
		have []string
		name string
		want string
	}{
		{[]string{"accuracy"}, "", ""},
		{[]string{"accuracy", "speed"}, "speed", ""},
		{[]string{"accuracy", "speed"}, "", "set the option objective to one of accuracy, speed"},
		{[]string{"accuracy"}, "loss", `option "objective" is "loss"; allowed: the objectives of the experiment: ` +
			`accuracy`},
	} {
		_, err := Choose(problem(c.have...), c.name)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, %q: %v, want %q", c.have, c.name, err, c.want)
		}
	}
}

// B-015
func TestLossIsNeverNaN(t *testing.T) {
	o, _ := Choose(problem("accuracy", "speed"), "speed")
	for _, losses := range [][]float64{nil, {1}, {1, math.NaN()}, {1, math.Inf(1)}} {
		if got := o.Loss(&sdk.Event{Losses: losses}); !math.IsInf(got, 1) {
			t.Errorf("%v: %v, want +Inf", losses, got)
		}
	}
	if got := o.Loss(&sdk.Event{Losses: []float64{1, -2}}); got != -2 {
		t.Errorf("got %v, want -2", got)
	}
}

func TestTextIsTheUsersMetric(t *testing.T) {
	o, _ := Choose(problem("accuracy"), "")
	if got := o.Text(-0.93333333); got != "accuracy 0.9333" {
		t.Errorf("got %q", got)
	}
	if got := o.Value(0); got != "0" {
		t.Errorf("got %q", got)
	}
}
