package main

import (
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"
)

// Each bug can still be planted, and the result is valid Go. `make mutants` checks whether tests
// find it.
func TestEachFits(t *testing.T) {
	if err := os.Chdir("../.."); err != nil {
		t.Fatal(err)
	}
	all, err := parse(list)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 30 {
		t.Errorf("there are %d bugs, want 30 or more", len(all))
	}
	names := map[string]bool{}
	for _, m := range all {
		text, err := m.mutated()
		if err != nil {
			t.Errorf("%s: %v", m.name, err)
			continue
		}
		if _, err := parser.ParseFile(token.NewFileSet(), m.file, text, 0); err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
		if names[m.name] {
			t.Errorf("%s: two bugs have this name", m.name)
		}
		names[m.name] = true
	}
}

// A test cut off by a busy machine does not count as finding a bug; a hang does.
func TestJudge(t *testing.T) {
	const cut = "panic: test timed out after 4m0s\n\trunning tests:\n\t\tTestA (3s)\n\t\tTestB (%s)\n\ngoroutine 1 " +
		"[running]:\nFAIL\tx/host\t240.1s\nFAIL\n"
	for _, c := range []struct{ out, by, err string }{
		{"--- FAIL: TestA (0.00s)\nFAIL\nFAIL\tx/host\t1s\n", "TestA", ""},
		{"    --- FAIL: TestA/b (0.00s)\n" + strings.Replace(cut, "%s", "4s", 1), "TestA/b", ""},
		{"panic: runtime error\n\ngoroutine 1 [running]:\nFAIL\tx/host\t1s\n", "FAIL\tx/host", ""},
		{strings.Replace(cut, "%s", "3m59s", 1), "TestB, which hangs", ""},
		{strings.Replace(cut, "%s", "40s", 1), "", "the machine is too busy"},
		{"no space left on device", "", ""},
	} {
		by, err := judge([]byte(c.out))
		if by != c.by || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%q: %q, %v", c.out, by, err)
		}
	}
}
