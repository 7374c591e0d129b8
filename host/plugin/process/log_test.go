package process

import (
	"slices"
	"strings"
	"testing"
)

// B-070: a field of several lines keeps its lines, each escaped; the log line itself stays one line,
// and what the answer to a call says is not repeated.
func TestTraces(t *testing.T) {
	var got []Line
	o := newOutput(func(l Line) { got = append(got, l) })
	w := &lineWriter{to: o, stream: "stderr"}
	text := `{"@level":"error","@message":"suggest failed: no luck","trial":3,"traceback":"Traceback:\n  File ` +
		`\"main.py\"\n\u001b[31mno luck\n"}` + "\nplain\n"
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[0].Text != "suggest failed: no luck trial=3" || len(got[0].Traces) != 1 {
		t.Fatalf("%+v", got)
	}
	if lines := got[0].Traces[0].Lines; !slices.Equal(lines,
		[]string{"Traceback:", `  File "main.py"`, `\x1b[31mno luck`}) {
		t.Errorf("%q", lines)
	}
	if all := strings.Join(o.last(), "|"); all != "suggest failed: no luck trial=3|plain" {
		t.Error(all)
	}
	if beside := o.besideTrace(); !slices.Equal(beside, []string{"plain"}) {
		t.Errorf("%q", beside)
	}
}
