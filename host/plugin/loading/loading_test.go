package loading

import (
	"slices"
	"testing"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/host/plugin/folder"
)

// A plugin in the directory of an experiment that has moved is told where that is now.
func TestPlacedArguments(t *testing.T) {
	e := &config.Experiment{}
	e.Place = config.Place{From: "/old/first", To: "/new/first"}
	p := &folder.Plugin{Args: []string{"serve.py", "/old/first/tune", "/old/firsts", "--x"}}
	was := slices.Clone(p.Args)
	got := (&Loader{experiment: e}).placed(p)
	if want := []string{"serve.py", "/new/first/tune", "/old/firsts", "--x"}; !slices.Equal(got.Args, want) ||
		!slices.Equal(p.Args, was) {
		t.Errorf("%q of %q", got.Args, p.Args)
	}
	if same := (&Loader{experiment: &config.Experiment{}}).placed(p); same != p {
		t.Errorf("%+v", same)
	}
}
