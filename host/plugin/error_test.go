package plugin

import (
	"strings"
	"testing"
)

// A plugin logs its failure, too; the error says it once, and the other last lines.
func TestErrorSaysAFailureOnce(t *testing.T) {
	const says = `searcher "x" failed in Suggest: it answered None for trial 0`
	e := &Error{Plugin: `searcher "x"`, What: "failed in Suggest: it answered None for trial 0",
		Tail: []string{"loaded", "suggest failed: it answered None for trial 0"}, Log: "x.log"}
	if got, want := e.Error(), says+"; its last output: loaded; its log: x.log"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	e.Tail = e.Tail[1:]
	if got, want := e.Error(), says+"; its log: x.log"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	e.Tail = []string{"suggest failed: it answered None for trial 0; it is tried again"}
	if got, want := e.Error(), says+"; its log: x.log"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	e.What, e.Tail = "failed in Suggest: loss", []string{"KeyError: loss is no key of the space of trial 0"}
	if got := e.Error(); !strings.Contains(got, e.Tail[0]) {
		t.Errorf("%s lacks a line with more than its own word", got)
	}
}
