package serve_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/tunehost/tunehost/host/serve"
)

var rewrite = flag.Bool("rewrite", false, "write docs/openapi.json")

func description(t *testing.T) []byte {
	t.Helper()
	text, err := serve.New(serve.Options{Folders: []string{t.TempDir()}, Version: "1"}).OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := json.Indent(&b, text, "", " "); err != nil {
		t.Fatal(err)
	}
	return append(b.Bytes(), '\n')
}

// TestOpenAPIFile checks that docs/openapi.json, of which clients are generated, is what the server answers.
func TestOpenAPIFile(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "openapi.json")
	now := description(t)
	if *rewrite {
		if err := os.WriteFile(path, now, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(path); err != nil || !bytes.Equal(text, now) {
		t.Errorf("docs/openapi.json differs (%v): go test ./host/serve -run OpenAPIFile -rewrite, then read the diff: "+
			"fields and paths are only added", err)
	}
}

// TestAnswersFitTheirDescription compares the answers of a server with the schemas in its own description,
// which an independent validator reads. The schemas must forbid unknown fields here: an answer with
// a field that is not described is a mistake.
func TestAnswersFitTheirDescription(t *testing.T) {
	c := serving(t, recorded(t))
	var doc any
	if err := json.Unmarshal([]byte(c.get("/api/openapi.json")), &doc); err != nil {
		t.Fatal(err)
	}
	forbidUnknown(doc)
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	if err := compiler.AddResource("http://api/openapi.json", doc); err != nil {
		t.Fatal(err)
	}
	checked := 0
	paths := doc.(map[string]any)["paths"].(map[string]any)
	for path, ops := range paths {
		get, ok := ops.(map[string]any)["get"]
		if !ok {
			continue
		}
		body := get.(map[string]any)["responses"].(map[string]any)["200"].(map[string]any)["content"].(map[string]any)
		if body["application/json"] == nil {
			continue
		}
		place := strings.NewReplacer("~", "~0", "/", "~1").Replace(path)
		schema, err := compiler.Compile("http://api/openapi.json#/paths/" + place +
			"/get/responses/200/content/application~1json/schema")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"digits", "crashed"} { // the second one has trials without a value
			a, text := c.send("GET", strings.NewReplacer("{name}", name, "{id}", "3").Replace(path), "")
			if a.StatusCode != http.StatusOK && name == "crashed" {
				continue // it has too few trials for some answers
			}
			var answer any
			if err := json.Unmarshal([]byte(text), &answer); err != nil {
				t.Fatal(err)
			}
			if err := schema.Validate(answer); err != nil {
				t.Errorf("%s of %s: %v in %s", path, name, err, text)
			}
		}
		checked++
	}
	if checked < 12 {
		t.Errorf("only %d answers were checked", checked)
	}
}

// forbidUnknown adds additionalProperties: false to all structs.
func forbidUnknown(x any) {
	switch x := x.(type) {
	case []any:
		for _, y := range x {
			forbidUnknown(y)
		}
	case map[string]any:
		if _, ok := x["properties"]; ok && x["additionalProperties"] == nil && x["type"] == "object" {
			x["additionalProperties"] = false
		}
		for _, y := range x {
			forbidUnknown(y)
		}
	}
}

// TestWordsForNumbers sends a word, and nothing, for each number and truth value of a query: both are told with the
// parameter's name, and nothing is read instead.
func TestWordsForNumbers(t *testing.T) {
	var doc struct {
		Paths map[string]map[string]struct {
			Parameters []struct {
				Name, In string
				Schema   struct{ Type any }
			}
		}
	}
	c := serving(t, recorded(t))
	if err := json.Unmarshal([]byte(c.get("/api/openapi.json")), &doc); err != nil {
		t.Fatal(err)
	}
	sent := 0
	for path, methods := range doc.Paths {
		for _, p := range methods["get"].Parameters {
			if p.In != "query" || p.Schema.Type == "string" || p.Schema.Type == "array" {
				continue
			}
			for _, word := range []string{"abc", "1e", "0x10", "1,000", "--1", "%00"} {
				at := strings.NewReplacer("{name}", "digits", "{id}", "1", "/api/v1/experiments", "").Replace(path) +
					"?" + p.Name + "=" + word
				a, text := c.send("GET", at, "")
				if a.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(text, p.Name) {
					t.Errorf("GET %s: %d %.300s", at, a.StatusCode, text)
				}
				sent++
			}
		}
	}
	if sent < 100 {
		t.Errorf("only %d requests were sent", sent)
	}
}
