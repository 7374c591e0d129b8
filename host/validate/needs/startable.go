// Package needs checks that what trials need is there: their program, and the files that nodes get.
package needs

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tunehost/tunehost/host/config"
	"github.com/tunehost/tunehost/plugins/sdk/space"
	"github.com/tunehost/tunehost/plugins/trainables/command/argv"
)

// Startable checks that the command's program exists and can be started. It is looked for as
// when a trial starts. A name that depends on parameters is known as far as these are constants
// and choices.
func Startable(e *config.Experiment) error {
	t := e.Trainable
	if t == nil || len(t.Command) == 0 {
		return nil
	}
	if err := isFolder(e); err != nil {
		return err
	}
	names := e.ParameterNames()
	known := func(name string) bool {
		return slices.ContainsFunc(names, func(p string) bool {
			return p == name ||
				strings.ReplaceAll(p, "/", ".") == name
		})
	}
	command, err := argv.Command(t.Command[:1], filepath.Dir(e.File), known)
	if err != nil {
		return fmt.Errorf("%s: %w", e.PosOf("trainable.command"), err)
	}
	for _, program := range programs(e, command[0]) {
		if _, err := argv.Find(argv.Program(program, filepath.Dir(e.File)), pathOf(t)); err != nil {
			return fmt.Errorf("%s: %w", e.PosOf("trainable.command"),
				argv.CannotStart(asWritten(t.Command[0], program), err))
		}
	}
	return nil
}

// asWritten is the program as it is written in the file, unless that is a template.
func asWritten(written, program string) string {
	if strings.Contains(written, "{") {
		return program
	}
	return written
}

// pathOf is the PATH in which the program is looked for.
func pathOf(t *config.Trainable) string {
	if path, ok := t.Env["PATH"]; ok {
		return path
	}
	return os.Getenv("PATH")
}

func isFolder(e *config.Experiment) error {
	dir := e.Trainable.CWD
	if dir == "" {
		return nil
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(filepath.Dir(e.File), dir)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return fmt.Errorf("%s: trainable.cwd: %s is not a directory; name an existing one, relative to the "+
			"experiment file",
			e.PosOf("trainable.cwd"), dir)
	}
	return nil
}

// maxPrograms is how many names of a program are looked for.
const maxPrograms = 100

// programs are the names that a template stands for; none where they are known only when a
// trial starts.
func programs(e *config.Experiment, t argv.Template) []string {
	out := []string{t[0]}
	for i := 1; i < len(t); i += 2 {
		values := valuesOfParameter(e, t[i])
		if len(values)*len(out) > maxPrograms {
			return nil
		}
		var longer []string
		for _, begun := range out {
			for _, v := range values {
				longer = append(longer, begun+v+t[i+1])
			}
		}
		out = longer
	}
	return out
}

// valuesOfParameter are all values of a parameter, as texts; nil where they are too many or not
// known.
func valuesOfParameter(e *config.Experiment, name string) (values []string) {
	name = strings.ReplaceAll(name, ".", "/")
	for _, c := range e.Constants {
		if c.Name == name {
			return []string{asText(c.Value)}
		}
	}
	for i := range e.Space.Params {
		p := &e.Space.Params[i]
		if p.Name != name || p.Kind != space.Choice && p.Kind != space.Ordinal {
			continue
		}
		for _, v := range p.Choices {
			values = append(values, asText(v))
		}
	}
	return values
}

func asText(value []byte) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	return string(value)
}
