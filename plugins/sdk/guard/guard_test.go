package guard

import (
	"math"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// B-104: given coordinates are applied without changing the author's points, which may be part of
// the author's state.
func TestOverlay(t *testing.T) {
	own := space.Point{1, 2, math.NaN()}
	given := space.Point{math.NaN(), 7, 8}
	got := overlay([]space.Point{own, own}, []sdk.Request{{Given: given}, {}})
	if got[0][0] != 1 || got[0][1] != 7 || got[0][2] != 8 || got[1][1] != 2 || own[1] != 2 {
		t.Fatal(got, own)
	}
}

func TestUnusedSnapshot(t *testing.T) {
	p := sdk.SearcherPlugin{Open: func(sdk.Problem, []byte) (sdk.Searcher, sdk.Traits, error) {
		return struct{ sdk.Searcher }{}, sdk.Traits{}, nil
	}}
	problem := sdk.Problem{Space: &space.Space{}}
	s, err := OpenSearcher(p, problem, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Snapshot(); err == nil || s.Snapshots() {
		t.Fatal("it makes no snapshots")
	}
	if _, err := OpenSearcher(p, problem, nil, []byte("x")); err == nil {
		t.Fatal("it takes no snapshot")
	}
}

func TestCheckDecisions(t *testing.T) {
	events := []sdk.Event{{Number: 4, Kind: sdk.ResultReported}, {Number: 5, Kind: sdk.TrialPaused}}
	decisions := func(d ...sdk.Decision) sdk.Decisions { return sdk.Decisions{Decisions: d} }
	bad := map[string]sdk.Decisions{
		"verdict": decisions(sdk.Decision{Event: 4, Verdict: 9}),
		"event":   decisions(sdk.Decision{Event: 5}),
		"twice":   decisions(sdk.Decision{Event: 4}, sdk.Decision{Event: 4}),
		"command": {Commands: []sdk.Command{{}}},
		"point":   {Commands: []sdk.Command{{Kind: sdk.Exploit, Point: space.Point{1}}}},
	}
	for what, d := range bad {
		if CheckDecisions(2, events, d) == nil {
			t.Errorf("%s: taken", what)
		}
	}
	good := decisions(sdk.Decision{Event: 4, Verdict: sdk.Stop})
	good.Commands = []sdk.Command{{Kind: sdk.Exploit}}
	if err := CheckDecisions(2, events, good); err != nil {
		t.Error(err)
	}
}
