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

// A Go program that panics beside the call that it answers names the place in its author's code.
func TestPlaceOfPanic(t *testing.T) {
	const stack = "goroutine 34 [running]:\npanic({0x1, 0x2})\n\t/usr/local/go/src/runtime/panic.go:787 +0x132\n" +
		"strings.Repeat({0x0, 0x0}, 0x1)\n\t/usr/local/go/src/strings/strings.go:624 +0x5a5\n" +
		"main.(*searcher).Suggest.func1()\n\t/home/me/plugins/mine/main.go:47 +0x2c\n" +
		"created by main.(*searcher).Suggest in goroutine 33\n\t/home/me/plugins/mine/main.go:46 +0x25\n"
	for printed, want := range map[string]string{
		"starting\npanic: no luck\n\n" + stack:  "panic: no luck (main.go:47)",
		"\t/home/me/main.go:3 +0x1\npanic: x\n": "panic: x",
	} {
		o := newOutput(nil)
		w := lineWriter{to: o, stream: "stderr"}
		_, _ = w.Write([]byte(printed))
		if got := o.last(); len(got) != 1 || got[0] != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// The line that names a package which is not installed is not lost behind the stack that follows.
func TestMissingPackage(t *testing.T) {
	for _, line := range []string{
		"Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'tunehost' imported from /plugins/jss/main.js",
		"Error: Cannot find module 'left-pad'",
	} {
		o := newOutput(func(Line) {})
		w := &lineWriter{to: o, stream: "stderr"}
		text := "node:internal/errors:496\n\n" + line + "\n" + strings.Repeat("    at ModuleLoader.resolve\n", 9) +
			"}\n\nNode.js v20.20.2\n"
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if got := o.last(); !slices.Equal(got, []string{line}) {
			t.Errorf("%q, want %q", got, line)
		}
	}
}

// A line in hclog's JSON that is longer than the limit is read nevertheless, wherever it is cut.
func TestLongJSON(t *testing.T) {
	for shift := range 12 {
		var got []Line
		o := newOutput(func(l Line) { got = append(got, l) })
		w := &lineWriter{to: o, stream: "stderr"}
		head := `{"@level":"error","@message":"` + strings.Repeat("x", shift)
		_, _ = w.Write([]byte(head + strings.Repeat("\\u0041\\n", maxLine) + "\"}\n"))
		want := strings.Repeat("x", shift) + "A"
		if len(got) != 1 || got[0].Level != "error" || !strings.HasPrefix(got[0].Text, want) ||
			!strings.HasSuffix(got[0].Text, " [cut]") || !strings.HasPrefix(o.last()[0], want) {
			t.Errorf("%d: %.80q", shift, got)
		}
	}
	if text := "{" + strings.Repeat("x", 9); string(closed([]byte(text))) != text {
		t.Error("it changes a line that is no JSON")
	}
}
