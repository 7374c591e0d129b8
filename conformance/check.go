package conformance

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/tunehost/tunehost/plugins/sdk"
)

//go:embed suites
var suites embed.FS

// A Check is one rule and how to verify it.
type Check struct {
	// Name is a path that begins with the kind of plugin:
	// "searcher/given/conditions".
	Name string `json:"name"`
	// Rule is the rule, in one sentence.
	Rule string `json:"rule"`
	// Source is where the rule is written: numbers of docs/BEHAVIOURS.md, and files with their
	// sections, as "PROTOCOL.md#Searchers".
	Source []string `json:"source"`
	// Verb names the code of the check, With is its data, and Short overrides the data in short
	// runs.
	Verb  string          `json:"verb"`
	With  json.RawMessage `json:"with"`
	Short json.RawMessage `json:"short"`
	// Transport, if set, is the only transport to which the check applies.
	Transport string `json:"transport"`
	// Quick, if set, makes the check one of the few that `tunehost plugins check` runs, and
	// overrides the data of a short run.
	Quick json.RawMessage `json:"quick"`
	// Deadline is for the whole check, such as "30s".
	Deadline string `json:"deadline"`
}

// deadline returns the duration of Deadline.
func (c *Check) deadline() time.Duration {
	d, err := time.ParseDuration(c.Deadline)
	if err != nil {
		panic(fmt.Sprintf("%s: %v", c.Name, err)) // the suite's schema prevents this
	}
	return d
}

// quick returns the quick checks, with their small data.
func quick(checks []Check) (kept []Check) {
	for _, c := range checks {
		if len(c.Quick) == 0 {
			continue
		}
		if string(c.Quick) != "{}" {
			c.Short = c.Quick
		}
		kept = append(kept, c)
	}
	return kept
}

// into decodes the check's data over into, a pointer to a struct.
func (c *Check) into(into any, short bool) error {
	layers := []json.RawMessage{c.With}
	if short {
		layers = append(layers, c.Short)
	}
	for _, layer := range layers {
		if len(layer) == 0 {
			continue
		}
		if err := decode(layer, into); err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
	}
	return nil
}

// Checks returns the checks for a kind of plugin, in the order in which they run.
func Checks(kind sdk.Kind) []Check { return slices.Clone(checksOfKinds()[kind]) }

// checksOfKinds are the checks of each kind.
var checksOfKinds = sync.OnceValue(func() map[sdk.Kind][]Check {
	all := map[sdk.Kind][]Check{}
	for _, kind := range sdk.Kinds() {
		var file struct {
			Kind   sdk.Kind `json:"kind"`
			Checks []Check  `json:"checks"`
		}
		mustRead(string(kind), &file)
		all[kind] = file.Checks
	}
	return all
})

// Select returns the checks that pattern names: one check, a folder of checks ("searcher/given"),
// or a pattern of [path.Match] for either. "" selects all.
func Select(checks []Check, pattern string) (kept []Check, err error) {
	if _, err := path.Match(pattern, ""); err != nil {
		return nil, fmt.Errorf("the pattern %q: %w", pattern, err)
	}
	for _, c := range checks {
		if named(c.Name, strings.TrimSuffix(pattern, "/")) {
			kept = append(kept, c)
		}
	}
	return kept, nil
}

func named(name, pattern string) bool {
	if pattern == "" {
		return true
	}
	for ; name != "."; name = path.Dir(name) {
		if ok, _ := path.Match(pattern, name); ok {
			return true
		}
	}
	return false
}

// mustRead reads a file of suites.
func mustRead(name string, into any) {
	// yaml.YAMLToJSON is not used, because its strings are not always JSON.
	var value any
	text, err := suites.ReadFile("suites/" + name + ".yaml")
	err = errors.Join(err, yaml.Unmarshal(text, &value))
	object, failed := json.Marshal(value)
	if err = errors.Join(err, failed); err == nil {
		err = decode(object, into)
	}
	if err != nil {
		panic(fmt.Sprintf("conformance: its own files: %v", err)) // a test reads all of them
	}
}

func decode(object []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(object))
	d.DisallowUnknownFields()
	return d.Decode(into)
}
