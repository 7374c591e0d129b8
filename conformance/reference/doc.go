// Package reference is a small, correct plugin of each kind: what the conformance
// suite asks for and no more, to be read by authors and to be broken on purpose
// by package broken. Nobody needs them for tuning.
package reference
