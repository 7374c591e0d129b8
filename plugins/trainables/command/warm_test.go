package command

import (
	"encoding/json"
	"strings"
	"testing"
)

// A command that cannot be warm is refused before the first trial.
func TestWarmCommands(t *testing.T) {
	for command, want := range map[string]string{
		"sh train.sh":                     "sh is no Python interpreter: write a command such as [python3, train.py]",
		"python3 -m train":                "python's -m does not go with it: name a script",
		"python3 -c pass":                 "python's -c does not go with it: name a script",
		"python3 -":                       "python's - does not go with it: name a script",
		"python3 -u":                      "the command names no script: write [python3, train.py]",
		"python3 {model}.py":              "the script {model}.py differs between trials: name one script",
		"/opt/bin/python3.12 -uB a.py -m": "",
		"python -X dev -Wignore a.py":     "",
	} {
		b, err := json.Marshal(opts{"command": strings.Fields(command), "warm": true})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if _, err := parseOptions(b); err != nil {
			got = err.Error()
		}
		if want != "" {
			want = "trainable command: warm: " + want + ", or leave out warm"
		}
		if got != want {
			t.Errorf("%s:\n%q\n%q", command, got, want)
		}
	}
}
