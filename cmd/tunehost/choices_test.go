package main

import (
	"encoding/json"
	"testing"

	"github.com/tunehost/tunehost/host/storage/naming"
	"github.com/tunehost/tunehost/host/view"
)

// A change between choices that look alike is a change, and is seen as one; of numbers that look alike all digits are.
func TestChangesThatLookAlike(t *testing.T) {
	d := drawing{lineage: &view.Lineage{Stretches: []view.Stretch{{Parent: -1}}},
		told: tellers{naming.Tellers{"k": naming.Teller([][]byte{[]byte(`1`), []byte(`"1"`), []byte(`true`)})}},
		values: func(params []byte) (all map[string]any) {
			if err := json.Unmarshal(params, &all); err != nil {
				t.Fatal(err)
			}
			return all
		}}
	for _, c := range []struct{ before, now, want string }{
		{`{"k": "1", "x": 1}`, `{"k": true, "x": 1}`, `k "1"→true`},
		{`{"k": "1", "x": 0.12345671}`, `{"k": "1", "x": 0.12345672}`, `x 0.12345671→0.12345672`},
		{`{"k": "1", "x": 1}`, `{"k": "1", "x": 2, "y": " "}`, `x 1→2, y  `},
		{`{"k": "1"}`, `{"k": "1"}`, ``},
	} {
		d.lineage.Stretches[0].Params = []byte(c.before)
		if got := d.changed(&view.Stretch{Parent: 0, Params: []byte(c.now)}); got != c.want {
			t.Errorf("%s to %s is %q, want %q", c.before, c.now, got, c.want)
		}
	}
	d.lineage.Stretches[0].Params = []byte(`{"k": "1"}`)
	if got := d.changed(&view.Stretch{Parent: 0, Params: []byte(`{"k": 1}`)}); got == "" {
		t.Error(`"1" to 1 is no change`)
	}
}
