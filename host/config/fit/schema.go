package fit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// Schema is a schema of draft 2020-12 or 7. Schemas of other drafts are read as the nearest of these.
type Schema struct {
	*tour
	root  *jsonschema.Schema
	whole *jsonschema.Resolved
	draft string
	// united: root has in $defs what was in definitions.
	united bool
	parts  map[string]*jsonschema.Resolved // by JSON pointer
}

const (
	draft7    = "http://json-schema.org/draft-07/schema#"
	draft2020 = "https://json-schema.org/draft/2020-12/schema"
)

// drafts are the drafts that are read as others.
var drafts = map[string]string{"json-schema.org/schema": draft2020,
	"json-schema.org/draft/2020-12/schema": draft2020, "json-schema.org/draft/2019-09/schema": draft2020,
	"json-schema.org/draft-07/schema": draft7, "json-schema.org/draft-06/schema": draft7,
	"json-schema.org/draft-04/schema": draft7}

// place is the schema's own address, if it has no other.
const place = "mem:///options.json"

// maxDepth limits the objects and lists of a schema inside each other. The options in an experiment file are at most 50
// deep, and the time to read a schema grows with the square of its depth.
const maxDepth = 200

// nested reports whether lists and maps are more than most deep.
func nested(v any, most int) bool {
	deeper := func(x any) bool { return nested(x, most-1) }
	switch v := v.(type) {
	case []any:
		return most == 0 || slices.ContainsFunc(v, deeper)
	case map[string]any:
		return most == 0 || slices.ContainsFunc(slices.Collect(maps.Values(v)), deeper)
	}
	return false
}

// Compile reads a schema. It loads nothing that the schema refers to elsewhere.
func Compile(text []byte) (*Schema, error) {
	doc, err := decode(text)
	if err != nil {
		return nil, err
	}
	if nested(doc, maxDepth) {
		return nil, fmt.Errorf("it is nested more than %d deep", maxDepth)
	}
	s := &Schema{tour: newTour(doc), draft: draft2020, parts: map[string]*jsonschema.Resolved{}}
	if err := s.readDraft(); err != nil {
		return nil, err
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	if s.root, s.united, err = parse(doc); err != nil {
		return nil, err
	}
	s.root.Schema = s.draft
	s.whole, err = s.root.Resolve(&jsonschema.ResolveOptions{BaseURI: place})
	return s, err
}

func (s *Schema) readDraft() error {
	object, _ := s.doc.(map[string]any)
	named, _ := object["$schema"].(string)
	_, key, found := strings.Cut(strings.TrimRight(named, "#"), "://")
	if named == "" {
		return nil
	}
	if s.draft = drafts[key]; !found || s.draft == "" {
		return fmt.Errorf("$schema is %q; expected a draft of json-schema.org", named)
	}
	return nil
}

// parse makes the library's form of a schema.
func parse(doc any) (s *jsonschema.Schema, united bool, err error) {
	text, err := json.Marshal(doc)
	if err != nil {
		return nil, false, err
	}
	again, err := decode(text) // the tour has doc as it was written
	if err != nil {
		return nil, false, err
	}
	if united = unite(again); united {
		if text, err = json.Marshal(again); err != nil {
			return nil, false, err
		}
	}
	s = &jsonschema.Schema{}
	return s, united, json.Unmarshal(text, s)
}

// part returns the schema at a JSON pointer, or nil if the library cannot find it.
func (s *Schema) part(pointer string) *jsonschema.Resolved {
	if pointer == "" {
		return s.whole
	}
	if known, ok := s.parts[pointer]; ok {
		return known
	}
	at := "#" + pointer
	if s.united {
		at = moved(at)
	}
	to := &jsonschema.Schema{Schema: s.draft, Ref: place + (&url.URL{Fragment: at[1:]}).String()}
	load := func(*url.URL) (*jsonschema.Schema, error) { return s.root.CloneSchemas(), nil }
	r, err := to.Resolve(&jsonschema.ResolveOptions{Loader: load, BaseURI: "mem:///part.json"})
	if err != nil {
		r = nil
	}
	s.parts[pointer] = r
	return r
}

// decode reads JSON, with numbers as they are written.
func decode(text []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is text after the JSON value")
	}
	return v, nil
}
