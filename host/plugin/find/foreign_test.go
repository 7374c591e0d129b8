package find

import (
	"strings"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk"
)

func TestNamesOfOtherTuners(t *testing.T) {
	for name, want := range map[string]string{"TPESampler": "tpe", "BayesOptSearch": "gp", "CMA-ES": "cmaes",
		"Random": "random", "entirely": ""} {
		if got := meant(sdk.KindSearcher, name); got != want {
			t.Errorf("searcher %s: %q, want %q", name, got, want)
		}
	}
	for name, want := range map[string]string{"ASHAScheduler": "asha", "median_stopping_rule": "median", "mfpbt": "",
		"PBT": "pbt"} {
		if got := meant(sdk.KindScheduler, name); got != want {
			t.Errorf("scheduler %s: %q, want %q", name, got, want)
		}
	}
}

// A foreign name means one plugin.
func TestNamesAreOnce(t *testing.T) {
	for kind, names := range foreignNames {
		seen := map[string]string{}
		for ours, list := range names {
			for name := range strings.FieldsSeq(list) {
				if seen[name] != "" {
					t.Errorf("%s %q is %s and %s", kind, name, seen[name], ours)
				}
				seen[name] = ours
			}
		}
	}
}
