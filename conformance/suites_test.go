package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/tunehost/tunehost/host/config/fit"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// The suites match their schema.
func TestSchema(t *testing.T) {
	text, err := os.ReadFile("suites/schema.json")
	if err != nil {
		t.Fatal(err)
	}
	schema, err := fit.Compile(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range sdk.Kinds() {
		text, err := os.ReadFile("suites/" + string(k) + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		var suite any
		if err := yaml.Unmarshal(text, &suite); err != nil {
			t.Fatal(err)
		}
		object, err := json.Marshal(suite)
		if err != nil {
			t.Fatal(err)
		}
		faults, err := schema.Faults(object)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range faults {
			t.Errorf("%s: %v", k, &f)
		}
	}
}

// Names belong to their kind and are unique, and verbs accept the data.
func TestChecks(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range sdk.Kinds() {
		for _, c := range Checks(k) {
			if !strings.HasPrefix(c.Name, string(k)+"/") || seen[c.Name] {
				t.Errorf("%s: not of the kind %s, or twice", c.Name, k)
			}
			seen[c.Name] = true
			if c.deadline() <= 0 {
				t.Errorf("%s: no deadline", c.Name)
			}
			if err := decodes(c); err != nil {
				t.Error(err)
			}
		}
	}
	if len(seen) < 100 {
		t.Errorf("%d checks", len(seen))
	}
}

// decodes decodes a check's data without a plugin: verbs read it first.
func decodes(c Check) error {
	verb := verbs[c.Verb]
	if verb == nil {
		return fmt.Errorf("%s: no verb %q", c.Name, c.Verb)
	}
	_, long := verb(&c, false)
	_, short := verb(&c, true)
	return errors.Join(long, short)
}

// Spaces and fates are valid.
func TestWorld(t *testing.T) {
	for name := range readWorld().Spaces {
		s, err := spaceNamed(name)
		if err != nil {
			t.Errorf("space %s: %v", name, err)
			continue
		}
		if s.Params[0].Name == "" {
			t.Errorf("space %s: a parameter without a name", name)
		}
	}
	for name := range readWorld().Fates {
		words, err := script(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range words {
			if kinds[w] == 0 {
				t.Errorf("fate %s: no word %q", name, w)
			}
		}
	}
	if _, err := spaceNamed("no such"); err == nil {
		t.Error("there is a space of any name")
	}
}

var (
	behaviour = regexp.MustCompile(`^B-\d{3}$`)
	document  = regexp.MustCompile(`^([\w/]+\.(?:md|go))#(.+)$`)
)

// Sources exist: behaviours, sections of documents, names in Go files.
func TestSources(t *testing.T) {
	behaviours, err := os.ReadFile("../docs/BEHAVIOURS.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range sdk.Kinds() {
		for _, c := range Checks(k) {
			for _, source := range c.Source {
				if behaviour.MatchString(source) && !bytes.Contains(behaviours, []byte("| "+source+" |")) {
					t.Errorf("%s: docs/BEHAVIOURS.md has no %s", c.Name, source)
				}
				if m := document.FindStringSubmatch(source); m != nil && !section(m[1], m[2]) {
					t.Errorf("%s: there is no %s", c.Name, source)
				}
			}
		}
	}
}

// section reports whether a document of the SDK, or of the repository, has a section, or a Go file
// a type.
func section(file, name string) bool {
	text, err := os.ReadFile("../plugins/sdk/" + file)
	if err != nil {
		text, err = os.ReadFile("../" + file)
	}
	if err != nil {
		return false
	}
	pattern := `(?m)^#+ ` + regexp.QuoteMeta(name) + `$`
	if path.Ext(file) == ".go" {
		pattern = `(?m)^type ` + regexp.QuoteMeta(name) + ` `
	}
	return regexp.MustCompile(pattern).Match(text)
}

func TestSelect(t *testing.T) {
	checks := Checks(sdk.KindSearcher)
	for pattern, want := range map[string]int{
		"": len(checks), "searcher": len(checks), "searcher/given": 3, "searcher/given/": 3,
		"searcher/given/numbers": 1,
		"searcher/*/conditions":  3, "searcher/describ?": 2, "given": 0, "searcher/giv": 0,
	} {
		if got, err := Select(checks, pattern); err != nil || len(got) != want {
			t.Errorf("%q: %d checks, %v; want %d", pattern, len(got), err, want)
		}
	}
	if _, err := Select(checks, "[a"); err == nil {
		t.Error("a broken pattern is taken")
	}
}

const list = "../docs/CONFORMANCE.md"

// TestList checks that docs/CONFORMANCE.md lists every check.
func TestList(t *testing.T) {
	var b strings.Builder
	b.WriteString(`# What plugins must do

This document lists every check of [the conformance suite](../conformance/README.md), its rule, and the source of the
rule, which is a number of [the list of behaviours](BEHAVIOURS.md), or a section or type in a file.
It is generated from the files in ` + "`conformance/suites` by `go test ./conformance -rewrite`" + `.
`)
	for _, k := range sdk.Kinds() {
		fmt.Fprintf(&b, "\n## %ss\n\n| check | rule | source |\n|---|---|---|\n",
			strings.ToUpper(string(k[:1]))+string(k[1:]))
		for _, c := range Checks(k) {
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", c.Name, c.Rule, strings.Join(links(c.Source), ", "))
		}
	}
	if flag.Lookup("rewrite").Value.String() == "true" {
		if err := os.WriteFile(list, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != b.String() {
		t.Error("docs/CONFORMANCE.md does not list the checks as they are: run go test ./conformance -rewrite and " +
			"commit what changes")
	}
}

// links returns sources as links from the folder of the list.
func links(sources []string) (list []string) {
	for _, source := range sources {
		name, part, isFile := strings.Cut(source, "#")
		to := "BEHAVIOURS.md"
		if isFile {
			to = "../plugins/sdk/" + name
			if _, err := os.Stat("../" + name); err == nil {
				to = "../" + name
			}
		}
		if path.Ext(name) == ".md" {
			to += "#" + strings.ToLower(part)
		}
		list = append(list, "["+source+"]("+to+")")
	}
	return list
}
