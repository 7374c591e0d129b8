package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tunehost/tunehost/internal/testplace"
)

// B-137: what a client sends to begin an experiment is on no command line, which all users see and which is short, and
// every mistake in it is answered as one.
func TestServeStartIsOnNoCommandLine(t *testing.T) {
	dir, command := unprivileged(t)
	s := serving(t, command("serve", "--listen", "127.0.0.1:0"))
	const file = "version: 1\\nobjective: {metric: x, mode: min}\\nspace: {a: {uniform: [0, 1]}}\\ntrials: 1\\n" +
		`trainable: {command: [sh, -c, 'printf %s \"$SENT\" >../../../../sent; until [ -e ../../../../go ]; do ` +
		`sleep 0.02; done; echo \"{\\\"x\\\": 1}\"']}\n`
	begin := func(name, key, value string) (int, string) {
		return s.send("POST", "", fmt.Sprintf(`{"file": "%s", "name": "%s", "set": {"%s": "%s"}}`, file, name, key,
			value))
	}
	for _, x := range []struct{ name, key, want string }{{`a\u0000b`, "trainable.env.SENT", "name"},
		{"a", `trainable.env.X\u0000`, "trainable.env"}, {"a", `trials\u0000`, "trials"}} {
		if code, text := begin(x.name, x.key, "1"); code != http.StatusUnprocessableEntity ||
			!strings.Contains(text, x.want) {
			t.Errorf("%+v: %d %s", x, code, text)
		}
	}
	const secret = "s3cr3t-"
	value := strings.Repeat(secret, 14_000) // with the name less than the system lets a program have in one variable
	if code, text := begin("named", "trainable.env.SENT", value); code != http.StatusCreated {
		t.Fatalf("%d %s", code, text)
	}
	testplace.Soon(t, "the variable of the trial", func() bool {
		got, _ := os.ReadFile(filepath.Join(dir, "sent"))
		return string(got) == value
	})
	for _, text := range arguments(t) {
		if strings.Contains(text, secret) || strings.Contains(text, "objective:") {
			t.Errorf("a command line: %.300q", text)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	testplace.Soon(t, "the end", func() bool {
		_, text := s.send("GET", "/named", "")
		return strings.Contains(text, `"state":"finished"`)
	})
}

// arguments are the command lines of all processes.
func arguments(t *testing.T) (list []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil { // the process may have ended
			list = append(list, string(text))
		}
	}
	return list
}
