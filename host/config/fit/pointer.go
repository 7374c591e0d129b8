package fit

import (
	"strconv"
	"strings"
)

var escaper, unescaper = strings.NewReplacer("~", "~0", "/", "~1"), strings.NewReplacer("~1", "/", "~0", "~")

// escape escapes a step of a JSON pointer.
func escape(step string) string { return escaper.Replace(step) }

// lookup returns what is at a JSON pointer, or nil.
func lookup(doc any, pointer string) any {
	if pointer == "" {
		return doc
	}
	for step := range strings.SplitSeq(pointer[1:], "/") {
		switch x := doc.(type) {
		case map[string]any:
			doc = x[unescaper.Replace(step)]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(x) {
				return nil
			}
			doc = x[i]
		default:
			return nil
		}
	}
	return doc
}
