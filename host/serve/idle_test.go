package serve_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// A worker asks again and again while there is no trial for it: the record does not grow, and its number of entries
// tells readers of news alone.
func TestIdleAsksAreNotRecorded(t *testing.T) {
	root := t.TempDir()
	c, s := hosting(t, root)
	c.post("", "%s", strings.Replace(forWorkers, "trials: 40", `trials: 40\nconcurrency: 1`, 1))
	mine := c.post("/w/ask", `{}`)
	entries := func() string {
		var x struct{ Entries json.Number }
		if err := json.Unmarshal([]byte(c.get("/w")), &x); err != nil {
			t.Fatal(err)
		}
		return x.Entries.String()
	}
	before := entries()
	for range 20 {
		if g := c.post("/w/ask", `{}`); !g.Wait {
			t.Fatalf("%+v", g)
		}
	}
	if after := entries(); mine.Trial == "" || after != before {
		t.Errorf("the record had %s entries, and has %s", before, after)
	}
	if d := c.post("/w/trials/"+mine.Trial+"/tell", `{"attempt":1,"metrics":{"loss":1}}`); !d.OK {
		t.Fatalf("%+v", d)
	}
	if g := c.post("/w/ask", `{}`); g.Trial == "" {
		t.Errorf("after the end of the trial: %+v", g)
	}
	s.Close()
}
