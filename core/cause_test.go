package core

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unsafe"
)

// every calls do with one cause of each kind.
func every(do func(Cause)) {
	for k := range 256 {
		if kind := CauseKind(k); kind.Known() {
			do(Cause{Kind: kind, Trial: 3, Count: 2, Iteration: 7, NS: 90e9, Bytes: 12, Limit: 10, Value: 0.5,
				Metric: "acc", By: "objective", Text: "words"})
		}
	}
}

// TestCauses checks that each kind has a name of its own, and a text of one line of its own.
func TestCauses(t *testing.T) {
	names, texts := map[string]bool{}, map[string]CauseKind{}
	words := 0
	every(func(c Cause) {
		name, text := c.Kind.String(), c.String()
		if names[name] || strings.ToLower(name) != name {
			t.Errorf("kind %d is %q", c.Kind, name)
		}
		if text == "words" {
			words++ // only the text of a plugin, a program or a user
		} else if other, twice := texts[text]; twice || text == "" || strings.Contains(text, "\n") {
			t.Errorf("%s says %q, and so does %q", name, text, other)
		}
		names[name], texts[text] = true, c.Kind
	})
	if len(names) != 51 || words != 7 {
		t.Errorf("%d kinds, %d of them with only a given text: document a new one in cause.go and count it "+
			"here", len(names), words)
	}
}

// TestCauseTexts checks the texts that depend on fields.
func TestCauseTexts(t *testing.T) {
	for _, c := range []struct {
		cause Cause
		want  string
	}{
		{Cause{}, ""},
		{Cause{Kind: CauseUser}, "stopped by the user"},
		{Cause{Kind: CauseSchedulerStuck, By: "mine", Count: 1},
			"scheduler mine keeps 1 trial paused, and nothing is left that could wake it"},
		{Cause{Kind: CauseSchedulerStuck, By: "mine", Count: 2},
			"scheduler mine keeps 2 trials paused, and nothing is left that could wake them"},
		{Cause{Kind: CauseNoResult}, "it ended without reporting a result"},
		{Cause{Kind: CauseNoResult, Metric: "acc", By: "objective"},
			"it ended without reporting acc, which the objective needs"},
		{Cause{Kind: CauseMetricMissing, Iteration: 1, Metric: "acc", By: "objective"},
			`result 1 lacks the metric "acc", which the objective needs; it has no metrics`},
		{Cause{Kind: CauseTrainable, Text: "bad magic", Then: ThenBeginning},
			"bad magic; it starts again without the checkpoint"},
		{Cause{Kind: CauseDamaged, Text: "a.pt was changed", Then: ThenCheckpoint, From: 4},
			"a.pt was changed; it goes back to the checkpoint of iteration 4"},
		{Cause{Kind: CauseSilent, NS: 60e9}, "it was silent for 1m0s, its deadline, and was killed"},
		{Cause{Kind: CauseNotBegun, By: "a", NS: 3600e9},
			`trainable "a" did not say within 1h that the trial had started (STARTED), and was killed; ` +
				"deadlines.begin allows it more"},
	} {
		if got := c.cause.String(); got != c.want {
			t.Errorf("%+v says %q, want %q", c.cause, got, c.want)
		}
	}
}

func TestDurationText(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		ns := r.Int64N(1 << r.Int64N(58))
		if ns >= 1e9 {
			ns -= ns % 1e6 // deadlines are in milliseconds
		}
		if got, want := durationText(ns), time.Duration(ns).String(); got != want {
			t.Fatalf("%d ns is %s, want %s", ns, got, want)
		}
	}
}

// TestCauseMemory: the cause of a trial's end costs two numbers in its row, and beside it what its
// text did: 16 bytes and the text, which trials share.
func TestCauseMemory(t *testing.T) {
	m := New()
	var made []Cause
	for no := range 3000 {
		m.trials.add(trial{})
		c := Cause{Kind: CauseScheduler, Text: fmt.Sprint("worse than ", no)}
		switch no % 3 {
		case 1:
			c = Cause{Kind: CauseMetricReached, Metric: "acc", Value: 0.9}
		case 2:
			c = Cause{Kind: CauseCompleted}
		}
		m.setCause(m.trial(TrialNo(no)), c)
		made = append(made, c)
	}
	for no, want := range made {
		if got := m.causeOf(m.trial(TrialNo(no))); got != want {
			t.Fatalf("trial %d: %+v, want %+v", no, got, want)
		}
	}
	if texts, rest := m.causes.texts.len, m.causes.rest.len; texts != 1001 || rest != 1 {
		t.Errorf("%d texts and %d others are kept; want 1001 and 1", texts, rest)
	}
	if size := unsafe.Sizeof(trial{}); size != 112 {
		t.Errorf("a trial's row has %d bytes", size)
	}
}
