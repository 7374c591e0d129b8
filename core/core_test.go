package core_test

import (
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/tunehost/tunehost/core/coretest"
)

// TestStories runs the stories of testdata; -rewrite writes what they print.
func TestStories(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		s := coretest.New()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string { return s.Run(d) })
		if err := s.Replay(); err != nil {
			t.Fatal(err)
		}
	})
}
