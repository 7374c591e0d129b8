package fifo

import (
	"context"
	"math"
	"testing"

	"github.com/tunehost/tunehost/plugins/schedulers/schedtest"
	"github.com/tunehost/tunehost/plugins/sdk"
)

func TestDecidesNothing(t *testing.T) {
	s, traits, err := Plugin.Open(schedtest.Problem(1), nil)
	if err != nil || !traits.Quiet || traits.RunAhead != 16 {
		t.Fatalf("%+v, %v", traits, err)
	}
	out, err := s.Decide(context.Background(), []sdk.Event{
		{Number: 1, Kind: sdk.ResultReported, Iteration: 1, Losses: []float64{math.Inf(1)}},
	})
	if err != nil || len(out.Decisions)+len(out.Commands) != 0 {
		t.Fatalf("%+v, %v", out, err)
	}
}

func TestChaos(t *testing.T) {
	for _, options := range []string{`{}`} {
		schedtest.Chaos(t, Plugin, schedtest.Problem(5), options)
	}
}
