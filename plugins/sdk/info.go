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
	KindExecutor  Kind = "executor"
)

// WithArticle is the kind in a sentence: "a searcher", "an executor".
func (k Kind) WithArticle() string {
	if k == KindExecutor {
		return "an " + string(k)
	}
	return "a " + string(k)
}

// Info describes a plugin before it is opened.
type Info struct {
	Kind Kind
	// Name is the name in the experiment file: lower case letters, digits and dashes.
	Name string
	// Version is the version of the plugin, not of the protocol.
	Version string
	// Summary is one sentence for `tunehost plugins list`.
	Summary string
	// Options is a JSON Schema (draft 2020-12) of the options: an object with additionalProperties
	// false, and a description and a default for each option.
	Options []byte
}

// Kinds returns all kinds, in display order.
func Kinds() []Kind {
	return []Kind{KindSearcher, KindScheduler, KindTrainable, KindReporter, KindExecutor}
}

// ModuleKinds returns the kinds that a WASM module may have.
func ModuleKinds() []Kind { return []Kind{KindSearcher, KindScheduler, KindTrainable} }

// AnyKind returns the kinds as a phrase: "searcher, scheduler, trainable, reporter or executor".
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

// NamePattern is the regular expression of plugin names: lower case letters and digits, with single
// dashes between them.
const NamePattern = `^[a-z0-9]+(-[a-z0-9]+)*$`

// IsName reports whether name is a valid plugin name.
func IsName(name string) bool {
	for part := range strings.SplitSeq(name, "-") {
		if part == "" || strings.Trim(part, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
			return false
		}
	}
	return true
}
