package view

import (
	"reflect"
	"testing"
	"time"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/core/resource"
)

// Everything that a status has is in its JSON: each field of that has a value where the status has one.
func TestStatusJSONHasEverything(t *testing.T) {
	s := Status{State: Interrupted, Begun: Begun{Trials: 1}, External: External{StoppedEarly: 1, NotFinite: "x",
		WasRunning: 1, Entries: 1, Resumable: true, Leases: &Leases{}, Overdue: []Overdue{{}}, Pending: []Pending{{}},
		Waiting: "x", Added: 1, OnHold: true, Unsteerable: "x", Manual: true},
		Resources: []resource.Usage{{Name: "cpu"}}, Counts: map[core.State]int{core.Running: 2},
		Spent: Spent{Elapsed: time.Second}, Quality: Quality{Best: &Ranked{}}}
	shape := reflect.ValueOf(s.externalShape())
	for i := range shape.NumField() {
		if shape.Field(i).IsZero() {
			t.Errorf("%s is missing", shape.Type().Field(i).Name)
		}
	}
	if got := countsShape(s.Counts)["RUNNING"]; got != 2 {
		t.Errorf("%d run", got)
	}
	if _, known := usageShape(s.Resources)["cpu"]; !known || s.single() == nil {
		t.Errorf("%v, %v", usageShape(s.Resources), s.single())
	}
	if s.Several = true; s.single() != nil {
		t.Error("one trial of a front is the best")
	}
}
