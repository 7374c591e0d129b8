package main

import (
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk/sdktest"
)

func TestTrains(t *testing.T) {
	trainable, traits := sdktest.Open(t, plugin, `{"epochs": 5}`)
	run := sdktest.NewRun(t, traits, `{"lr": 0.2}`)
	if err := run.Train(t.Context(), trainable); err != nil {
		t.Fatal(err)
	}
	if losses := run.Metric("loss"); len(losses) != 5 || losses[4] >= losses[0] {
		t.Errorf("losses = %v, want five that fall", losses)
	}
}

// A trial that continues from a checkpoint ends like one that was never stopped.
func TestGoesOn(t *testing.T) {
	trainable, traits := sdktest.Open(t, plugin, `{"epochs": 5}`)
	whole := sdktest.NewRun(t, traits, `{"lr": 0.2}`)
	first := sdktest.NewRun(t, traits, `{"lr": 0.2}`)
	first.SaveEvery, first.StopAt = 3, 3
	if err := first.Train(t.Context(), trainable); err != nil {
		t.Fatal(err)
	}
	second := first.Resume(first.Checkpoints()[0])
	for _, run := range []*sdktest.Run{whole, second} {
		if err := run.Train(t.Context(), trainable); err != nil {
			t.Fatal(err)
		}
	}
	if a, b := whole.Last("loss"), second.Last("loss"); a != b {
		t.Errorf("the last loss is %v, and %v after continuing", a, b)
	}
}
