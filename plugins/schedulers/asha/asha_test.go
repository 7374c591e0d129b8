package asha

import (
	"testing"

	"github.com/tunehost/tunehost/plugins/schedulers/schedtest"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// B-009, B-010, B-015, B-019
func TestStories(t *testing.T) {
	schedtest.Stories(t, Plugin, &space.Space{}, "testdata")
}

func TestChaos(t *testing.T) {
	for _, options := range []string{`{"max": 9}`, `{"max": 9, "type": "promotion"}`,
		`{"max": 9, "type": "promotion", "brackets": 3, "reduction_factor": 2}`} {
		schedtest.Chaos(t, Plugin, schedtest.Problem(5), options)
	}
}
