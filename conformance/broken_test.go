package conformance_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/tunehost/tunehost/conformance"
	"github.com/tunehost/tunehost/conformance/broken"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/plugins/sdk"
)

var rewrite = flag.Bool("rewrite", false, "write broken/expect.yaml and docs/CONFORMANCE.md anew")

const expected = "broken/expect.yaml"

// TestBroken checks that each broken plugin fails exactly the listed checks.
func TestBroken(t *testing.T) {
	got := failures(t)
	if *rewrite {
		writeExpected(t, got)
	}
	want := listed(t)
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if _, ok := got[name]; !ok {
			t.Errorf("%s lists %s, which is no broken plugin", expected, name)
		}
	}
	for _, p := range broken.All() {
		compare(t, p.Name, want[p.Name], got[p.Name])
	}
	if len(got) < 20 {
		t.Errorf("%d broken plugins", len(got))
	}
}

func compare(t *testing.T, name string, want, got []string) {
	if len(want) == 0 {
		t.Errorf("%s: nothing is listed; it fails %v", name, got)
	}
	for _, check := range want {
		if !slices.Contains(got, check) {
			t.Errorf("%s passes %s", name, check)
		}
	}
	for _, check := range got {
		if !slices.Contains(want, check) {
			t.Errorf("%s fails %s, too", name, check)
		}
	}
}

// failures runs the suite on every broken plugin.
func failures(t *testing.T) map[string][]string {
	var mu sync.Mutex
	all := map[string][]string{}
	t.Run("run", func(t *testing.T) {
		for _, p := range broken.All() {
			t.Run(p.Name, func(t *testing.T) {
				t.Parallel()
				failed := failing(t, p)
				mu.Lock()
				defer mu.Unlock()
				if _, twice := all[p.Name]; twice {
					t.Errorf("two are called %s", p.Name)
				}
				all[p.Name] = failed
			})
		}
	})
	return all
}

// listed has the checks that each broken plugin must fail.
func listed(t *testing.T) (want map[string][]string) {
	t.Helper()
	text, err := os.ReadFile(expected)
	if err == nil {
		err = yaml.Unmarshal(text, &want)
	}
	if err != nil {
		t.Fatal(err)
	}
	return want
}

func failing(t *testing.T, p broken.Plugin) (names []string) {
	expect := listed(t)[p.Name]
	checks := conformance.Checks(p.Kind)
	failed := make([]bool, len(checks))
	var running sync.WaitGroup
	for i, c := range checks {
		look := func() {
			// Some never answer. On a busy machine others may also be slow.
			failed[i] = fails(t, p, c.Name, 5*time.Second) &&
				(slices.Contains(expect, c.Name) || fails(t, p, c.Name, 0))
		}
		if p.Kind == sdk.KindTrainable { // some only wait for their deadline
			running.Go(look)
		} else {
			look()
		}
	}
	running.Wait()
	for i, c := range checks {
		if failed[i] {
			names = append(names, c.Name)
		}
	}
	return names
}

// fails runs one check; a deadline of 0 is the check's own.
func fails(t *testing.T, p broken.Plugin, check string, deadline time.Duration) (failed bool) {
	o := conformance.Options{Only: check, Short: true}
	if p.Kind == sdk.KindTrainable || p.Kind == sdk.KindExecutor { // some checks wait until their deadline
		o.Deadline = deadline
	}
	err := conformance.Run(t.Context(), p.Kind, p.Open, o, func(r conformance.Result) {
		if failed = r.Outcome == conformance.Failed; failed {
			t.Logf("%s: want %s; saw %s", r.Check, r.Want, r.Saw)
		}
	})
	if err != nil {
		t.Error(err)
	}
	return failed
}

func writeExpected(t *testing.T, got map[string][]string) {
	var b bytes.Buffer
	b.WriteString("# The checks that each plugin of this package fails: exactly these.\n")
	for _, p := range broken.All() {
		fmt.Fprintf(&b, "\n%s:\n", p.Name)
		for _, check := range got[p.Name] {
			fmt.Fprintf(&b, "  - %s\n", check)
		}
	}
	if err := os.WriteFile(expected, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// A plugin that never answers fails at the check's deadline.
func TestHangs(t *testing.T) {
	o := conformance.Options{Only: "searcher/answers/count", Deadline: 50 * time.Millisecond}
	err := conformance.Run(t.Context(), "searcher", conformance.InProcess(hanging), o, func(r conformance.Result) {
		if r.Outcome != conformance.Failed || !strings.Contains(r.Saw, "did not answer Suggest within its deadline") {
			t.Errorf("%+v", r)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Checks that run side by side wait for one description. None of them starts the plugin when its own time is up.
func TestLateForSeveral(t *testing.T) {
	hangs := func(ctx context.Context) (plugin.Plugin, error) {
		if ctx.Err() != nil {
			t.Error("the plugin is started after the check's time was up")
		}
		<-ctx.Done()
		return nil, &plugin.Error{Plugin: `searcher "slow"`, Failure: plugin.NotStarted, Err: plugin.ErrLate}
	}
	o := conformance.Options{Quick: true, Deadline: 50 * time.Millisecond}
	err := conformance.Run(t.Context(), "searcher", hangs, o, func(r conformance.Result) {
		if r.Outcome != conformance.Late {
			t.Errorf("%+v", r)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A plugin that is not ready in time has broken no rule.
func TestLate(t *testing.T) {
	late := func(context.Context) (plugin.Plugin, error) {
		return nil, &plugin.Error{Plugin: `searcher "slow"`, Failure: plugin.NotStarted, What: "was not ready",
			Err: plugin.ErrLate}
	}
	err := conformance.Run(t.Context(), "searcher", late, conformance.Options{Quick: true}, func(r conformance.Result) {
		if r.Outcome != conformance.Late || r.Why != `searcher "slow" was not ready` || r.Saw != "" {
			t.Errorf("%+v", r)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}
