package js_test

import (
	"math"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

// BenchmarkStart starts a plugin, reads its description, and ends it.
func BenchmarkStart(b *testing.B) {
	c := program(b, sdk.KindSearcher, "samples/climber.js")
	for b.Loop() {
		if err := start(b, c).Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSuggest asks for one random point of ten parameters.
func BenchmarkSuggest(b *testing.B) {
	s := openSearcher(b, wide(), `{"start": 1000000000}`)
	for b.Loop() {
		suggest(b, s, requests(0, 1))
	}
}

// BenchmarkObserve sends results, a thousand at a time.
func BenchmarkObserve(b *testing.B) {
	s := openSearcher(b, wide(), `{}`)
	events := make([]sdk.Event, 1000)
	for i := range events {
		events[i] = sdk.Event{Number: uint64(i) + 1, Kind: sdk.ResultReported, Trial: uint32(i), Attempt: 1,
			Iteration: 1, Losses: []float64{math.Pi}}
	}
	for told := 0; told < b.N; told += len(events) {
		if err := s.Observe(b.Context(), events[:min(len(events), b.N-told)]); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkReport measures a result whose answer the trial waits for.
func BenchmarkReport(b *testing.B) {
	p := start(b, program(b, sdk.KindTrainable, "samples/descent.js"))
	trainer, err := p.OpenTrainable(b.Context(), []byte(`{"epochs": 1000000000}`))
	if err != nil {
		b.Fatal(err)
	}
	commands := []train.Command{{Kind: train.Start, Run: 1, Trial: &sdk.Trial{Params: []byte(`{}`)}}}
	for b.Loop() {
		if err := trainer.Send(commands); err != nil {
			b.Fatal(err)
		}
		for reported := false; !reported; {
			events, err := trainer.Recv()
			if err != nil {
				b.Fatal(err)
			}
			reported = events[len(events)-1].Kind == train.Result
		}
		commands = []train.Command{{Kind: train.Continue, Run: 1, Credits: 1}}
	}
}
