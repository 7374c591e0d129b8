package answer

import "github.com/tunehost/tunehost/plugins/sdk/option"

// Repeats declares the option of most searchers.
func Repeats(into *bool) option.Option {
	return option.Bool("repeats", into, false, "Whether a point of a finite space may be suggested again.")
}

// RepeatsAnywhere is like Repeats, for searchers that remember the points of every space.
func RepeatsAnywhere(into *bool) option.Option {
	return option.Bool("repeats", into, false, "Whether a point may be suggested again.")
}

// Cost declares the option of searchers that can take the duration of trials into account.
func Cost(into **float64) option.Option {
	return option.Of("cost", into, nil, option.OrNull(option.Number(option.From(0).To(1))),
		"The influence of the trials' duration: with 1 the expected improvement is divided by the expected time, "+
			"with 0 the duration has no influence. With null, times that were told with the results (ask and tell) "+
			"count as with 1 while trials are stopped early and there is one objective, and others not at all.")
}

// Simple are the options of a searcher without other options: whether points may repeat.
var Simple = option.Declare(func(repeats *bool) []option.Option { return []option.Option{Repeats(repeats)} })
