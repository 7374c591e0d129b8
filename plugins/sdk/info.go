package sdk

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
