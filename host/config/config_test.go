package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// base has the keys that every file needs. It is appended, so that line numbers are those of the case.
const base = `
version: 1
objective: {metric: accuracy, mode: max}
trainable: {command: [python3, train.py]}
`

// TestMistakes shows the message for each mistake in testdata/mistakes/*; -rewrite regenerates them.
// `parse` reads a whole file, `with` adds the keys that every file needs; without=KEY omits one of
// these, set= is --set, recorded reads the file by the rules of the first tunehost.
//
// B-073, B-103, B-104, B-106
func TestMistakes(t *testing.T) {
	schema := compiledSchema(t)
	datadriven.Walk(t, "testdata/mistakes", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			input := d.Input
			if d.Cmd == "with" {
				input += baseWithout(d)
			}
			var options []Option
			for _, arg := range d.CmdArgs {
				switch arg.Key {
				case "recorded":
					options = append(options, Recorded(1))
				case "set":
					options = append(options, WithSet(strings.Join(arg.Vals, ",")))
				}
			}
			e, err := Parse("x.yaml", []byte(input), options...)
			refused := schemaRefuses(schema, input)
			if refused && err == nil && options == nil {
				d.Fatalf(t, "the schema refuses what Parse takes: %v", validate(schema, input))
			}
			return verdict(e, err, refused)
		})
	})
}

func baseWithout(d *datadriven.TestData) string {
	lines := strings.Split(base, "\n")
	for _, arg := range d.CmdArgs {
		for i, line := range lines {
			if arg.Key == "without" && strings.HasPrefix(line, arg.Vals[0]+":") {
				lines[i] = ""
			}
		}
	}
	return strings.Join(lines, "\n")
}

func verdict(e *Experiment, err error, refused bool) string {
	var b strings.Builder
	switch {
	case err != nil:
		fmt.Fprintln(&b, err)
	case len(e.Warnings) > 0:
		for _, w := range e.Warnings {
			fmt.Fprintln(&b, "warning:", w)
		}
	default:
		fmt.Fprintln(&b, "ok")
	}
	if err != nil && !refused {
		fmt.Fprintln(&b, "(beyond the schema)")
	}
	return b.String()
}

func compiledSchema(t testing.TB) *jsonschema.Schema {
	t.Helper()
	s, err := compileSchema(Schema())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// compileSchema uses another library than the program: editors do, too.
func compileSchema(schema []byte) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("mem:///schema.json", doc); err != nil {
		return nil, err
	}
	return c.Compile("mem:///schema.json")
}

func validate(s *jsonschema.Schema, yaml string) error {
	n := readYAML(&problems{}, "x", []byte(yaml))
	if n == nil {
		return errors.New("not YAML")
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(n.json()))
	if err != nil {
		return err
	}
	return s.Validate(doc)
}

func schemaRefuses(s *jsonschema.Schema, yaml string) bool { return validate(s, yaml) != nil }

// Both the parser and the schema accept every good file without a warning.
func TestGood(t *testing.T) {
	schema := compiledSchema(t)
	files, err := filepath.Glob("testdata/good/*")
	if err != nil || len(files) < 3 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		e, err := Load(file)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		for _, w := range e.Warnings {
			t.Errorf("warning: %v", w)
		}
		data, _ := os.ReadFile(file)
		if err := validate(schema, string(data)); err != nil {
			t.Errorf("%s: the schema refuses it: %v", file, err)
		}
		if again, err := Parse(file, data); err != nil || !bytes.Equal(e.Canonical(), again.Canonical()) ||
			!json.Valid(e.Canonical()) {
			t.Errorf("%s: reads differently: %v", file, err)
		}
	}
}

func TestErrorsAreOneLineEach(t *testing.T) {
	_, err := Parse("x.yaml", []byte("trials: x\nseed: -1\nspace: {a: {uniform: [2, 1]}}\n"))
	var list Errors
	if !errors.As(err, &list) || len(list) != 6 {
		t.Fatalf("%v", err)
	}
	for _, e := range list {
		if strings.Contains(e.Error(), "\n") {
			t.Errorf("%q", e.Error())
		}
	}
	var one *Error
	if !errors.As(err, &one) || one.Pos.Line == 0 {
		t.Errorf("no place in %v", err)
	}
}

// An endless file is refused at the size limit.
func TestEndlessFile(t *testing.T) {
	if _, err := os.Stat("/dev/zero"); err != nil {
		t.Skip("there is no file that never ends here: ", err)
	}
	_, err := Load("/dev/zero")
	if err == nil || !strings.Contains(err.Error(), "1 MiB") || strings.Contains(err.Error(), "\n") {
		t.Error(err)
	}
}
