package fit

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// ruleFalse is the rule of the schema false, which nothing fits.
const ruleFalse = "false"

// maxShown is how many bytes of a value a message shows.
const maxShown = 60

// Error says where the fault is, and what is wrong.
func (f *Fault) Error() string {
	if len(f.Path) > 0 {
		return fmt.Sprintf("at %q: %s", strings.Join(f.Path, "."), f.What())
	}
	return f.What()
}

// What says what is wrong.
func (f *Fault) What() string {
	switch f.Rule {
	case "required":
		return strings.Join(f.Names, ", ") + " missing"
	case "additionalProperties":
		return "unknown: " + strings.Join(f.Names, ", ")
	}
	return "found " + shown(f.Got) + ", expected " + f.Expected()
}

// shown is a value as JSON, or its beginning.
func shown(v any) string {
	text, _ := json.Marshal(v) // it was JSON
	if len(text) > maxShown {
		return strings.ToValidUTF8(string(text[:maxShown]), "") + "…"
	}
	return string(text)
}

// Expected says what would fit, as the words after "expected": every rule has such words.
func (f *Fault) Expected() string {
	switch n := f.number(); f.Rule {
	case "type":
		return strings.Join(types(f.Want), " or ")
	case "enum":
		return strings.Join(f.Choices(), ", ")
	case "const":
		return said(f.Want)
	case "multipleOf":
		return "a multiple of " + n
	case "minimum":
		return "at least " + n
	case "maximum":
		return "at most " + n
	case "exclusiveMinimum":
		return "more than " + n
	case "exclusiveMaximum":
		return "less than " + n
	case "pattern":
		return fmt.Sprint("a text that matches ", f.Want)
	case "format":
		return fmt.Sprint("a text of the format ", f.Want)
	case "required", "dependentRequired":
		return f.needed()
	}
	return cmp.Or(f.size(), f.composed())
}

// number is the keyword's value as it is written in the schema.
func (f *Fault) number() string {
	n, _ := f.Want.(json.Number)
	return n.String()
}

// Choices are the values of the keyword enum.
func (f *Fault) Choices() (all []string) {
	for _, v := range list(f.Want) {
		all = append(all, said(v))
	}
	return all
}

// said is a value of the schema as a user writes it.
func said(v any) string {
	if text, ok := v.(string); ok {
		return text
	}
	return shown(v)
}

// typeWords name JSON types in the words of the experiment file.
var typeWords = map[string]string{"array": "a list", "object": "a map", "string": "a text", "number": "a number",
	"integer": "a whole number", "boolean": "true or false", "null": "nothing"}

// types returns the words for types, one or a list.
func types(want any) (words []string) {
	all, many := want.([]any)
	if !many {
		all = []any{want}
	}
	for _, t := range all {
		name := fmt.Sprint(t)
		words = append(words, cmp.Or(typeWords[name], name))
	}
	return words
}

// sizes are the keywords for sizes: what has the size, and of what it is the number.
var sizes = map[string][2]string{
	"minLength": {"a text", "character"}, "maxLength": {"a text", "character"},
	"minItems": {"a list", "item"}, "maxItems": {"a list", "item"},
	"minProperties": {"a map", "key"}, "maxProperties": {"a map", "key"},
	"minContains": {"a list", "item"}, "maxContains": {"a list", "item"},
}

// size says which sizes fit; "" for other rules.
func (f *Fault) size() string {
	words, ok := sizes[f.Rule]
	n, err := strconv.ParseFloat(f.number(), 64)
	if !ok || err != nil {
		return ""
	}
	count := strconv.FormatFloat(n, 'f', -1, 64) + " " + words[1]
	if n != 1 {
		count += "s"
	}
	most := strings.HasPrefix(f.Rule, "max")
	switch {
	case strings.HasSuffix(f.Rule, "Contains"):
		return words[0] + " with " + bound(most) + count + " of the kind that it must contain"
	case n == 1 && !most:
		return words[0] + " that is not empty"
	case n == 0 && most:
		return words[0] + " that is empty"
	}
	return words[0] + " of " + bound(most) + count
}

func bound(most bool) string {
	if most {
		return "at most "
	}
	return "at least "
}

// composed is for rules of schemas in schemas.
func (f *Fault) composed() string {
	switch f.Rule {
	case "anyOf", "oneOf":
		if f.Several {
			return "a value of only one of the forms that it may have"
		}
		return "one of the forms that it may have"
	case "not":
		return f.excluded()
	case "uniqueItems":
		return "a list without equal items"
	case "propertyNames":
		return fmt.Sprintf("each key to be %s, not %q", f.inner.Expected(), f.Names[0])
	case "unevaluatedProperties":
		return "no other keys than those that its schema names"
	case "unevaluatedItems":
		return "no other items than those that its schema names"
	case "additionalProperties", ruleFalse:
		return "nothing here"
	}
	return "a value that fits its schema"
}

// excluded says what the keyword not forbids, where that is short.
func (f *Fault) excluded() string {
	not, _ := f.Want.(map[string]any)
	inner := Fault{Want: f.Want}
	if len(not) == 1 {
		for inner.Rule, inner.Want = range not {
		}
	}
	switch inner.Rule {
	case "type", "enum", "const":
		return "anything but " + inner.Expected()
	}
	return "a value that its schema does not exclude"
}

// needed names the keys that are missing, and for dependentRequired the key with which they belong.
func (f *Fault) needed() string {
	if f.Rule == "required" {
		return "a map with " + strings.Join(f.Names, ", ")
	}
	object, _ := f.Got.(map[string]any)
	want, _ := f.Want.(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if _, there := object[key]; !there {
			continue
		}
		if names := missing("required", want[key], f.Got); len(names) > 0 {
			return fmt.Sprintf("%s beside %s", strings.Join(names, ", "), key)
		}
	}
	return "keys that belong together"
}
