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

// Check is one rule, and how it is looked at.
type Check struct {
	// Name is a path that begins with the kind of plugin:
	// "searcher/given/conditions".
	Name string `json:"name"`
	// Rule is what is enforced, in one sentence.
	Rule string `json:"rule"`
	// Source says where the rule is written: numbers of docs/BEHAVIOURS.md, and
	// files with their sections, as "PROTOCOL.md#Searchers".
	Source []string `json:"source"`
	// Verb names the code that looks, With is what it is given, and Short is
	// laid over that in short runs.
	Verb  string          `json:"verb"`
	With  json.RawMessage `json:"with"`
	Short json.RawMessage `json:"short"`
	// Transport, if set, is the only one that the check is applicable to.
	Transport string `json:"transport"`
	// Quick, if set, makes the check one of the few that `tunehost plugins check` runs, and
	// is laid over what a short run has.
	Quick json.RawMessage `json:"quick"`
	// Deadline is for the whole check, as "30s".
	Deadline string `json:"deadline"`
}

// deadline is Deadline's duration.
func (c *Check) deadline() time.Duration {
	d, err := time.ParseDuration(c.Deadline)
	if err != nil {
		panic(fmt.Sprintf("%s: %v", c.Name, err)) // the suite's schema forbids it
	}
	return d
}

// quick keeps the quick checks, as small as they are then.
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

// into lays the check's data over into, a pointer to a struct.
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

// Checks are those for a kind of plugin, in the order in which they run.
func Checks(kind sdk.Kind) []Check { return slices.Clone(theChecks()[kind]) }

// theChecks are those of each kind.
var theChecks = sync.OnceValue(func() map[sdk.Kind][]Check {
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

// Select keeps the checks that pattern names: one check, a folder of checks
// ("searcher/given"), or a pattern of [path.Match] for either. "" keeps all.
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
	// Not by yaml.YAMLToJSON, whose strings are not always JSON.
	var value any
	text, err := suites.ReadFile("suites/" + name + ".yaml")
	err = errors.Join(err, yaml.Unmarshal(text, &value))
	object, failed := json.Marshal(value)
	if err = errors.Join(err, failed); err == nil {
		err = decode(object, into)
	}
	if err != nil {
		panic(fmt.Sprintf("conformance: its own files: %v", err)) // a test reads them all
	}
}

func decode(object []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(object))
	d.DisallowUnknownFields()
	return d.Decode(into)
}
