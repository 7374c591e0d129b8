// Package local describes the machine that the host runs on: what it offers to trials, and which
// processes of an experiment still run on it.
//
// Amounts are texts: exact decimals, with a unit if the user wrote one; core/resource reads and counts
// them. This package places and starts nothing.
package local
