package rust_test

import (
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

// BenchmarkSuggest measures one call of the sample for one point of eight parameters.
func BenchmarkSuggest(b *testing.B) {
	request := []sdk.Request{{Seed: 1}}
	suggest := func(b *testing.B, s sdk.Searcher) {
		for b.Loop() {
			if _, err := s.Suggest(b.Context(), request); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("process", func(b *testing.B) {
		p, _ := start(b, sdk.KindSearcher, sample(b, "searcher"))
		s, err := p.OpenSearcher(b.Context(), problem(spaces["wide"]), nil, nil)
		if err != nil {
			b.Fatal(err)
		}
		suggest(b, s)
	})
	b.Run("wasm", func(b *testing.B) {
		s, err := (&module{guest(b, "rust-guests", "searcher")}).searcher(b, problem(spaces["wide"]), "")
		if err != nil {
			b.Fatal(err)
		}
		suggest(b, s)
	})
}

// BenchmarkReport measures one result of one trial and its answer.
func BenchmarkReport(b *testing.B) {
	trainer := opened(b, sample(b, "trainable"), `{"epochs": 1000000000}`)
	tr := trial(1e-3)
	command(b, trainer, train.Command{Kind: train.Start, Run: 1, Trial: &tr})
	for b.Loop() {
		for got := false; !got; {
			for _, e := range events(b, trainer) {
				got = got || e.Kind == train.Result
			}
		}
		command(b, trainer, train.Command{Kind: train.Continue, Run: 1, Credits: 1})
	}
}
