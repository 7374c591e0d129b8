package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tunehost/tunehost/plugins/trainables/command/argv"
)

// params are the trial's parameters as text: each value as users would type it; nested ones also
// under names joined with "/".
type params struct {
	text   map[string]string
	groups map[string]bool // names that contain others
}

func parseParams(b []byte) (params, error) {
	p := params{text: map[string]string{}, groups: map[string]bool{}}
	if len(bytes.TrimSpace(b)) == 0 {
		return p, nil
	}
	if err := p.add("", b); err != nil {
		return p, fmt.Errorf("the trial's parameters are not a JSON object: %w", err)
	}
	return p, nil
}

func (p params) add(prefix string, object []byte) error {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(object, &m); err != nil {
		return err
	}
	for name, v := range m {
		if err := p.addValue(prefix+name, v); err != nil {
			return err
		}
	}
	return nil
}

func (p params) addValue(name string, v json.RawMessage) error {
	switch v[0] {
	case '"':
		var s string
		err := json.Unmarshal(v, &s)
		p.text[name] = s
		return err
	case '{':
		p.groups[name] = !bytes.Equal(v, []byte("{}"))
		if err := p.add(name+"/", v); err != nil {
			return err
		}
	}
	var b bytes.Buffer
	err := json.Compact(&b, v)
	p.text[name] = b.String()
	return err
}

func (p params) names() []string { return slices.Sorted(maps.Keys(p.text)) }

// flags returns all parameters as arguments, groups as their members: --net.units=64.
func (p params) flags() (flags []string) {
	for _, name := range p.names() {
		if !p.groups[name] {
			flags = append(flags, "--"+strings.ReplaceAll(name, "/", ".")+"="+p.text[name])
		}
	}
	return flags
}

// words returns the flags as one text of shell words.
func (p params) words() string {
	words := p.flags()
	for i := range words {
		words[i] = argv.Quote(words[i])
	}
	return strings.Join(words, " ")
}

// environ returns one variable for each parameter. If two have the same variable, it has the value
// of the first, and clash describes this.
func (p params) environ() (env []string, clash string) {
	taken := map[string]string{}
	for _, name := range p.names() {
		v := argv.Variable(name)
		if first, ok := taken[v]; ok {
			clash = fmt.Sprintf("parameters %q and %q share %s, which holds the first; read TUNEHOST_PARAMS instead",
				first, name, v)
			continue
		}
		taken[v] = name
		env = append(env, v+"="+p.text[name])
	}
	return env, clash
}

// writeParams ensures that params.json exists and contains b.
func writeParams(dir string, b []byte) (path string, err error) {
	path = filepath.Join(dir, "params.json")
	if old, err := readOwn(dir, "params.json"); err == nil && sameJSON(old, b) {
		return path, nil
	}
	return path, replaceOwn(dir, "params.json", append(bytes.Clone(b), '\n'))
}

func readOwn(dir, name string) ([]byte, error) {
	f, err := openOwn(dir, name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

func sameJSON(a, b []byte) bool {
	var x, y bytes.Buffer
	return bytes.Equal(bytes.TrimSpace(a), b) ||
		json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}
