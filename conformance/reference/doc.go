// Package reference has a small, correct plugin of each kind: it does what the conformance suite
// requires and no more. Authors can read it, and package broken modifies it. It is not for tuning.
package reference
