package hostlog

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

// A traceback is shown as lines, and once; the log has it each time.
func TestTracebacks(t *testing.T) {
	var file, screen bytes.Buffer
	log := Open(&file, NewScreen(&screen, "host.log"))
	for range 3 {
		log.Error("suggest failed: no luck (main.py:3)", "plugin", "searcher mine", "traceback",
			"Traceback:\n  main.py", "whole_traceback", "Traceback:\n  ours.py\n  main.py")
	}
	want := "error: searcher mine: suggest failed: no luck (main.py:3)\n    Traceback:\n      main.py\n"
	if screen.String() != want {
		t.Errorf("%q, want %q", screen.String(), want)
	}
	if n := strings.Count(file.String(), "ours.py"); n != 3 {
		t.Errorf("the log has it %d times", n)
	}
}

// Of a long traceback the end is shown, where the mistake is.
func TestLongTraceback(t *testing.T) {
	var screen bytes.Buffer
	log := Open(io.Discard, NewScreen(&screen, "host.log"))
	log.Error("no", "stack", strings.Repeat("frame\n", 100)+"the mistake")
	if got := screen.String(); strings.Count(got, "\n") != 32 ||
		!strings.Contains(got, "(71 lines before that are in the log)\n") ||
		!strings.HasSuffix(got, "    the mistake\n") {
		t.Error(got)
	}
}

// B-122: a quiet screen shows what is insisted on, and nothing else; any other screen shows both once.
func TestQuiet(t *testing.T) {
	for quiet, want := range map[bool]string{
		true:  "warning: the disk is full\nwarning: the disk is full\nwarning: without effect\n",
		false: "warning: slow\nwarning: the disk is full\nwarning: the disk is full\nwarning: without effect\n",
	} {
		var file, screen bytes.Buffer
		to := NewScreen(&screen, "host.log")
		if quiet {
			to.Quiet()
		}
		log := Open(&file, to)
		log.Warn("slow")
		log.Insist("the disk is full")
		log.Insist("the disk is full")
		if !log.InsistOnce("x", "without effect") || log.InsistOnce("x", "again") {
			t.Error("once is once")
		}
		if screen.String() != want {
			t.Errorf("quiet %v: %q, want %q", quiet, screen.String(), want)
		}
		if n := strings.Count(file.String(), "[WARN]"); n != 4 {
			t.Errorf("the log has %d warnings: %s", n, file.String())
		}
	}
}
