package guard

import (
	"strings"
	"testing"
)

func index(list []int, i int) int { return list[i] }

// The one-line error names the author's line.
func TestPlaceOfPanic(t *testing.T) {
	err := protect("Suggest", func() error { _ = index(nil, 3); return nil })
	if !strings.HasPrefix(err.Error(), "panic in Suggest: runtime error: index out of range [3] with length 0 "+
		"(trace_test.go:8)") {
		t.Error(err)
	}
}

func TestFrames(t *testing.T) {
	stack := strings.Join([]string{"goroutine 1 [running]:", "runtime/debug.Stack()",
		"\t/go/src/runtime/debug/stack.go:26 +0x5e",
		ours + "guard.protect.func1()", "\t/sdk/guard/guard.go:33 +0x1", "panic({0x1?, 0x2?})",
		"\t/go/src/runtime/panic.go:783 +0x132",
		"runtime.goPanicIndex()", "\t/go/src/runtime/panic.go:1 +0x1", "main.deep(...)", "\t/home/me/mine/deep.go:7",
		"main.(*mine).Suggest(0x1)", "\t/home/me/mine/main.go:33 +0x1d",
		ours + "guard.Suggest()", "\t/sdk/guard/guard.go:9 +0x1", "main.main()", "\t/home/me/mine/main.go:90 +0x1"},
		"\n")
	frames, place := Frames([]byte(stack))
	const want = "main.deep(...)\n\t/home/me/mine/deep.go:7\n" +
		"main.(*mine).Suggest(0x1)\n\t/home/me/mine/main.go:33 +0x1d"
	if frames != want || place != "deep.go:7" {
		t.Errorf("%s at %s", frames, place)
	}
	for _, s := range []string{"", "goroutine 1", "x\npanic(\n"} {
		if frames, place := Frames([]byte(s)); frames != "" || place != "" {
			t.Errorf("%q: %q at %q", s, frames, place)
		}
	}
}
