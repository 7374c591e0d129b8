package view

import (
	"encoding/json"
	"testing"

	"github.com/tunehost/tunehost/core"
)

func TestPointsAreColumns(t *testing.T) {
	x := Points{Numbers: make([]core.TrialNo, 2), Params: map[string][]json.RawMessage{}}
	names := map[string]bool{"lr": true, "model/units": true, "model/head": true, "kind": true}
	x.addParams(0, "", []byte(`{"lr": 0.1, "model": {"units": 8, "head": {"size":3}}}`), names)
	x.addParams(1, "", []byte(`{"lr": 0.2, "kind": "a"}`), names)
	text, err := json.Marshal(x.Params)
	want := `{"kind":[null,"a"],"lr":[0.1,0.2],"model/head":[{"size":3},null],"model/units":[8,null]}`
	if err != nil || string(text) != want {
		t.Errorf("%s %v, want %s", text, err, want)
	}
}
