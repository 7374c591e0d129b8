package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tunehost/tunehost/host/jsontext"
)

// prints is a program whose output, results and error are partly no text.
const prints = `version: 1
name: prints
objective: {metric: x, mode: min}
space: {a: {uniform: [0, 1]}}
trainable: {command: [sh, -c, "printf 'half \\355\\240\\200 \\377\\n'; printf '{\"x\": 1, \"note\": \"\\\\ud800\"}\\n';
  printf 'half \\355\\240\\200\\n' >&2; case $TUNEHOST_TRIAL_DIR in *00001*) exit 1;; esac"]}
trials: 2
`

// B-140: what trials print reaches readers as UTF-8, and in JSON that readers can read.
func TestServeTextOfPrograms(t *testing.T) {
	dir, command := unprivileged(t)
	if err := os.WriteFile(filepath.Join(dir, "x.yaml"), []byte(prints), 0o644); err != nil {
		t.Fatal(err)
	}
	_ = command("run", "x.yaml", "-v", "0").Run() // a trial may fail
	s := serving(t, command("serve", "results", "--listen", "127.0.0.1:0"))
	if _, text := s.send("GET", "/prints/trials/0/log", ""); !strings.Contains(text, "half \uFFFD") {
		t.Errorf("the output is %q", text)
	}
	for _, path := range []string{"", "/prints", "/prints/trials", "/prints/trials/0", "/prints/trials/1",
		"/prints/trials/0/results", "/prints/best", "/prints/journal", "/prints/events", "/prints/curves",
		"/prints/timeline", "/prints/decisions", "/prints/host-log", "/prints/trials/1/log?stream=stderr"} {
		status, text, header := s.answer("GET", path, "")
		var x any
		isJSON := strings.Contains(header.Get("Content-Type"), "json")
		half, _ := jsontext.NotText([]byte(text))
		if status != http.StatusOK || !utf8.ValidString(text) || isJSON && json.Unmarshal([]byte(text), &x) != nil ||
			isJSON && half != "" {
			t.Errorf("%s: %d %q", path, status, text)
		}
		for line := range strings.Lines(text) {
			if data, ok := strings.CutPrefix(line, "data: "); ok && json.Unmarshal([]byte(data), &x) != nil {
				t.Errorf("%s: %q", path, line)
			}
		}
	}
}
