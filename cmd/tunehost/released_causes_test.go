package main

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/core"
	"github.com/tunehost/tunehost/host/view"
)

// Causes in released records, texts in v1, are read as causes: why trials are in their state, and why
// attempts ended. Each prints the same text again (TestReleasedAreRead).
func TestReleasedCauses(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"v1": "ERROR unsaved: 4, PAUSED scheduler: 3, TERMINATED completed: 20, TERMINATED scheduler: 24, TERMINATED " +
			"user: 1, " +
			"attempt trainable: 12, stopped by the user: 1",
		"v2": "ERROR unsaved: 4, PAUSED scheduler: 1, TERMINATED budget_expression: 2, TERMINATED completed: 32, " +
			"TERMINATED scheduler: 65, TERMINATED user: 1, " +
			"attempt trainable: 13, stopped by the user: 1",
		"v3": "ERROR unsaved: 3, PAUSED scheduler: 2, TERMINATED budget_expression: 2, TERMINATED completed: 33, " +
			"TERMINATED scheduler: 65, TERMINATED user: 1, " +
			"attempt trainable: 13, stopped by the user: 1",
	}
	for _, version := range versions(t) {
		seen := map[string]int{}
		for _, dir := range whole(t, version) {
			causesOf(t, dir, seen)
		}
		var list []string
		for _, what := range slices.Sorted(maps.Keys(seen)) {
			list = append(list, fmt.Sprintf("%s: %d", what, seen[what]))
		}
		if got := strings.Join(list, ", "); got != want[filepath.Base(version)] {
			t.Errorf("%s has %s", version, got)
		}
	}
}

// causesOf counts the causes of an experiment.
func causesOf(t *testing.T, dir string, seen map[string]int) {
	t.Helper()
	e, err := view.Open(dir)
	if err != nil {
		t.Fatalf("%s: %v", dir, err)
	}
	defer e.Close()
	for no := range core.TrialNo(e.Now().Machine.Trials()) {
		if v := e.Now().Machine.View(no); v.Cause.Kind != core.CauseNone {
			seen[v.State.String()+" "+v.Cause.Kind.String()]++
		}
	}
	eachRecord(t, filepath.Join(dir, "journal"), func(e core.Event) {
		switch e := e.(type) {
		case *core.AttemptEnded:
			if e.Cause.Kind != core.CauseNone {
				seen["attempt "+e.Cause.Kind.String()]++
			}
		case *core.StopRequested:
			seen["stopped by the user"+e.Reason]++
		}
	})
}
