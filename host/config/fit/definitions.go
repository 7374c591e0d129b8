package fit

import (
	"slices"
	"strings"
)

// mark begins the names in $defs of schemas that were in definitions, as a JSON pointer and as it is.
const (
	markInPointer = "definitions~1"
	mark          = "definitions/"
)

// unite moves the schemas of each definitions to $defs, with their references, if a schema of the document has both:
// the library refuses that. It changes doc, and reports whether it did.
func unite(doc any) bool {
	t := &tour{doc: doc}
	both := false
	t.each("", place, doc, func(_, _ string, schema map[string]any) {
		_, new := schema["$defs"].(map[string]any)
		_, old := schema["definitions"].(map[string]any)
		both = both || new && old
	})
	if both {
		t.each("", place, doc, func(_, _ string, schema map[string]any) { move(schema) })
	}
	return both
}

func move(schema map[string]any) {
	for _, key := range []string{"$ref", "$dynamicRef"} {
		if ref, ok := schema[key].(string); ok {
			schema[key] = moved(ref)
		}
	}
	old, ok := schema["definitions"].(map[string]any)
	if !ok {
		return
	}
	defs, ok := schema["$defs"].(map[string]any)
	if !ok {
		defs = map[string]any{}
		schema["$defs"] = defs
	}
	for name, part := range old {
		defs[mark+name] = part
	}
	delete(schema, "definitions")
}

// moved returns a reference to where move puts what it refers to.
func moved(ref string) string {
	address, pointer, ok := strings.Cut(ref, "#/")
	if !ok {
		return ref
	}
	tokens, isName := strings.Split(pointer, "/"), false
	for i, token := range tokens {
		if !isName && token == "definitions" && i+1 < len(tokens) {
			tokens[i], tokens[i+1] = "$defs", markInPointer+tokens[i+1]
		}
		isName = !isName && slices.Contains(named, token)
	}
	return address + "#/" + strings.Join(tokens, "/")
}
