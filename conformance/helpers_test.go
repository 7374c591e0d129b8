package conformance_test

import (
	"context"

	"github.com/tunehost/tunehost/conformance/reference"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// hanging is a searcher that never answers.
var hanging = sdk.SearcherPlugin{
	Info: reference.Searcher.Info,
	Open: func(sdk.Problem, []byte) (sdk.Searcher, sdk.Traits, error) { return stuck{}, sdk.Traits{}, nil },
}

type stuck struct{}

func (stuck) Observe(context.Context, []sdk.Event) error { return nil }

func (stuck) Suggest(context.Context, []sdk.Request) (sdk.Suggestions, error) { select {} }
