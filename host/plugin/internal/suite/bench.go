package suite

import (
	"fmt"
	"testing"

	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

// BenchmarkSuggest measures one suggestion after one observed event.
func BenchmarkSuggest(b *testing.B, s plugin.Searcher) {
	requests := []sdk.Request{{Seed: 1}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Suggest(b.Context(), requests); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkTrain measures results that are each answered before the next, with 16 runs at a time.
func BenchmarkTrain(b *testing.B, t plugin.Trainer) {
	const runs = 16
	b.ReportAllocs()
	params := fmt.Appendf(nil, `{"n":%d}`, b.N/runs+1)
	for run := range uint64(runs) {
		c := train.Command{Kind: train.Start, Run: run, Trial: &sdk.Trial{Params: params}}
		if err := t.Send([]train.Command{c}); err != nil {
			b.Fatal(err)
		}
	}
	results, messages := 0, 0
	for ended := 0; ended < runs; messages++ {
		events, err := t.Recv()
		if err != nil {
			b.Fatal(err)
		}
		var answers []train.Command
		for _, e := range events {
			switch e.Kind {
			case train.Result:
				results++
				answers = append(answers, train.Command{Kind: train.Continue, Run: e.Run, Credits: 1})
			case train.Ended:
				ended++
			}
		}
		if err := t.Send(answers); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(results)/b.Elapsed().Seconds(), "results/s")
	b.ReportMetric(float64(results)/float64(messages), "results/message")
}
