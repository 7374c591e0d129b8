package sdk

import "strings"

// Kind is a kind of plugin.
type Kind string

// The kinds.
const (
	KindSearcher  Kind = "searcher"
	KindScheduler Kind = "scheduler"
	KindTrainable Kind = "trainable"
	KindReporter  Kind = "reporter"
)

// Info describes a plugin before it is opened.
type Info struct {
	Kind Kind
	// Name is what users write in the experiment file: lower case, digits
	// and dashes.
	Name string
	// Version is the plugin's own, not the protocol's.
	Version string
	// Summary is one sentence for `tunehost plugins list`.
	Summary string
	// Options is a JSON Schema (draft 2020-12) of the options: an object
	// with additionalProperties false, a description and a default for each.
	Options []byte
}

// Kinds are all kinds, in the order in which they are shown.
func Kinds() []Kind { return []Kind{KindSearcher, KindScheduler, KindTrainable, KindReporter} }

// ModuleKinds are those that a WASM module may be.
func ModuleKinds() []Kind { return []Kind{KindSearcher, KindScheduler, KindTrainable} }

// AnyKind is the kinds in words: "searcher, scheduler, trainable or reporter".
func AnyKind() string {
	var words string
	for i, k := range Kinds() {
		switch i {
		case 0:
			words = string(k)
		case len(Kinds()) - 1:
			words += " or " + string(k)
		default:
			words += ", " + string(k)
		}
	}
	return words
}

// NamePattern is the regular expression of the names that plugins may have: lower case
// letters and digits, with single dashes between them.
const NamePattern = `^[a-z0-9]+(-[a-z0-9]+)*$`

// IsName says whether a plugin may have the name.
func IsName(name string) bool {
	for part := range strings.SplitSeq(name, "-") {
		if part == "" || strings.Trim(part, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
			return false
		}
	}
	return true
}
