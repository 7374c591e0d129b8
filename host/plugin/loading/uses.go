package loading

import (
	"cmp"
	"slices"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// Uses are the plugins that the file names, in its order.
func Uses(e *config.Experiment) []Use {
	uses := []Use{{Kind: sdk.KindSearcher, Ref: e.Searcher}}
	for _, ref := range e.Schedulers() {
		uses = append(uses, Use{Kind: sdk.KindScheduler, Ref: ref})
	}
	if e.Trainable != nil && e.Trainable.Plugin != nil {
		uses = append(uses, Use{Kind: sdk.KindTrainable, Ref: *e.Trainable.Plugin})
	}
	for _, ref := range e.Reporters {
		if !config.IsFormat(ref) {
			uses = append(uses, Use{Kind: sdk.KindReporter, Ref: ref})
		}
	}
	if e.Leased() {
		uses = append(uses, Use{Kind: sdk.KindExecutor, Ref: e.Executor})
	}
	slices.SortStableFunc(uses, func(a, b Use) int {
		return cmp.Or(cmp.Compare(a.Ref.Pos.Line, b.Ref.Pos.Line), cmp.Compare(a.Ref.Pos.Column, b.Ref.Pos.Column))
	})
	return uses
}
