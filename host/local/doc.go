// Package local knows the machine that the host runs on: what it offers to
// trials, and which processes of an experiment still run on it.
//
// Amounts are kept as text, exact decimals with a unit where the user wrote
// one; core/resource reads and counts them. Nothing here places or starts
// anything.
package local
