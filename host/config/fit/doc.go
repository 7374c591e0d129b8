// Package fit says where a JSON value does not fit a JSON Schema: the place in the value, the rule that it breaks, and
// what the rule wants. A library decides whether a value fits; its errors are texts, so this package asks it about ever
// smaller parts of the schema until the rules are found.
package fit
