package command

import (
	"bufio"
	"bytes"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/plugins/sdk"
	"github.com/tunehost/tunehost/plugins/sdk/channel"
)

// FuzzStdout checks that any printed line gives a valid result, a one-line reason, or nothing.
func FuzzStdout(f *testing.F) {
	for _, line := range []string{`{"accuracy": 0.5}`, `{"a":{"b":[1,{"c":NaN}]},"accuracy":1e999}`,
		`{"accuracy":"x","iteration":-1,"checkpoint":"../x"}`,
		"epoch 3 loss=0.25 accuracy: 0.9", "accuracy: 1e9999", "{{}}", `{"accuracy":1,"accuracy":2}`,
		`{"":1,"accuracy":0}`, "\x1b[2J{\"accuracy\":1}\r\n"} {
		f.Add([]byte(line))
	}
	patterns := []pattern{
		{name: "accuracy", re: regexp.MustCompile(`accuracy: (\S+)`)},
		{name: "iteration", re: regexp.MustCompile(`epoch (\S+)`)},
		{name: "loss", re: regexp.MustCompile(`loss=[0-9.]+`)},
	}
	f.Fuzz(func(t *testing.T, output []byte) {
		for _, r := range []*reader{{objectives: []string{"accuracy"}}, {},
			{objectives: []string{"accuracy"}, patterns: patterns}} {
			lines := channel.NewLines(bufio.NewReaderSize(bytes.NewReader(output), 16))
			for {
				line, _, err := lines.Next()
				if err != nil {
					break
				}
				checkLine(t, r, line)
			}
			if len(r.waiting) > len(patterns) {
				t.Fatalf("%d values wait", len(r.waiting))
			}
		}
	})
}

func checkLine(t *testing.T, r *reader, line []byte) {
	p, err := r.read(line)
	if err != nil && (strings.Contains(err.Error(), "\n") || len(err.Error()) > 4096) {
		t.Fatalf("a reason of several lines, or too long: %q", err)
	}
	if p == nil {
		return
	}
	if err := sdk.CheckResult(&p.Result); err != nil && p.objective && p.Checkpoint == "" {
		t.Fatalf("%q is a result that no host takes: %v", line, err)
	}
	for _, m := range p.Metrics {
		if m.Name == "accuracy" && r.patterns == nil && math.IsNaN(m.Value) && !bytes.Contains(line, []byte("NaN")) {
			t.Fatalf("%q has made NaN", line)
		}
	}
}
