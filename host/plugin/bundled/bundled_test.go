package bundled_test

import (
	"runtime"
	"testing"

	"github.com/tunehost/tunehost/host/plugin/bundled"
	"github.com/tunehost/tunehost/plugins/sdk"
)

var random = sdk.SearcherPlugin{Info: sdk.Info{Name: "random", Version: "1"}}

func TestMainLeavesOtherCommandsAlone(t *testing.T) {
	r := bundled.New(random)
	for _, args := range [][]string{nil, {"run", "x.yaml"}} {
		if handled, _ := r.Main(args); handled {
			t.Errorf("%q is not for it", args)
		}
	}
	for _, args := range [][]string{{"plugin-serve"}, {"plugin-serve", "searcher", "nosuch"},
		{"plugin-serve", "scheduler", "random"}} {
		if handled, exit := r.Main(args); !handled || exit != 2 {
			t.Errorf("%q: %v, %d", args, handled, exit)
		}
	}
}

func TestTable(t *testing.T) {
	r := bundled.New(random)
	if i := r.Infos(); len(i) != 1 || i[0].Kind != sdk.KindSearcher || i[0].Name != "random" {
		t.Error(i)
	}
	c, ok := r.Config(sdk.KindSearcher, "random")
	if !ok || c.Path == "" || len(c.Args) != 3 || r.Lookup(sdk.KindSearcher, "random") == nil {
		t.Error(c, ok)
	}
	if _, ok := r.Config(sdk.KindScheduler, "random"); ok || r.Lookup(sdk.KindScheduler, "random") != nil {
		t.Error("random is no scheduler")
	}
}

func TestBugsPanic(t *testing.T) {
	for what, plugins := range map[string][]any{"twice": {random, random}, "no plugin": {3}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: taken", what)
				}
			}()
			bundled.New(plugins...)
		}()
	}
}

// A plugin and an agent get one processor, and nothing else does.
func TestAdaptRuntime(t *testing.T) {
	t.Setenv("GOGC", "100") // the heap of the tests is not adapted
	was := runtime.GOMAXPROCS(2)
	t.Cleanup(func() { runtime.GOMAXPROCS(was) })
	r := bundled.New(random)
	r.AdaptRuntime([]string{"run", "a.yaml", "b.yaml"})
	if n := runtime.GOMAXPROCS(0); n != 2 {
		t.Errorf("a host has %d processors", n)
	}
	c, _ := r.Config(sdk.KindSearcher, "random")
	for _, args := range [][]string{c.Args, {"agent", "--socket", "/tmp/x"}} {
		runtime.GOMAXPROCS(2)
		r.AdaptRuntime(args)
		if n := runtime.GOMAXPROCS(0); n != 1 {
			t.Errorf("%q has %d processors", args, n)
		}
	}
}
