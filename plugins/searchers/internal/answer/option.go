package answer

import "github.com/tunehost/tunehost/plugins/sdk/option"

// Repeats declares the option that all searchers have.
func Repeats(into *bool) option.Option {
	return option.Bool("repeats", into, false, "Whether a point of a finite space may be suggested again.")
}

// Simple are the options of a searcher without other options: whether points may repeat.
var Simple = option.Declare(func(repeats *bool) []option.Option { return []option.Option{Repeats(repeats)} })
